package s3cas

import (
	"crypto/md5"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The operations on one object.

// build makes the object a plain PUT of body would store, under the modes that shape ETags.
func (s *Server) build(body []byte, m *modeSet) *object {
	o := newObject(body, s.opts.Now())
	if m.on(modeETagOpaque) {
		sum := md5.Sum([]byte("write " + strconv.FormatUint(s.serial.Add(1), 10)))
		o.etag = hex.EncodeToString(sum[:])
	}
	if m.on(modeETagMultipartSuffix) {
		o.etag += "-1"
	}
	return o
}

// showTag is an ETag as it is answered.
func (m *modeSet) showTag(etag string) string {
	switch {
	case m.on(modeETagWeak):
		return `W/"` + etag + `"`
	case m.on(modeETagUnquotedInResponse):
		return etag
	}
	return `"` + etag + `"`
}

// tagHeader sets the ETag header, unless a mode withholds it.
func (rq *request) tagHeader(a *answer, etag string) {
	if mode := rq.modes.get(mode200WithoutETag); mode != nil && mode.covers(rq, true) {
		return
	}
	a.header["Etag"] = []string{rq.modes.showTag(etag)}
}

// keptHeaders are stored with an object and answered with it.
var keptHeaders = []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires", "X-Amz-Storage-Class", "X-Amz-Website-Redirect-Location"}

// describe copies the describing headers of a PUT into the object.
func describe(o *object, h http.Header) {
	if v, ok := headerOf(h, "Content-Type"); ok {
		o.contentType = v
	}
	for _, name := range keptHeaders {
		v, ok := headerOf(h, name)
		if name == "Content-Encoding" {
			v = strings.Trim(strings.ReplaceAll(v, "aws-chunked", ""), ", ")
			ok = v != ""
		}
		if ok {
			o.keep(name, v)
		}
	}
	for name, vs := range h {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			o.keep(name, strings.Join(vs, ","))
		}
	}
}

func (o *object) keep(name, v string) {
	if o.header == nil {
		o.header = http.Header{}
	}
	o.header[name] = []string{v}
}

// apply carries the request out and returns its answer.
func (rq *request) apply() *answer {
	if err := rq.modeRefusal(); err != nil {
		rq.applied = rq.s.events.Add(1)
		return rq.refuse(err)
	}
	if mode := rq.modes.get(mode200ErrorBody); mode != nil && mode.covers(rq, rq.op == OpPut || rq.op == OpCopy || rq.op == OpCompleteMultipart) {
		rq.applied = rq.s.events.Add(1)
		a := errorAnswer(errInternal, rq.bucketName, rq.key, rq.id, false)
		a.status = 200
		return a
	}
	switch rq.op {
	case OpListBuckets:
		return rq.listBuckets()
	case OpCreateBucket:
		return rq.createBucket()
	case OpOther:
		rq.applied = rq.s.events.Add(1)
		return rq.refuse(errNotImplemented)
	}
	if rq.b == nil {
		rq.applied = rq.s.events.Add(1)
		return rq.refuse(errNoSuchBucket)
	}
	switch rq.op {
	case OpPut:
		return rq.put()
	case OpGet, OpHead:
		return rq.get()
	case OpDelete:
		return rq.delete()
	case OpList:
		return rq.list()
	case OpCopy:
		return rq.copy()
	case OpDeleteObjects:
		return rq.deleteObjects()
	}
	if rq.op.multipart() {
		return rq.multipart()
	}
	return rq.bucketOp()
}

// modeRefusal is the refusal of a mode that refuses whole requests.
func (rq *request) modeRefusal() *apiError {
	m := rq.modes
	if len(m.list) == 0 {
		return nil
	}
	if mode := m.get(modeSlowDown); mode != nil && mode.covers(rq, true) && mode.every(mode.count(1)) {
		return errSlowDown
	}
	if m.on(modeNoSuchBucket) {
		return errNoSuchBucket
	}
	if mode := m.get(modeForbid); mode != nil && mode.covers(rq, true) {
		return errAccessDenied
	}
	if mode := m.get(modeNotImplemented); mode != nil && mode.covers(rq, true) {
		return errNotImplemented
	}
	if m.on(modeRejectAWSChunked) && rq.chunked {
		return errNotImplemented
	}
	if m.on(modeRejectChecksumHeaders) {
		for name := range rq.header {
			if strings.HasPrefix(name, "X-Amz-Checksum-") && name != "X-Amz-Checksum-Mode" || name == "X-Amz-Sdk-Checksum-Algorithm" || name == "X-Amz-Trailer" {
				return errNotImplemented
			}
		}
	}
	return nil
}

// commit judges the condition and stores next (nil: removes) in one step. It fills in what the journal tells.
func (rq *request) commit(judge func(cur *object) *apiError, next *object) (before *object, err *apiError) {
	slow := rq.modes.get(modeOneWritePerSecond)
	before, after, at, err := rq.b.decide(rq.key, &rq.s.events, rq.now, func(cur *object) verdict {
		if e := judge(cur); e != nil {
			return verdict{err: e}
		}
		if slow != nil && slow.tooSoon(rq.bucketName+"/"+rq.key, rq.now) {
			return verdict{err: errTooManyWrites}
		}
		if next == nil && cur == nil {
			return verdict{}
		}
		return verdict{write: true, next: next}
	})
	rq.applied, rq.before, rq.after = at, tagOf(before), tagOf(after)
	if err == nil {
		rq.noteView(next)
	}
	return before, err
}

