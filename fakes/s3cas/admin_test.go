package s3cas_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
)

func TestAdmin(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.Admin = true })
	admin := func(method, path, body string) string {
		r := f.do(method, "/_s3cas/"+path, body)
		return strings.TrimSpace(r.String() + " " + r.body)
	}
	want(t, "inject", admin("POST", "faults", "(Drop (Key \"x\"))\n(Respond 503 (Key \"y\"))"), `200 [{"id":1,"fault":"(Drop (Key \"x\"))","fired":0},{"id":2,"fault":"(Respond 503 (Key \"y\"))","fired":0}]`)
	want(t, "bad fault", admin("POST", "faults", "(Drop)"), `400 fault, at byte 0 ("(Drop)"): a fault ends with a predicate, such as Any or (Key "*")`)
	want(t, "it works", f.get("y"), "503 SlowDown")
	want(t, "list", strings.Contains(admin("GET", "faults", ""), `"fired":1`), true)
	want(t, "remove", admin("DELETE", "faults/2", ""), `200 {"id":2,"fault":"(Respond 503 (Key \"y\"))","fired":1}`)
	want(t, "remove again", admin("DELETE", "faults/2", ""), "404 there is no fault 2")
	want(t, "clear", admin("DELETE", "faults", ""), "204")
	want(t, "modes", admin("POST", "modes", "etag_weak\nlist_page_size(3)\n"), `200 ["etag_weak","list_page_size(3)"]`)
	want(t, "bad mode sets none", admin("POST", "modes", "forbid\nnonsense"), `400 there is no mode "nonsense"`)
	want(t, "modes of a bucket", admin("POST", "modes?bucket=bkt", "inm_exists_304"), `200 ["inm_exists_304","etag_weak","list_page_size(3)"]`)
	want(t, "one off", admin("DELETE", "modes/etag_weak", ""), "204")
	want(t, "left", admin("GET", "modes?bucket=bkt", ""), `200 ["inm_exists_304","list_page_size(3)"]`)
	want(t, "all off", admin("DELETE", "modes", "")+admin("GET", "modes", ""), "204200 []")
	want(t, "dialect", admin("PUT", "dialect", "ceph\n")+admin("GET", "dialect", ""), "204200 ceph")
	want(t, "no dialect", admin("PUT", "dialect", "x"), `400 there is no dialect "x"`)
	var ds []s3cas.Dialect
	if err := json.Unmarshal([]byte(f.do("GET", "/_s3cas/dialects", "").body), &ds); err != nil || len(ds) < 10 {
		t.Fatal(err, len(ds))
	}
	_ = admin("PUT", "dialect", "aws")
	want(t, "principal", admin("POST", "principals", `{"access_key":"AKGAMMA","secret":"gamma-secret","name":"gamma"}`), "204")
	want(t, "no principal", admin("POST", "principals", `{"access_key":"x"}`)[:3], "400")
	want(t, "bucket", admin("PUT", "buckets/fresh", ""), "204")
	want(t, "object", admin("PUT", "objects/fresh/a//b", "hello")+admin("GET", "objects/fresh/a//b", "")+admin("GET", "objects/fresh?prefix=a", ""), `204200 hello200 "a//b"`)
	want(t, "delete", admin("DELETE", "objects/fresh/a//b", "")+admin("GET", "objects/fresh/a//b", "")[:3], "204404")
	_ = admin("POST", "faults", `(Hold "g" before (Key "h"))`)
	ch := f.async(func() reply { return f.put("h", "v") })
	var row struct {
		Held     int
		Requests []s3cas.Entry
	}
	if err := json.Unmarshal([]byte(f.do("GET", "/_s3cas/gates/g?wait=1&timeout=20s", "").body), &row); err != nil || row.Held != 1 || row.Requests[0].Key != "h" {
		t.Fatal(err, row)
	}
	want(t, "wait too long", f.do("GET", "/_s3cas/gates/g?wait=2&timeout=1ms", "").status, 504)
	want(t, "pass", strings.Contains(admin("POST", "gates/g/pass?n=1", ""), `"held":0`), true)
	want(t, "went", <-ch, "200")
	want(t, "release", strings.Contains(admin("POST", "gates/g/release", ""), `"name":"g"`), true)
	want(t, "gates", strings.Contains(admin("GET", "gates", ""), `"arrivals":1`), true)
	want(t, "unknown verb", admin("POST", "gates/g/fly", "")[:3], "404")
	want(t, "journal text", admin("GET", "journal?format=text&key=h", ""), "200 #2 anonymous Put bkt/h -> 200 in=1 out=0 etag ->"+f.etag("h")+` (Hold "g" before (Key "h"))`)
	dec := json.NewDecoder(strings.NewReader(f.do("GET", "/_s3cas/journal?since=1&op=Put", "").body))
	var e s3cas.Entry
	if err := dec.Decode(&e); err != nil || e.Seq != 2 || e.Op != s3cas.OpPut || e.Arrived >= e.Applied || e.Applied >= e.Answered {
		t.Fatalf("%v %+v", err, e)
	}
	want(t, "mark", admin("GET", "mark", ""), "200 2")
	off := start(t)
	want(t, "off by default", off.do("GET", "/_s3cas/mark", ""), "404 NoSuchBucket")
}

func TestListenAndServe(t *testing.T) {
	s := s3cas.New(s3cas.Options{Anonymous: true, Buckets: []string{bkt}})
	ctx, cancel := context.WithCancel(context.Background())
	url, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.ListenAndServe(ctx, "127.0.0.1:0", func(u string) { url <- u }) }()
	u := <-url
	res, err := http.Get(u + "/bkt?list-type=2")
	if err != nil || res.StatusCode != 200 {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	want(t, "url", s.URL(), u)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- s.Serve(ctx, l) }()
	res, err = http.Get("http://" + l.Addr().String() + "/bkt?list-type=2")
	if err != nil || res.StatusCode != 200 {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if err := s.ListenAndServe(context.Background(), "127.0.0.1:99999", nil); err == nil {
		t.Fatal("an impossible address")
	}
}
