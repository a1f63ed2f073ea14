package s3cas

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// request is one request on its way: read, judged by faults, applied, answered.
type request struct {
	s          *Server
	w          http.ResponseWriter
	http       *http.Request
	header     http.Header
	query      url.Values
	op         Op
	bucketName string
	key        string
	principal  string
	accessKey  string
	region     string
	sig        *signature
	cond       cond
	body       []byte
	chunked    bool
	sum        checksum
	flip       *step // Corrupt on a Put: what is stored differs from what was sent
	id         string
	now        time.Time
	entry      *Entry
	b          *bucket // nil: no such bucket
	modes      *modeSet
	arrival    arrival

	// what applying came to
	applied       uint64
	before, after string
}

// maxKey is the longest key S3 takes, in bytes.
const maxKey = 1024

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.admin != nil && strings.HasPrefix(r.URL.Path, AdminPath) {
		s.serveAdmin(w, r)
		return
	}
	rq := s.begin(w, r)
	if err := rq.admit(); err != nil {
		rq.send(rq.refuse(err), nil)
		return
	}
	if fired := s.fire(rq); len(fired) > 0 {
		rq.perform(fired)
		return
	}
	rq.send(rq.apply(), nil)
}

// begin classifies a request and opens its journal entry.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *request {
	rq := &request{s: s, w: w, http: r, header: r.Header, now: s.opts.Now()}
	if r.URL.RawQuery != "" {
		rq.query = r.URL.Query()
	}
	rq.bucketName, rq.key = splitPath(r.URL.Path)
	rq.op = classify(r.Method, rq.bucketName, rq.key, rq.query, r.Header)
	rq.cond = readCond(r.Header)
	rq.b = s.bucket(rq.bucketName)
	rq.loadModes()
	arrived := s.events.Add(1)
	rq.id = fmt.Sprintf("%016X", arrived)
	rq.entry = s.journal.begin(Entry{
		Arrived: arrived, Host: r.Host, Op: rq.op, Bucket: rq.bucketName, Key: rq.journalKey(), VirtualTime: rq.now,
		IfMatch: rq.cond.ifMatch, IfNoneMatch: rq.cond.ifNoneMatch, Continuation: rq.continuation(),
	})
	return rq
}

func (rq *request) journalKey() string {
	if rq.op == OpList || rq.op == OpListUploads {
		return rq.query.Get("prefix")
	}
	return rq.key
}

func (rq *request) continuation() string {
	if rq.op != OpList {
		return ""
	}
	for _, name := range []string{"continuation-token", "start-after", "marker"} {
		if v := rq.query.Get(name); v != "" {
			return v
		}
	}
	return ""
}

func (rq *request) loadModes() {
	if rq.b != nil {
		rq.modes = rq.b.modes.Load()
	} else {
		rq.modes = rq.s.modes.Load()
	}
}

// admit lets the request in: who asks, and is its body whole? Faults see only requests that are let in.
func (rq *request) admit() *apiError {
	err := rq.authenticate()
	rq.s.journal.update(rq.entry, func(e *Entry) {
		e.Principal, e.AccessKey, e.Region = rq.principal, rq.accessKey, rq.region
	})
	if err != nil {
		return err
	}
	if len(rq.key) > maxKey {
		return refuse(400, "KeyTooLongError", "Your key is too long")
	}
	if !utf8.ValidString(rq.key) {
		return refuse(400, "InvalidURI", "Couldn't parse the specified URI.")
	}
	if rq.modes.on(modeOddKeysRefused) {
		if err := oddKey(rq.key); err != nil {
			return err
		}
	}
	if rq.modes.on(modeKeyNormalise) {
		rq.key = normaliseKey(rq.key)
	}
	if rq.b == nil && rq.s.opts.AutoCreateBuckets && rq.op.writes() && rq.op != OpDeleteBucket && rq.op != OpCreateBucket {
		rq.b = rq.s.ensureBucket(rq.bucketName)
		rq.loadModes()
	}
	rq.observe()
	if err := rq.readBody(); err != nil {
		return err
	}
	rq.waitWindow()
	return nil
}

