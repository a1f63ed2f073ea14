package s3cas_test

import (
	"fmt"
	"regexp"
	"strings"
)

// list returns the keys of a listing and the rest of what a page says of itself.
func (f *fixture) list(query string) (keys []string, truncated bool, token string) {
	f.t.Helper()
	r := f.do("GET", "/"+bkt+"?list-type=2&"+query, "")
	if r.status != 200 {
		f.t.Fatalf("list: %s", r)
	}
	for _, m := range regexp.MustCompile(`<Key>([^<]*)</Key>|<CommonPrefixes><Prefix>([^<]*)</Prefix>`).FindAllStringSubmatch(r.body, -1) {
		keys = append(keys, m[1]+m[2])
	}
	if m := regexp.MustCompile(`<NextContinuationToken>([^<]*)<`).FindStringSubmatch(r.body); m != nil {
		token = m[1]
	}
	return keys, strings.Contains(r.body, "<IsTruncated>true<"), token
}

func (f *fixture) listed(query string) string {
	f.t.Helper()
	keys, truncated, token := f.list(query)
	s := strings.Join(keys, " ")
	if truncated {
		s += " more"
	}
	if token != "" {
		s += " token"
	}
	return s
}

func (f *fixture) fill(keys ...string) {
	for _, k := range keys {
		f.Put(bkt, k, nil)
	}
}

// race sends n equal conditional writes at once and returns how many were granted.
func (f *fixture) race(n int, key string, headers ...string) int {
	f.t.Helper()
	var chs []<-chan reply
	round := f.Mark() // bodies differ from any before: an equal body has an equal ETag
	for i := range n {
		chs = append(chs, f.async(func() reply { return f.put(key, fmt.Sprint("round ", round, " racer ", i), headers...) }))
	}
	won := 0
	for _, ch := range chs {
		if r := <-ch; r.status == 200 {
			won++
		}
	}
	return won
}

// multipart uploads body as the one part of key and completes it under the given headers.
func (f *fixture) multipart(key, body string, headers ...string) reply {
	f.t.Helper()
	r := f.do("POST", "/bkt/"+key+"?uploads", "")
	_, rest, _ := strings.Cut(r.body, "<UploadId>")
	id, _, _ := strings.Cut(rest, "<")
	tag := f.put(key+"?partNumber=1&uploadId="+id, body).header.Get("Etag")
	return f.do("POST", "/bkt/"+key+"?uploadId="+id, "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"+tag+"</ETag></Part></CompleteMultipartUpload>", headers...)
}
