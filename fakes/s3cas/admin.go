package s3cas

import (
	"net/http"
)

// AdminPath is where the administration endpoint lives. No bucket can be called so.
const AdminPath = "/_s3cas/"

func (s *Server) serveAdmin(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
