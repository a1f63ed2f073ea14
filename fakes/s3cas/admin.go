package s3cas

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// AdminPath is where the administration endpoint lives, with Options.Admin. No bucket can be called so. It asks for no signature:
// listen on loopback.
const AdminPath = "/_s3cas/"

// maxAdminBody bounds the text an administration request may carry; objects have no bound of their own.
const maxAdminBody = 1 << 20

// serveAdmin answers the administration endpoint. The package documentation lists the paths.
func (s *Server) serveAdmin(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, AdminPath+"objects/"); ok {
		s.adminObject(w, r, rest) // not through the mux, which would clean the key
		return
	}
	s.admin.ServeHTTP(w, r)
}

func (s *Server) adminMux() *http.ServeMux {
	m := http.NewServeMux()
	p := AdminPath
	m.HandleFunc("GET "+p+"faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, faultRows(s.Faults())) })
	m.HandleFunc("POST "+p+"faults", s.adminInject)
	m.HandleFunc("DELETE "+p+"faults", func(w http.ResponseWriter, _ *http.Request) { s.ClearFaults(); noContent(w) })
	m.HandleFunc("DELETE "+p+"faults/{id}", s.adminRemoveFault)
	m.HandleFunc("GET "+p+"journal", s.adminJournal)
	m.HandleFunc("GET "+p+"mark", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, s.Mark()) })
	m.HandleFunc("GET "+p+"gates", func(w http.ResponseWriter, _ *http.Request) {
		rows := []gateRow{}
		for _, g := range s.Gates() {
			rows = append(rows, rowOf(g))
		}
		writeJSON(w, rows)
	})
	m.HandleFunc("GET "+p+"gates/{name}", s.adminGate)
	m.HandleFunc("POST "+p+"gates/{name}/{verb}", s.adminGateVerb)
	m.HandleFunc("GET "+p+"modes", func(w http.ResponseWriter, r *http.Request) { writeJSON(w, s.Modes(r.FormValue("bucket"))) })
	m.HandleFunc("POST "+p+"modes", s.adminModes)
	m.HandleFunc("DELETE "+p+"modes", func(w http.ResponseWriter, _ *http.Request) { s.ClearModes(); noContent(w) })
	m.HandleFunc("DELETE "+p+"modes/{name}", func(w http.ResponseWriter, r *http.Request) { s.ClearMode(r.PathValue("name")); noContent(w) })
	m.HandleFunc("GET "+p+"dialects", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, Dialects()) })
	m.HandleFunc("GET "+p+"dialect", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, s.Dialect()) })
	m.HandleFunc("PUT "+p+"dialect", func(w http.ResponseWriter, r *http.Request) {
		if text, ok := adminText(w, r); ok {
			done(w, s.UseDialect(strings.TrimSpace(text)))
		}
	})
	m.HandleFunc("POST "+p+"principals", s.adminPrincipal)
	m.HandleFunc("DELETE "+p+"principals/{key}", func(w http.ResponseWriter, r *http.Request) { s.RemovePrincipal(r.PathValue("key")); noContent(w) })
	m.HandleFunc("PUT "+p+"buckets/{name}", func(w http.ResponseWriter, r *http.Request) { s.CreateBucket(r.PathValue("name")); noContent(w) })
	return m
}

func noContent(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }

func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	noContent(w)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client went away, or it did not
}

func adminText(w http.ResponseWriter, r *http.Request) (string, bool) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAdminBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return "", false
	}
	return string(b), true
}

type faultRow struct {
	ID    int    `json:"id"`
	Fault string `json:"fault"`
	Fired int    `json:"fired"`
}

func faultRows(list []*Injection) []faultRow {
	rows := []faultRow{}
	for _, in := range list {
		rows = append(rows, faultRow{in.ID(), in.Fault().String(), in.Fired()})
	}
	return rows
}

func (s *Server) adminInject(w http.ResponseWriter, r *http.Request) {
	text, ok := adminText(w, r)
	if !ok {
		return
	}
	added, err := s.InjectText(text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, faultRows(added))
}

func (s *Server) adminRemoveFault(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id")) // no number is the id of no fault
	for _, in := range s.Faults() {
		if in.ID() == id {
			in.Remove()
			writeJSON(w, faultRows([]*Injection{in})[0])
			return
		}
	}
	http.Error(w, "there is no fault "+r.PathValue("id"), http.StatusNotFound)
}

