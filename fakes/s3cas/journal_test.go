package s3cas_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"contextful/fakes/s3cas"
)

// TestJournalGolden is what a session looks like in the journal, line by line.
func TestJournalGolden(t *testing.T) {
	f := start(t)
	alpha, beta := f.sdk("alpha"), f.sdk("beta")
	put := func(c *s3.Client, key, body, im string) {
		in := &s3.PutObjectInput{Bucket: aws.String(bkt), Key: &key, Body: strings.NewReader(body)}
		if im != "" {
			in.IfMatch = &im
		}
		_, _ = c.PutObject(f.ctx, in)
	}
	put(alpha, "m", "1", "")
	put(beta, "m", "2", `"`+md5hex("1")+`"`)
	put(alpha, "m", "3", `"`+md5hex("1")+`"`)
	_, _ = alpha.GetObject(f.ctx, &s3.GetObjectInput{Bucket: aws.String(bkt), Key: aws.String("m")})
	_, _ = alpha.ListObjectsV2(f.ctx, &s3.ListObjectsV2Input{Bucket: aws.String(bkt), Prefix: aws.String("x/"), StartAfter: aws.String("x/1")})
	_, _ = alpha.DeleteObject(f.ctx, &s3.DeleteObjectInput{Bucket: aws.String(bkt), Key: aws.String("m")})
	_ = f.do("GET", "/bkt/m", "", "Authorization", "AWS4-HMAC-SHA256 Credential=NOBODY/20260301/x/s3/aws4_request, SignedHeaders=host, Signature=00", "X-Amz-Date", "x", "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	var lines []string
	for _, e := range f.Journal() {
		lines = append(lines, e.String())
	}
	one, two := md5hex("1"), md5hex("2")
	golden := []string{
		`#1 alpha Put bkt/m -> 200 in=1 out=0 etag ->` + one,
		`#2 beta Put bkt/m If-Match="` + one + `" -> 200 in=1 out=0 etag ` + one + `>` + two,
		`#3 alpha Put bkt/m If-Match="` + one + `" -> 412 PreconditionFailed in=1 out=322 etag ` + two + `=` + two,
		`#4 alpha Get bkt/m -> 200 in=0 out=1 etag ` + two + `=` + two,
		`#5 alpha List bkt/x/ after="x/1" -> 200 in=0 out=264 `,
		`#6 alpha Delete bkt/m -> 204 in=0 out=0 etag ` + two + `>-`,
		`#7 ? Get bkt/m -> 403 InvalidAccessKeyId in=0 out=294`,
	}
	for i := range golden {
		// The sizes of XML answers are no promise.
		if a, _, _ := strings.Cut(lines[i], " out="); a != strings.Split(golden[i], " out=")[0] {
			t.Errorf("line %d\n got %s\nwant %s", i+1, lines[i], golden[i])
		}
		if _, a, ok := strings.Cut(lines[i], " etag "); ok && a != strings.Split(golden[i], " etag ")[1] {
			t.Errorf("line %d\n got %s\nwant %s", i+1, lines[i], golden[i])
		}
	}
}

func TestJournalFilterAndMark(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.JournalLimit = 600 })
	_ = f.put("a/1", "x")
	mark := f.Mark()
	_ = f.put("a/2", "x")
	_ = f.get("b")
	want(t, "since", len(f.JournalFor(s3cas.Filter{Since: mark})), 2)
	want(t, "ops and keys", len(f.JournalFor(s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: "a/*"})), 2)
	want(t, "status", f.JournalFor(s3cas.Filter{Status: 404})[0].Key, "b")
	want(t, "where", len(f.JournalFor(s3cas.Filter{Where: func(e s3cas.Entry) bool { return e.BytesIn == 1 }})), 2)
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if _, err := f.WaitJournal(ctx, s3cas.Filter{Key: "never"}, 1); err == nil {
		t.Fatal("waiting had an end")
	}
	got := make(chan int)
	go func() {
		es, _ := f.WaitJournal(f.ctx, s3cas.Filter{Key: "c", Where: func(e s3cas.Entry) bool { return !e.Open() }}, 1)
		got <- len(es)
	}()
	_ = f.put("c", "x")
	want(t, "waited", <-got, 1)
	h := f.inject(`(Respond 500 (Key "d"))`)
	go f.put("d", "")
	if err := h.WaitFired(f.ctx, 1); err != nil {
		t.Fatal(err)
	}
	for range 1500 {
		_ = f.get("many")
	}
	if n := len(f.Journal()); n > 600+512 || n < 600 {
		t.Fatalf("%d entries kept", n)
	}
}

// TestEverythingAtOnce drives every entry point from many goroutines, for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.Now = nil })
	f.inject(`(Hold "g" body 1 (And Get (OnIndex 5)))`)
	f.inject(`(Rival "r" (And Put (Key "k1") (OnIndex 3)))`)
	f.inject(`(Late 3 (And Put (Key "k2") (OnIndex 2)))`)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 25 {
				key := fmt.Sprint("k", i%4)
				switch (w + i) % 8 {
				case 0:
					_ = f.put(key, "v", "If-None-Match", "*")
				case 1:
					_ = f.get(key)
				case 2:
					_ = f.do("DELETE", "/bkt/"+key, "")
				case 3:
					_, _, _ = f.list("")
				case 4:
					_ = f.SetMode([]string{"stale_get(1)", "etag_opaque", "list_ghosts", "delayed_delete(1)"}[i%4])
					f.ClearModes()
				case 5:
					_ = f.multipart(key, "m")
				case 6:
					_, _ = f.Journal(), f.Gate("g").HeldEntries()
					f.Gate("g").Pass(1)
				case 7:
					h := f.inject(`(Respond 500 (And Put (OnIndex 0)))`)
					_ = f.put(key, "v")
					h.Remove()
				}
			}
		}()
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	for {
		select {
		case <-finished:
			return
		case <-f.Gate("g").Arrived():
			f.Gate("g").Release()
			<-finished
			return
		}
	}
}
