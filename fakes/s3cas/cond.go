package s3cas

import (
	"net/http"
	"strings"
	"time"
)

// cond holds the conditional headers of a request as they came, quotes included.
type cond struct {
	ifMatch, ifNoneMatch                   string
	hasIfMatch, hasIfNoneMatch             bool
	ifModifiedSince, ifUnmodifiedSince     time.Time
	hasModifiedSince, hasIfUnmodifiedSince bool
	expressOnly                            bool // a condition that only directory buckets know
}

func readCond(h http.Header) cond {
	var c cond
	c.ifMatch, c.hasIfMatch = headerOf(h, "If-Match")
	c.ifNoneMatch, c.hasIfNoneMatch = headerOf(h, "If-None-Match")
	if v, ok := headerOf(h, "If-Modified-Since"); ok {
		if t, err := http.ParseTime(v); err == nil {
			c.ifModifiedSince, c.hasModifiedSince = t, true
		}
	}
	if v, ok := headerOf(h, "If-Unmodified-Since"); ok {
		if t, err := http.ParseTime(v); err == nil {
			c.ifUnmodifiedSince, c.hasIfUnmodifiedSince = t, true
		}
	}
	_, size := h["X-Amz-If-Match-Size"]
	_, modified := h["X-Amz-If-Match-Last-Modified-Time"]
	c.expressOnly = size || modified
	return c
}

// headerOf reads a header whose name is canonical already, without the canonicalisation Header.Get would repeat.
func headerOf(h http.Header, name string) (string, bool) {
	v := h[name]
	if len(v) == 0 {
		return "", false
	}
	return strings.TrimSpace(v[0]), true
}

// conditional reports whether a write carries a condition.
func (c cond) conditional() bool { return c.hasIfMatch || c.hasIfNoneMatch }

// unquote strips the quotes of an entity tag. S3 takes a tag with quotes or without.
func unquote(tag string) string {
	if len(tag) >= 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
		return tag[1 : len(tag)-1]
	}
	return tag
}

func quoted(tag string) bool { return len(tag) >= 2 && tag[0] == '"' }

// checkWrite judges the condition of a write against what the key holds. It says nil when the write may go ahead.
//
// As AWS documents it: If-None-Match takes only *, and refuses 412 where something exists; If-Match refuses 412 on another ETag
// and 404 NoSuchKey where nothing exists; both at once, or If-None-Match with an ETag, is 501. The modes bend that.
func checkWrite(cur *object, c cond, m *modeSet) *apiError {
	if !c.conditional() {
		return nil
	}
	im := c.hasIfMatch && !m.on(modeIgnoreIfMatch)
	inm := c.hasIfNoneMatch && !m.on(modeIgnoreIfNoneMatch)
	if m.on(modeRFCConditions) {
		return checkRFC(cur, c, im, inm, m)
	}
	switch {
	case im && inm:
		return errNotImplemented
	case inm:
		if c.ifNoneMatch != "*" {
			return errNotImplemented
		}
		return checkAbsent(cur, m)
	case im:
		return checkTag(cur, c.ifMatch, m)
	}
	return nil
}

// checkRFC judges a write as RFC 9110 would: both headers have to hold, and If-None-Match takes ETags.
func checkRFC(cur *object, c cond, im, inm bool, m *modeSet) *apiError {
	if im {
		if e := checkTag(cur, c.ifMatch, m); e != nil {
			return e
		}
	}
	switch {
	case !inm:
		return nil
	case c.ifNoneMatch == "*":
		return checkAbsent(cur, m)
	case cur != nil && unquote(c.ifNoneMatch) == cur.etag:
		return errIfNoneMatch
	}
	return nil
}

func checkAbsent(cur *object, m *modeSet) *apiError {
	if cur == nil {
		if m.on(modeInmMissing404) {
			return errNoSuchKey
		}
		return nil
	}
	if m.on(modeInmExists304) {
		return errNotModified
	}
	return errIfNoneMatch
}

// checkTag judges an If-Match header of a write. `*` is no wildcard here: AWS documents it for DELETE alone.
func checkTag(cur *object, tag string, m *modeSet) *apiError {
	if cur == nil {
		switch {
		case m.on(modeIfMatchMissingCreates):
			return nil
		case m.on(modeIfMatchMissing412):
			return errIfMatch
		}
		return errNoSuchKey
	}
	if e := checkQuotes(tag, m); e != nil {
		return e
	}
	if unquote(tag) != cur.etag {
		return errIfMatch
	}
	return nil
}

// checkQuotes applies the modes about quotes in If-Match.
func checkQuotes(tag string, m *modeSet) *apiError {
	if !quoted(tag) {
		return nil
	}
	if m.on(modeETagQuotedRejected) {
		return refuse(400, "InvalidArgument", "Invalid ETag in If-Match: quotes are not accepted")
	}
	if m.on(modeETagUnquotedRequired) {
		return errIfMatch
	}
	return nil
}

// checkDelete judges DELETE with If-Match: 412 on another ETag, 404 where nothing exists, `*` for "whatever is there".
func checkDelete(cur *object, c cond, m *modeSet) *apiError {
	if c.hasIfNoneMatch || c.expressOnly {
		return errNotImplemented
	}
	if !c.hasIfMatch || m.on(modeDeleteIfMatchIgnored) {
		return nil
	}
	if c.ifMatch == "*" {
		if cur == nil {
			return errNoSuchKey
		}
		return nil
	}
	if cur == nil {
		return errNoSuchKey
	}
	return checkTag(cur, c.ifMatch, m)
}

// checkRead judges a GET or a HEAD in the order of RFC 9110: If-Match before If-Unmodified-Since, If-None-Match before
// If-Modified-Since.
func checkRead(cur *object, c cond) *apiError {
	mod := cur.modified.Truncate(time.Second)
	switch {
	case c.hasIfMatch:
		if !tagListed(c.ifMatch, cur.etag) {
			return errIfMatch
		}
	case c.hasIfUnmodifiedSince:
		if mod.After(c.ifUnmodifiedSince) {
			return errUnmodified
		}
	}
	switch {
	case c.hasIfNoneMatch:
		if tagListed(c.ifNoneMatch, cur.etag) {
			return errNotModified
		}
	case c.hasModifiedSince:
		if !mod.After(c.ifModifiedSince) {
			return errNotModified
		}
	}
	return nil
}

// checkCopySource judges the x-amz-copy-source-if-* headers; S3 answers 412 for each of them.
func checkCopySource(cur *object, h http.Header) *apiError {
	if v, ok := headerOf(h, "X-Amz-Copy-Source-If-Match"); ok && !tagListed(v, cur.etag) {
		return errIfMatch
	}
	if v, ok := headerOf(h, "X-Amz-Copy-Source-If-None-Match"); ok && tagListed(v, cur.etag) {
		return errIfNoneMatch
	}
	mod := cur.modified.Truncate(time.Second)
	if v, ok := headerOf(h, "X-Amz-Copy-Source-If-Unmodified-Since"); ok {
		if t, err := http.ParseTime(v); err == nil && mod.After(t) {
			return errUnmodified
		}
	}
	if v, ok := headerOf(h, "X-Amz-Copy-Source-If-Modified-Since"); ok {
		if t, err := http.ParseTime(v); err == nil && !mod.After(t) {
			return &apiError{412, "PreconditionFailed", errIfMatch.Message, "If-Modified-Since"}
		}
	}
	return nil
}

// tagListed reports whether a comma-separated list of entity tags holds etag, or is *.
func tagListed(list, etag string) bool {
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || unquote(strings.TrimPrefix(part, "W/")) == etag {
			return true
		}
	}
	return false
}
