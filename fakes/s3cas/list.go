package s3cas

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ListObjects, versions 1 and 2.

const (
	xmlNamespace = "http://s3.amazonaws.com/doc/2006-03-01/"
	xmlInstant   = "2006-01-02T15:04:05.000Z"
	maxPage      = 1000
)

// listing is one page being made.
type listing struct {
	prefix, delimiter string
	after             string // keys up to and including this are done
	afterGroup        string // a common prefix that is done
	limit             int
	entries           []listEntry
	truncated         bool
	last              listEntry // where the next page goes on
}

// listEntry is a key with its object, or a common prefix (obj nil).
type listEntry struct {
	name string
	obj  *object
}

func (rq *request) list() *answer {
	q := rq.query
	v2 := q.Get("list-type") == "2"
	if lt := q.Get("list-type"); lt != "" && !v2 {
		return rq.refuse(refuse(400, "InvalidArgument", "Invalid list-type"))
	}
	l := listing{prefix: q.Get("prefix"), delimiter: q.Get("delimiter"), limit: maxPage}
	if v := q.Get("max-keys"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return rq.refuse(refuse(400, "InvalidArgument", "Argument maxKeys must be an integer between 0 and 2147483647"))
		}
		l.limit = min(n, maxPage)
	}
	asked := l.limit
	if mode := rq.modes.get(modeListPageSize); mode != nil {
		l.limit = min(l.limit, max(1, mode.n))
	}
	if enc := q.Get("encoding-type"); enc != "" && enc != "url" {
		return rq.refuse(refuse(400, "InvalidArgument", "Invalid Encoding Method specified in Request"))
	}
	if v2 {
		l.after = q.Get("start-after")
		if q.Has("continuation-token") && !l.resume(q.Get("continuation-token")) {
			return rq.refuse(refuse(400, "InvalidArgument", "The continuation token provided is incorrect"))
		}
	} else {
		l.after = q.Get("marker")
		if l.delimiter != "" && strings.HasSuffix(l.after, l.delimiter) {
			l.afterGroup = l.after
		}
	}
	rq.applied = rq.s.events.Add(1)
	here := l
	l.fill(rq)
	token := l.token()
	if rq.modes.on(modeListTokenRepeats) {
		token = (&listing{last: listEntry{name: here.after, obj: &object{}}}).token()
		if here.afterGroup != "" {
			token = (&listing{last: listEntry{name: here.afterGroup}}).token()
		}
	}
	if mode := rq.modes.get(modeListPartial); mode != nil {
		l.entries = l.entries[:min(len(l.entries), mode.count(len(l.entries)/2))]
		l.truncated = false
	}
	showToken := l.truncated
	if rq.modes.on(modeListTruncatedWithoutToken) {
		l.truncated, showToken = true, false
	}
	return xmlAnswer(rq.listXML(&l, v2, asked, token, showToken))
}

// fill walks the keys in order and collects one page.
func (l *listing) fill(rq *request) {
	keys := rq.b.index.keys()
	rq.b.index.compact(rq.b.remembered)
	if mode := rq.modes.get(modeListGhosts); mode != nil && len(mode.keys) > 0 {
		keys = append(slices.Clone(keys), mode.keys...)
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	if l.limit == 0 {
		return
	}
	i, _ := slices.BinarySearch(keys, max(l.prefix, l.after))
	for i < len(keys) {
		k := keys[i]
		if !strings.HasPrefix(k, l.prefix) {
			if k > l.prefix {
				break
			}
			i++
			continue
		}
		if k <= l.after && l.after != "" || l.afterGroup != "" && strings.HasPrefix(k, l.afterGroup) {
			i++
			continue
		}
		o := rq.listedObject(k)
		if o == nil {
			i++
			continue
		}
		e := listEntry{name: k, obj: o}
		if l.delimiter != "" {
			if cut := strings.Index(k[len(l.prefix):], l.delimiter); cut >= 0 {
				e = listEntry{name: k[:len(l.prefix)+cut+len(l.delimiter)]}
			}
		}
		if len(l.entries) == l.limit {
			l.truncated = true
			return
		}
		l.entries = append(l.entries, e)
		l.last = e
		i++
		if e.obj == nil { // jump over the rest of the group
			i = skipGroup(keys, i, e.name)
		}
	}
}

func (rq *request) listedObject(k string) *object {
	if rq.modes.on(modeListHidesOverlap) {
		for i := range len(k) {
			if k[i] == '/' && rq.b.get(k[:i]) != nil {
				return nil
			}
		}
	}
	if o := rq.b.listed(k, rq.modes, rq.now); o != nil {
		return o
	}
	if mode := rq.modes.get(modeListGhosts); mode != nil && slices.Contains(mode.keys, k) {
		return rq.s.build(nil, rq.modes)
	}
	return nil
}

// skipGroup returns the index of the first key at or after i that does not begin with prefix.
func skipGroup(keys []string, i int, prefix string) int {
	n, _ := slices.BinarySearchFunc(keys[i:], prefix, func(k, p string) int {
		if strings.HasPrefix(k, p) || k < p {
			return -1
		}
		return 1
	})
	return i + n
}

// token says where the next page goes on: K and a key, or G and a common prefix. Clients must not look inside.
func (l *listing) token() string {
	kind := "K"
	if l.last.obj == nil {
		kind = "G"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind + l.last.name))
}