// oddKey refuses keys that a file system would change, with the codes MinIO uses. A trailing slash is no odd key.
func oddKey(key string) *apiError {
	segments := strings.Split(strings.TrimSuffix(key, "/"), "/")
	for i, seg := range segments {
		switch {
		case seg == "" && (i > 0 || len(segments) > 1):
			return refuse(400, "XMinioInvalidObjectName", "Object name contains unsupported characters.")
		case seg == "." || seg == "..":
			return refuse(400, "XMinioInvalidResourceName", "Resource name contains bad components such as \"..\" or \".\".")
		}
	}
	return nil
}

// normaliseKey cleans a key as a file system cleans a path. A trailing slash stays.
func normaliseKey(key string) string {
	if key == "" {
		return ""
	}
	clean := strings.TrimPrefix(path.Clean("/"+key), "/")
	if strings.HasSuffix(key, "/") && clean != "" {
		clean += "/"
	}
	return clean
}

// refuse renders a refusal for this request.
func (rq *request) refuse(e *apiError) *answer {
	return errorAnswer(e, rq.bucketName, rq.key, rq.id, rq.http.Method == http.MethodHead)
}

// forced is the answer a fault dictates. A success of a PUT carries the ETag its body would have.
func (rq *request) forced(status int, code string) *answer {
	if status >= 300 {
		if code == "" {
			code = codeFor(status)
		}
		return rq.refuse(&apiError{Status: status, Code: code, Message: "Injected: " + code})
	}
	a := okAnswer(status)
	if rq.op == OpPut {
		o := rq.s.build(rq.body, rq.modes)
		rq.tagHeader(a, o.etag)
	}
	a.code = code
	return a
}

// breakAt is a place in the answer's body where something happens: wait at a gate, or cut the connection.
type breakAt struct {
	at   int
	gate *Gate // nil: cut
}

// send writes the answer, stopping at the breaks, and closes the journal entry.
func (rq *request) send(a *answer, breaks []breakAt) {
	h := rq.w.Header()
	for k, v := range a.header {
		h[k] = v
	}
	h["X-Amz-Request-Id"] = []string{rq.id}
	h["X-Amz-Id-2"] = []string{"s3cas"}
	h["Server"] = []string{"s3cas"}
	switch {
	case a.length >= 0:
		h["Content-Length"] = []string{strconv.FormatInt(a.length, 10)}
	case a.status != 204 && a.status != 304:
		h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	head := rq.http.Method == http.MethodHead
	body := a.body
	if head {
		body = nil
	}
	sent := 0
	for i, br := range breaks {
		upTo := max(sent, min(br.at, len(body)))
		if i == 0 && len(body) > 0 {
			rq.w.WriteHeader(a.status)
		}
		if len(body) > 0 { // an answer without a body is whole with its header: the break comes before that
			n, _ := rq.w.Write(body[sent:upTo])
			sent += n
			_ = http.NewResponseController(rq.w).Flush() // a recorder may not flush; the break still holds
		}
		if br.gate == nil || !br.gate.wait(rq.entry, rq.s.ctx.Done()) {
			rq.close(a, int64(sent), true)
			rq.hangUp()
			return
		}
	}
	if len(breaks) == 0 || len(body) == 0 {
		rq.w.WriteHeader(a.status)
	}
	var n int
	var err error
	if len(body) > sent {
		n, err = rq.w.Write(body[sent:])
	}
	rq.close(a, int64(sent+n), err != nil)
}

// drop ends the request without an answer.
func (rq *request) drop() {
	rq.close(nil, 0, true)
	rq.hangUp()
}

// hangUp closes the connection under the answer.
func (rq *request) hangUp() {
	conn, _, err := http.NewResponseController(rq.w).Hijack()
	if err != nil { // not a real connection (a recorder, HTTP/2): abort in the way net/http gives handlers
		panic(http.ErrAbortHandler)
	}
	_ = conn.Close()
}

// close completes the journal entry and lets time pass for what waits on further requests.
func (rq *request) close(a *answer, out int64, dropped bool) {
	done := rq.s.events.Add(1)
	rq.s.journal.update(rq.entry, func(e *Entry) {
		rq.fill(e)
		e.Answered, e.Dropped, e.BytesOut = done, dropped, out
		if a != nil {
			e.Status, e.Code = a.status, a.code
		}
	})
	rq.s.later.tick(rq.entry.Arrived)
}

// fill copies what is known so far into the journal.
func (rq *request) fill(e *Entry) {
	e.Applied, e.ETagBefore, e.ETagAfter, e.BytesIn = rq.applied, rq.before, rq.after, int64(len(rq.body))
}
