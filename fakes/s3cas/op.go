package s3cas

import (
	"net/http"
	"net/url"
	"strings"
)

// Op names what a request asks for, whether or not it is granted.
type Op string

// The operations the server knows. OpOther is anything else; it is answered 501.
const (
	OpPut               Op = "Put"
	OpGet               Op = "Get"
	OpHead              Op = "Head"
	OpDelete            Op = "Delete"
	OpList              Op = "List"
	OpCopy              Op = "Copy"
	OpDeleteObjects     Op = "DeleteObjects"
	OpCreateMultipart   Op = "CreateMultipart"
	OpUploadPart        Op = "UploadPart"
	OpUploadPartCopy    Op = "UploadPartCopy"
	OpCompleteMultipart Op = "CompleteMultipart"
	OpAbortMultipart    Op = "AbortMultipart"
	OpListParts         Op = "ListParts"
	OpListUploads       Op = "ListUploads"
	OpListBuckets       Op = "ListBuckets"
	OpHeadBucket        Op = "HeadBucket"
	OpCreateBucket      Op = "CreateBucket"
	OpDeleteBucket      Op = "DeleteBucket"
	OpBucketLocation    Op = "BucketLocation"
	OpBucketVersioning  Op = "BucketVersioning"
	OpOther             Op = "Other"
)

// splitPath takes the bucket and the key out of a decoded, path-style request path. The key keeps every byte after the slash
// behind the bucket: doubled slashes and dot segments are part of a key.
func splitPath(path string) (bucket, key string) {
	path = strings.TrimPrefix(path, "/")
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

// foreignSubresources are query words that select an S3 feature this server does not have.
var foreignSubresources = []string{
	"acl", "tagging", "policy", "lifecycle", "cors", "website", "logging", "notification", "replication", "encryption",
	"object-lock", "retention", "legal-hold", "torrent", "restore", "select", "attributes", "versions", "accelerate",
	"requestPayment", "publicAccessBlock", "ownershipControls", "analytics", "inventory", "metrics", "intelligent-tiering",
	"versionId", "rename", "session",
}

// classify names the operation of a request.
func classify(method, bucket, key string, q url.Values, h http.Header) Op {
	for _, w := range foreignSubresources {
		if q != nil && q.Has(w) {
			return OpOther
		}
	}
	switch {
	case bucket == "":
		if method == http.MethodGet {
			return OpListBuckets
		}
		return OpOther
	case key == "":
		return classifyBucket(method, q)
	}
	switch method {
	case http.MethodGet:
		if q.Has("uploadId") {
			return OpListParts
		}
		return OpGet
	case http.MethodHead:
		return OpHead
	case http.MethodPut:
		copied := h.Get("X-Amz-Copy-Source") != ""
		switch {
		case q.Has("uploadId") && copied:
			return OpUploadPartCopy
		case q.Has("uploadId"):
			return OpUploadPart
		case copied:
			return OpCopy
		}
		return OpPut
	case http.MethodDelete:
		if q.Has("uploadId") {
			return OpAbortMultipart
		}
		return OpDelete
	case http.MethodPost:
		switch {
		case q.Has("uploads"):
			return OpCreateMultipart
		case q.Has("uploadId"):
			return OpCompleteMultipart
		}
	}
	return OpOther
}

func classifyBucket(method string, q url.Values) Op {
	switch method {
	case http.MethodGet:
		switch {
		case q.Has("location"):
			return OpBucketLocation
		case q.Has("versioning"):
			return OpBucketVersioning
		case q.Has("uploads"):
			return OpListUploads
		}
		return OpList
	case http.MethodHead:
		return OpHeadBucket
	case http.MethodPut:
		return OpCreateBucket
	case http.MethodDelete:
		return OpDeleteBucket
	case http.MethodPost:
		if q.Has("delete") {
			return OpDeleteObjects
		}
	}
	return OpOther
}

// hasBody reports whether the server reads a request body for the operation.
func (o Op) hasBody() bool {
	switch o {
	case OpPut, OpUploadPart, OpCompleteMultipart, OpDeleteObjects, OpCreateBucket:
		return true
	}
	return false
}

// writes reports whether the operation changes what the bucket holds.
func (o Op) writes() bool {
	switch o {
	case OpPut, OpCopy, OpDelete, OpDeleteObjects, OpCompleteMultipart, OpUploadPart, OpUploadPartCopy, OpCreateMultipart,
		OpAbortMultipart, OpCreateBucket, OpDeleteBucket:
		return true
	}
	return false
}

func (o Op) multipart() bool {
	switch o {
	case OpCreateMultipart, OpUploadPart, OpUploadPartCopy, OpCompleteMultipart, OpAbortMultipart, OpListParts, OpListUploads:
		return true
	}
	return false
}