func (rq *request) put() *answer {
	o := rq.s.build(rq.body, rq.modes)
	o.sum = rq.sum
	describe(o, rq.header)
	if rq.flip != nil {
		o.body = flip(o.body, rq.flip)
	}
	if _, err := rq.commit(rq.judge, o); err != nil {
		return rq.refuse(err)
	}
	a := okAnswer(200)
	rq.tagHeader(a, o.etag)
	if o.sum.name != "" {
		a.header.Set(o.sum.header(), o.sum.value)
	}
	return a
}

func (rq *request) delete() *answer {
	judge := func(cur *object) *apiError {
		if rq.cond.hasIfMatch {
			if rq.modes.on(modeConflictAlways) {
				return errConflict
			}
			if mode := rq.modes.get(modeConflictOnce); mode != nil && mode.once(rq.bucketName+"/"+rq.key) {
				return errConflict
			}
		}
		return checkDelete(cur, rq.cond, rq.modes)
	}
	if mode := rq.modes.get(modeDelayedDelete); mode != nil {
		return rq.delayDelete(mode, judge)
	}
	if _, err := rq.commit(judge, nil); err != nil {
		return rq.refuse(err)
	}
	return okAnswer(204)
}

// delayDelete promises a removal and keeps the promise later, unless the key has been written since.
func (rq *request) delayDelete(mode *Mode, judge func(*object) *apiError) *answer {
	cur := rq.b.get(rq.key)
	rq.applied, rq.before, rq.after = rq.s.events.Add(1), tagOf(cur), tagOf(cur)
	if err := judge(cur); err != nil {
		return rq.refuse(err)
	}
	b, key, s := rq.b, rq.key, rq.s
	s.later.add(mode.count(1), rq.applied, func() {
		b.decide(key, &s.events, s.opts.Now(), func(now *object) verdict { return verdict{write: now == cur && cur != nil} })
	})
	return okAnswer(204)
}

func (rq *request) get() *answer {
	o, at := rq.b.read(rq.key, rq.modes.get(modeStaleGet), rq.now, &rq.s.events)
	rq.applied, rq.before, rq.after = at, tagOf(o), tagOf(o)
	rq.noteView(o)
	if o == nil {
		return rq.refuse(errNoSuchKey)
	}
	if rq.query.Has("partNumber") {
		return rq.refuse(errNotImplemented)
	}
	a := okAnswer(200)
	if err := checkRead(o, rq.cond); err != nil {
		a = rq.refuse(err)
		if err.Status == 304 {
			rq.objectHeaders(a, o)
		}
		return a
	}
	rq.objectHeaders(a, o)
	body := o.body
	if v, ok := headerOf(rq.header, "Range"); ok && rq.rangeApplies(o) {
		first, last, ok, err := parseRange(v, len(body))
		if err != nil {
			a := rq.refuse(err)
			a.header.Set("Content-Range", "bytes */"+strconv.Itoa(len(body)))
			return a
		}
		if ok {
			a.status = 206
			a.header.Set("Content-Range", "bytes "+strconv.Itoa(first)+"-"+strconv.Itoa(last)+"/"+strconv.Itoa(len(body)))
			body = body[first : last+1]
		}
	}
	if rq.op == OpHead {
		a.length = int64(len(body))
		return a
	}
	a.body = body
	return a
}

// rangeApplies honours If-Range: a range of another version is no use.
func (rq *request) rangeApplies(o *object) bool {
	v, ok := headerOf(rq.header, "If-Range")
	if !ok || unquote(v) == o.etag {
		return true
	}
	t, err := http.ParseTime(v)
	return err == nil && !o.modified.Truncate(time.Second).After(t)
}

func (rq *request) objectHeaders(a *answer, o *object) {
	rq.tagHeader(a, o.etag)
	mod := o.modified
	if mode := rq.modes.get(modeLastModifiedSkew); mode != nil {
		mod = mod.Add(mode.d)
	}
	a.header["Last-Modified"] = []string{mod.UTC().Format(http.TimeFormat)}
	a.header["Accept-Ranges"] = []string{"bytes"}
	ct := o.contentType
	if ct == "" {
		ct = "binary/octet-stream"
	}
	a.header["Content-Type"] = []string{ct}
	for k, v := range o.header {
		a.header[k] = v
	}
	if o.sum.name != "" && rq.header.Get("X-Amz-Checksum-Mode") == "ENABLED" && rq.header.Get("Range") == "" {
		a.header.Set(o.sum.header(), o.sum.value)
	}
	if rq.query != nil && rq.sig != nil {
		for _, name := range []string{"content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding"} {
			if v := rq.query.Get("response-" + name); v != "" {
				a.header.Set(name, v)
			}
		}
	}
}

// parseRange reads a Range header of one range. ok is false where it is to be ignored: another unit, several ranges, nonsense.
func parseRange(v string, size int) (first, last int, ok bool, _ *apiError) {
	spec, isBytes := strings.CutPrefix(v, "bytes=")
	from, to, dashed := strings.Cut(spec, "-")
	if !isBytes || !dashed || strings.Contains(spec, ",") {
		return 0, 0, false, nil
	}
	unsatisfiable := refuse(416, "InvalidRange", "The requested range is not satisfiable")
	if from == "" {
		n, err := strconv.Atoi(to)
		if err != nil || n < 0 {
			return 0, 0, false, nil
		}
		if n == 0 || size == 0 {
			return 0, 0, false, unsatisfiable
		}
		return max(0, size-n), size - 1, true, nil
	}
	first, err := strconv.Atoi(from)
	if err != nil || first < 0 {
		return 0, 0, false, nil
	}
	last = size - 1
	if to != "" {
		if last, err = strconv.Atoi(to); err != nil || last < first {
			return 0, 0, false, nil
		}
	}
	if first >= size {
		return 0, 0, false, unsatisfiable
	}
	return first, min(last, size-1), true, nil
}
