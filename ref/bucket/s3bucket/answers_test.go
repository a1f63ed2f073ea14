package s3bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/bucket/s3bucket"
)

func client(t *testing.T, url string) *s3bucket.Bucket {
	t.Helper()
	b, err := s3bucket.Open(s3bucket.Options{URL: url, Region: "us-east-1", PathStyle: true, Bucket: "bkt", AccessKeyID: "AK", SecretAccessKey: "SK"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPutAnswers holds the mapping of formats.md, "A conditional write's answers": each answer comes to one request.
func TestPutAnswers(t *testing.T) {
	create, replace, plain := bucket.Condition{IfAbsent: true}, bucket.Condition{IfMatch: `"x"`}, bucket.Condition{}
	for _, c := range []struct {
		status int
		code   string
		cond   bucket.Condition
		want   error
	}{
		{412, "PreconditionFailed", create, bucket.ErrCondition},
		{412, "PreconditionFailed", replace, bucket.ErrCondition},
		{409, "ConditionalRequestConflict", create, bucket.ErrCondition},
		{404, "NoSuchKey", replace, bucket.ErrCondition},
		{404, "NoSuchKey", create, bucket.ErrTransport},
		{404, "NoSuchBucket", replace, bucket.ErrTransport},
		{501, "NotImplemented", create, bucket.ErrUnsupported},
		{405, "MethodNotAllowed", replace, bucket.ErrUnsupported},
		{403, "AccessDenied", create, bucket.ErrForbidden},
		{401, "Unauthorized", plain, bucket.ErrForbidden},
		{503, "SlowDown", plain, bucket.ErrThrottled},
		{429, "TooManyRequests", replace, bucket.ErrThrottled},
		{503, "ServiceUnavailable", replace, bucket.ErrUnknownOutcome},
		{500, "InternalError", create, bucket.ErrUnknownOutcome},
		{304, "", create, bucket.ErrTransport},
		{409, "OperationAborted", plain, bucket.ErrTransport},
	} {
		t.Run(fmt.Sprintf("%d %s %+v", c.status, c.code, c.cond), func(t *testing.T) {
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(c.status)
				if c.code != "" {
					fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>m</Message></Error>`, c.code)
				}
			}))
			defer server.Close()
			_, err := client(t, server.URL).Put(context.Background(), "k", strings.NewReader("body"), 4, c.cond)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if asked.Load() != 1 {
				t.Fatalf("%d requests, want 1", asked.Load())
			}
		})
	}
}

// TestAbsent: an object is absent where the service says so by its name for it; a 404 of a proxy or a wrong host is not that.
func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		body string
		want error
	}{
		{`<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>m</Message></Error>`, bucket.ErrNotFound},
		{`<?xml version="1.0"?><Error><Code>NoSuchBucket</Code><Message>m</Message></Error>`, bucket.ErrTransport},
		{"<html>no such page</html>", bucket.ErrTransport},
		{"", bucket.ErrTransport},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, c.body)
		}))
		_, _, err := client(t, server.URL).Get(context.Background(), "k")
		if !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.body, err, c.want)
		}
		if _, err := client(t, server.URL).Head(context.Background(), "k"); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("head: %v", err)
		}
		server.Close()
	}
}

func TestPutRequest(t *testing.T) {
	var got http.Header
	var path, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, path, body = r.Header.Clone(), r.URL.Path, string(data)
		w.Header().Set("ETag", `"e"`)
	}))
	defer server.Close()
	o, err := client(t, server.URL).Put(context.Background(), "a/b c", strings.NewReader("body"), 4, bucket.Condition{IfAbsent: true})
	if err != nil || o.ETag != `"e"` {
		t.Fatalf("%+v %v", o, err)
	}
	if path != "/bkt/a/b c" || body != "body" || got.Get("If-None-Match") != "*" {
		t.Fatalf("%s %q %v", path, body, got)
	}
	for name := range got {
		if n := strings.ToLower(name); strings.HasPrefix(n, "x-amz-checksum") || n == "x-amz-trailer" || n == "content-encoding" || n == "x-amz-sdk-checksum-algorithm" {
			t.Errorf("header %s: %v", name, got[name])
		}
	}
	if !strings.Contains(got.Get("Authorization"), "/us-east-1/s3/aws4_request") {
		t.Errorf("authorization %q", got.Get("Authorization"))
	}
}

func TestLostConnections(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	b := client(t, server.URL)
	_, err := b.Put(context.Background(), "k", strings.NewReader("body"), 4, bucket.Condition{IfAbsent: true})
	if !errors.Is(err, bucket.ErrUnknownOutcome) {
		t.Errorf("a cut connection: %v", err)
	}
	server.Close()
	_, err = b.Put(context.Background(), "k", strings.NewReader("body"), 4, bucket.Condition{IfAbsent: true})
	if !errors.Is(err, bucket.ErrTransport) {
		t.Errorf("a refused connection: %v", err)
	}
	if _, err := b.Head(context.Background(), "k"); !errors.Is(err, bucket.ErrTransport) {
		t.Errorf("a head to nobody: %v", err)
	}
}

func TestShortBody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			_, _ = conn.Read(buf)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"e\"\r\n\r\nhalf")
			_ = conn.Close()
		}
	}()
	r, _, err := client(t, "http://"+l.Addr().String()).Get(context.Background(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, bucket.ErrTransport) {
		t.Fatalf("%v", err)
	}
}

func TestListingBreaksOff(t *testing.T) {
	for name, page := range map[string]string{
		"truncated without a token": `<IsTruncated>true</IsTruncated><Contents><Key>a</Key><Size>1</Size></Contents>`,
		"a token that repeats":      `<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>`,
		"backwards":                 `<Contents><Key>b</Key><Size>1</Size></Contents><Contents><Key>a</Key><Size>1</Size></Contents>`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, `<?xml version="1.0"?><ListBucketResult>%s</ListBucketResult>`, page)
			}))
			defer server.Close()
			err := client(t, server.URL).List(context.Background(), "", func(bucket.Object) error { return nil })
			if !errors.Is(err, bucket.ErrTransport) {
				t.Fatalf("%v", err)
			}
		})
	}
}

// TestSilence: a service that stops in the middle of an object, or never answers at all, ends the read.
func TestSilence(t *testing.T) {
	for _, sent := range []string{"", "half"} {
		release := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if sent != "" {
				w.Header().Set("Content-Length", "8")
				fmt.Fprint(w, sent)
				w.(http.Flusher).Flush()
			}
			<-release
		}))
		b, err := s3bucket.Open(s3bucket.Options{URL: server.URL, Region: "us-east-1", PathStyle: true, Bucket: "bkt", AccessKeyID: "AK", SecretAccessKey: "SK",
			Silence: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Get(context.Background(), "k")
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, bucket.ErrTransport) || errors.Is(err, context.Canceled) {
			t.Errorf("%q sent: %v", sent, err)
		}
		close(release)
		server.Close()
	}
}
