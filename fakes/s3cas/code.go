package s3cas

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
)

// apiError is an S3 refusal: the HTTP status, the Code clients branch on, and a sentence for people. Condition, when set, is the
// header that failed, which AWS adds to a 412.
type apiError struct {
	Status    int
	Code      string
	Message   string
	Condition string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

func refuse(status int, code, message string) *apiError {
	return &apiError{Status: status, Code: code, Message: message}
}

func refusef(status int, code, format string, args ...any) *apiError {
	return &apiError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Refusals that need no detail. They are values, so no request allocates one.
var (
	errNoSuchKey      = refuse(404, "NoSuchKey", "The specified key does not exist.")
	errNoSuchBucket   = refuse(404, "NoSuchBucket", "The specified bucket does not exist")
	errNoSuchUpload   = refuse(404, "NoSuchUpload", "The specified multipart upload does not exist. It may have been aborted or completed.")
	errAccessDenied   = refuse(403, "AccessDenied", "Access Denied")
	errNotImplemented = refuse(501, "NotImplemented", "A header you provided implies functionality that is not implemented")
	errIfMatch        = &apiError{412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", "If-Match"}
	errIfNoneMatch    = &apiError{412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", "If-None-Match"}
	errUnmodified     = &apiError{412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", "If-Unmodified-Since"}
	errNotModified    = refuse(304, "NotModified", "Not Modified")
	errConflict       = refuse(409, "ConditionalRequestConflict", "A conflicting conditional operation is currently in progress against this resource. Please try again.")
	errInternal       = refuse(500, "InternalError", "We encountered an internal error. Please try again.")
	errBadDigest      = refuse(400, "BadDigest", "The Content-MD5 or checksum value that you specified did not match what the server received.")
	errIncomplete     = refuse(400, "IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header")
	errMalformedXML   = refuse(400, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
	errTooManyWrites  = refuse(429, "TooManyRequests", "The object exceeded the rate limit for writes to one key.")
	errSlowDown       = refuse(503, "SlowDown", "Please reduce your request rate.")
)

// codeFor is the S3 code that usually goes with a status: what (Respond 412 …) answers when it names no code.
func codeFor(status int) string {
	switch status {
	case 304:
		return "NotModified"
	case 400:
		return "InvalidRequest"
	case 403:
		return "AccessDenied"
	case 404:
		return "NoSuchKey"
	case 405:
		return "MethodNotAllowed"
	case 408:
		return "RequestTimeout"
	case 409:
		return "ConditionalRequestConflict"
	case 411:
		return "MissingContentLength"
	case 412:
		return "PreconditionFailed"
	case 416:
		return "InvalidRange"
	case 429:
		return "TooManyRequests"
	case 500:
		return "InternalError"
	case 501:
		return "NotImplemented"
	case 503:
		return "SlowDown"
	}
	if status >= 200 && status < 300 {
		return ""
	}
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "Error"
}

// answer is a response before it is written, so that a fault can still change it.
type answer struct {
	status int
	code   string // the S3 error code, empty on success
	header http.Header
	body   []byte
	// length is the Content-Length of a HEAD answer, which has no body to measure. -1 when the body tells.
	length int64
}

func okAnswer(status int) *answer { return &answer{status: status, header: http.Header{}, length: -1} }

func xmlAnswer(body []byte) *answer {
	a := okAnswer(200)
	a.header.Set("Content-Type", "application/xml")
	a.body = body
	return a
}

// errorAnswer renders a refusal. head says that the request was a HEAD, whose refusals have no body; nor has a 304.
func errorAnswer(e *apiError, bucket, key, requestID string, head bool) *answer {
	a := &answer{status: e.Status, code: e.Code, header: http.Header{}, length: -1}
	if head || e.Status == 304 {
		return a
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString("<Error>")
	element(&b, "Code", e.Code)
	element(&b, "Message", e.Message)
	if e.Condition != "" {
		element(&b, "Condition", e.Condition)
	}
	if key != "" {
		element(&b, "Key", key)
	}
	if bucket != "" {
		element(&b, "BucketName", bucket)
	}
	element(&b, "Resource", "/"+bucket+"/"+key)
	element(&b, "RequestId", requestID)
	element(&b, "HostId", "s3cas")
	b.WriteString("</Error>")
	a.body = b.Bytes()
	a.header.Set("Content-Type", "application/xml")
	return a
}

func element(b *bytes.Buffer, name, value string) {
	b.WriteByte('<')
	b.WriteString(name)
	b.WriteByte('>')
	_ = xml.EscapeText(b, []byte(value)) // a bytes.Buffer takes every write
	b.WriteString("</")
	b.WriteString(name)
	b.WriteByte('>')
}