func (l *listing) resume(token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return false
	}
	switch name := string(raw[1:]); raw[0] {
	case 'K':
		l.after = name
	case 'G':
		l.after, l.afterGroup = name, name
	default:
		return false
	}
	return true
}

func (rq *request) listXML(l *listing, v2 bool, asked int, token string, showToken bool) []byte {
	q := rq.query
	enc := func(s string) string { return s }
	if q.Get("encoding-type") == "url" || rq.modes.on(modeListKeysURLEncoded) {
		enc = func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") }
	}
	var b bytes.Buffer
	b.Grow(256 + 256*len(l.entries))
	b.WriteString(xml.Header)
	b.WriteString(`<ListBucketResult xmlns="` + xmlNamespace + `">`)
	element(&b, "Name", rq.bucketName)
	element(&b, "Prefix", enc(l.prefix))
	element(&b, "MaxKeys", strconv.Itoa(asked))
	if l.delimiter != "" {
		element(&b, "Delimiter", enc(l.delimiter))
	}
	if q.Get("encoding-type") == "url" {
		element(&b, "EncodingType", "url")
	}
	element(&b, "IsTruncated", strconv.FormatBool(l.truncated))
	if v2 {
		element(&b, "KeyCount", strconv.Itoa(len(l.entries)))
		if v := q.Get("continuation-token"); v != "" {
			element(&b, "ContinuationToken", v)
		}
		if v := q.Get("start-after"); v != "" {
			element(&b, "StartAfter", enc(v))
		}
		if showToken {
			element(&b, "NextContinuationToken", token)
		}
	} else {
		element(&b, "Marker", enc(q.Get("marker")))
		if showToken && l.delimiter != "" {
			element(&b, "NextMarker", enc(l.last.name))
		}
	}
	var skew time.Duration
	if mode := rq.modes.get(modeLastModifiedSkew); mode != nil {
		skew = mode.d
	}
	owner := !v2 || q.Get("fetch-owner") == "true"
	for _, e := range l.entries {
		if e.obj == nil {
			continue
		}
		b.WriteString("<Contents>")
		element(&b, "Key", enc(e.name))
		element(&b, "LastModified", e.obj.modified.Add(skew).UTC().Format(xmlInstant))
		element(&b, "ETag", rq.modes.showTag(e.obj.etag))
		element(&b, "Size", strconv.Itoa(len(e.obj.body)))
		if owner {
			b.WriteString("<Owner><ID>s3cas</ID></Owner>")
		}
		b.WriteString("<StorageClass>STANDARD</StorageClass></Contents>")
	}
	for _, e := range l.entries {
		if e.obj == nil {
			b.WriteString("<CommonPrefixes>")
			element(&b, "Prefix", enc(e.name))
			b.WriteString("</CommonPrefixes>")
		}
	}
	b.WriteString("</ListBucketResult>")
	return b.Bytes()
}