// adminJournal prints entries as JSON Lines, or with format=text as Entry.String does.
func (s *Server) adminJournal(w http.ResponseWriter, r *http.Request) {
	f := Filter{Principal: r.FormValue("principal"), Bucket: r.FormValue("bucket"), Key: r.FormValue("key")}
	f.Since, _ = strconv.Atoi(r.FormValue("since")) // absent: from the start
	f.Status, _ = strconv.Atoi(r.FormValue("status"))
	for _, op := range r.Form["op"] {
		f.Ops = append(f.Ops, Op(op))
	}
	entries := s.JournalFor(f)
	if r.FormValue("format") == "text" {
		for _, e := range entries {
			fmt.Fprintln(w, e)
		}
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	enc := json.NewEncoder(w)
	for _, e := range entries {
		if enc.Encode(e) != nil {
			return
		}
	}
}

type gateRow struct {
	Name     string  `json:"name"`
	Held     int     `json:"held"`
	Arrivals int     `json:"arrivals"`
	PutOff   int     `json:"put_off"`
	Requests []Entry `json:"requests,omitempty"`
}

func rowOf(g *Gate) gateRow {
	return gateRow{Name: g.Name(), Held: g.Held(), Arrivals: g.Arrivals(), PutOff: g.PutOff(), Requests: g.HeldEntries()}
}

// adminGate shows a gate. With wait=n it first waits until n requests are held, for at most timeout (a Go duration, default 10s).
func (s *Server) adminGate(w http.ResponseWriter, r *http.Request) {
	g := s.Gate(r.PathValue("name"))
	if v := r.FormValue("wait"); v != "" {
		n, err := strconv.Atoi(v)
		limit := 10 * time.Second
		if t := r.FormValue("timeout"); err == nil && t != "" {
			limit, err = time.ParseDuration(t)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		if err := g.WaitHeld(ctx, n); err != nil {
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
			return
		}
	}
	writeJSON(w, rowOf(g))
}

func (s *Server) adminGateVerb(w http.ResponseWriter, r *http.Request) {
	g := s.Gate(r.PathValue("name"))
	switch r.PathValue("verb") {
	case "release":
		g.Release()
	case "shut":
		g.Shut()
	case "pass":
		n := 1
		if v := r.FormValue("n"); v != "" {
			var err error
			if n, err = strconv.Atoi(v); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		g.Pass(n)
	default:
		http.Error(w, "a gate knows release, pass and shut", http.StatusNotFound)
		return
	}
	writeJSON(w, rowOf(g))
}

// adminModes sets the modes of a text, one a line; bucket=name sets them on that bucket. Nothing is set unless every line is right.
func (s *Server) adminModes(w http.ResponseWriter, r *http.Request) {
	bucket := r.URL.Query().Get("bucket")
	text, ok := adminText(w, r)
	if !ok {
		return
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := ParseMode(line); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		lines = append(lines, line)
	}
	for _, line := range lines {
		if err := s.setMode(bucket, line, nil); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	writeJSON(w, s.Modes(bucket))
}

func (s *Server) adminPrincipal(w http.ResponseWriter, r *http.Request) {
	var p Principal
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody)).Decode(&p); err != nil || p.AccessKey == "" || p.Secret == "" || p.Name == "" {
		http.Error(w, "a principal is {\"access_key\", \"secret\", \"name\"}, none empty", http.StatusBadRequest)
		return
	}
	s.AddPrincipal(p.AccessKey, p.Secret, p.Name)
	noContent(w)
}

// adminObject reads and writes objects past faults and journal: GET, PUT and DELETE of bucket/key, and GET of bucket with prefix=
// for the keys, one JSON string a line.
func (s *Server) adminObject(w http.ResponseWriter, r *http.Request, rest string) {
	bucket, key, _ := strings.Cut(rest, "/")
	switch {
	case key == "" && r.Method == http.MethodGet:
		enc := json.NewEncoder(w)
		for _, k := range s.Keys(bucket, r.URL.Query().Get("prefix")) {
			if enc.Encode(k) != nil {
				return
			}
		}
	case bucket == "" || key == "":
		http.Error(w, "objects/bucket/key", http.StatusBadRequest)
	case r.Method == http.MethodGet:
		body, etag, ok := s.Get(bucket, key)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+etag+`"`)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body)
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("ETag", `"`+s.Put(bucket, key, body)+`"`)
		noContent(w)
	case r.Method == http.MethodDelete:
		s.Delete(bucket, key)
		noContent(w)
	default:
		http.Error(w, "GET, PUT or DELETE", http.StatusMethodNotAllowed)
	}
}
