package s3cas_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"contextful/fakes/s3cas"
)

const bkt = "bkt"

// fixture is a running server with an anonymous raw client and a signed SDK client.
type fixture struct {
	*s3cas.Server
	t   *testing.T
	now *clock
	ctx context.Context
}

// clock is a virtual clock: it moves only when told.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func start(t *testing.T, change ...func(*s3cas.Options)) *fixture {
	t.Helper()
	c := &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	o := s3cas.Options{Now: c.Now, Buckets: []string{bkt}, Anonymous: true, Principals: []s3cas.Principal{
		{AccessKey: "AKALPHA", Secret: "alpha-secret", Name: "alpha"}, {AccessKey: "AKBETA", Secret: "beta-secret", Name: "beta"},
	}}
	for _, f := range change {
		f(&o)
	}
	s, err := s3cas.New(o).Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return &fixture{Server: s, t: t, now: c, ctx: ctx}
}

// sdk returns a client of the AWS SDK that signs as the given principal and does not retry.
func (f *fixture) sdk(name string, change ...func(*s3.Options)) *s3.Client {
	o := s3.Options{
		BaseEndpoint: aws.String(f.URL()), UsePathStyle: true, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials:                aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return creds(name), nil }),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	for _, c := range change {
		c(&o)
	}
	return s3.New(o)
}

func creds(name string) aws.Credentials {
	return aws.Credentials{AccessKeyID: "AK" + strings.ToUpper(name), SecretAccessKey: name + "-secret"}
}

// reply is what came back from a raw request.
type reply struct {
	status int
	code   string
	body   string
	header http.Header
	err    error
}

func (r reply) String() string {
	if r.err != nil {
		return "error"
	}
	if r.code != "" {
		return fmt.Sprintf("%d %s", r.status, r.code)
	}
	return fmt.Sprint(r.status)
}

// do sends an unsigned request on a connection of its own. headers are name, value pairs.
func (f *fixture) do(method, path, body string, headers ...string) reply {
	f.t.Helper()
	var rd io.Reader
	if body != "" || method == "PUT" || method == "POST" {
		rd = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(f.ctx, method, f.URL()+path, rd)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	r := reply{status: res.StatusCode, body: string(out), header: res.Header, err: err}
	if _, rest, ok := strings.Cut(r.body, "<Code>"); ok && strings.Contains(r.body, "<Error>") {
		r.code, _, _ = strings.Cut(rest, "</Code>")
	}
	return r
}

func (f *fixture) put(key, body string, headers ...string) reply {
	f.t.Helper()
	return f.do("PUT", "/"+bkt+"/"+key, body, headers...)
}

func (f *fixture) get(key string, headers ...string) reply {
	f.t.Helper()
	return f.do("GET", "/"+bkt+"/"+key, "", headers...)
}

func (f *fixture) etag(key string) string {
	_, e, _ := f.Get(bkt, key)
	return e
}

func (f *fixture) content(key string) string {
	b, _, ok := f.Get(bkt, key)
	if !ok {
		return "<none>"
	}
	return string(b)
}

func (f *fixture) inject(text string) *s3cas.Injection {
	f.t.Helper()
	fault, err := s3cas.ParseFault(text)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.Inject(fault)
}

func (f *fixture) mode(name string, args ...string) {
	f.t.Helper()
	if err := f.SetMode(name, args...); err != nil {
		f.t.Fatal(err)
	}
}

// want compares replies, objects and the like by their text.
func want(t *testing.T, what string, got, expected any) {
	t.Helper()
	if g, e := fmt.Sprint(got), fmt.Sprint(expected); g != e {
		t.Fatalf("%s:\n got %s\nwant %s", what, g, e)
	}
}

// sdkCode is the S3 code of an SDK error, and its status.
func sdkCode(err error) string {
	if err == nil {
		return "ok"
	}
	var api smithy.APIError
	var re *smithyhttp.ResponseError
	code, status := "transport", 0
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	if errors.As(err, &re) {
		status = re.HTTPStatusCode()
	}
	return fmt.Sprintf("%d %s", status, code)
}

// stream opens a GET and leaves the body to be read.
func (f *fixture) stream(path string) *http.Response {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.ctx, "GET", f.URL()+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}
