// Package s3castest is a contract: what AWS documents of conditional requests, asked over HTTP with the AWS SDK of any server that
// speaks S3. It is run against s3cas itself and against real servers, and each difference is a named row.
//
//	s3castest.Run(t, s3castest.Target{
//		Endpoint: url, Bucket: "b", AccessKey: "…", Secret: "…",
//		Differs: s3castest.MinIO(),
//	})
//
// A row that answers otherwise than AWS fails, unless Differs names it with that very answer; a named difference that has gone away
// fails too, so the list stays true. What one request after the other cannot show (a window between check and write) the race rows
// look for; they can miss a window, never invent one.
package s3castest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Target is the server under test. The bucket exists; the suite writes under a fresh prefix of it and leaves what it wrote.
type Target struct {
	Endpoint          string // http://host:port
	Bucket            string
	AccessKey, Secret string
	Region            string // default us-east-1
	Prefix            string // default contract/<random>/
	HTTPClient        *http.Client
	Racers            int               // writers in a race, default 8
	Rounds            int               // races a row runs, default 5
	Differs           map[string]string // row name → what this server answers instead
}

// Row is one question of the contract.
type Row struct {
	Name string // names the difference where there is one
	Asks string
	Want string // AWS's answer: "ok", or status and code, or what the row says
	run  func(*probe) string
}

// Rows lists the contract.
func Rows() []Row {
	return slices.Concat(putRows(), deleteRows(), readRows(), listRows(), otherRows(), raceRows())
}

// Run asks every row of the target, each as a subtest.
func Run(t *testing.T, target Target) {
	t.Helper()
	target = target.withDefaults(t)
	known := map[string]bool{}
	for i, row := range Rows() {
		known[row.Name] = true
		t.Run(row.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			p := &probe{t: t, ctx: ctx, target: target, c: target.client(target.AccessKey, target.Secret), prefix: fmt.Sprintf("%s%02d/", target.Prefix, i)}
			got := row.run(p)
			want, differs := target.Differs[row.Name]
			switch {
			case !differs && got != row.Want:
				t.Errorf("%s\n got %s\nwant %s", row.Asks, got, row.Want)
			case differs && got == row.Want:
				t.Errorf("%s\n got %s, as AWS: the difference %q is no more", row.Asks, got, row.Name)
			case differs && got != want:
				t.Errorf("%s\n got %s\nwant %s, the difference named for this server (AWS: %s)", row.Asks, got, want, row.Want)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(target.Differs)) {
		if !known[name] {
			t.Errorf("the difference %q names no row", name)
		}
	}
}

func (g Target) withDefaults(t *testing.T) Target {
	t.Helper()
	if g.Region == "" {
		g.Region = "us-east-1"
	}
	if g.Racers == 0 {
		g.Racers = 8
	}
	if g.Rounds == 0 {
		g.Rounds = 5
	}
	if g.Prefix == "" {
		id := make([]byte, 8)
		if _, err := rand.Read(id); err != nil {
			t.Fatal(err)
		}
		g.Prefix = "contract/" + hex.EncodeToString(id) + "/"
	}
	return g
}

func (g Target) client(key, secret string) *s3.Client {
	o := s3.Options{
		BaseEndpoint: &g.Endpoint, UsePathStyle: true, Region: g.Region, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
		}),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if g.HTTPClient != nil {
		o.HTTPClient = g.HTTPClient
	}
	return s3.New(o)
}

// probe asks one row's questions under a prefix of its own.
type probe struct {
	t      *testing.T
	ctx    context.Context
	target Target
	c      *s3.Client
	prefix string
}

// said is an answer in the words of the table: ok, or status and code.
func said(err error) string {
	if err == nil {
		return "ok"
	}
	var re *smithyhttp.ResponseError
	if !errors.As(err, &re) {
		return "transport: " + err.Error()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return fmt.Sprintf("%d %s", re.HTTPStatusCode(), api.ErrorCode())
	}
	return fmt.Sprint(re.HTTPStatusCode())
}

func (p *probe) bucket() *string { return &p.target.Bucket }

func (p *probe) key(name string) *string { return aws.String(p.prefix + name) }

// must makes a setup step's failure the row's.
func (p *probe) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// seed writes without a condition and returns the ETag as answered.
func (p *probe) seed(name, body string) string {
	p.t.Helper()
	out, err := p.c.PutObject(p.ctx, &s3.PutObjectInput{Bucket: p.bucket(), Key: p.key(name), Body: strings.NewReader(body)})
	p.must("seeding "+name, err)
	return aws.ToString(out.ETag)
}

// put writes under conditions; an empty one is not sent.
func (p *probe) put(name, body, ifMatch, ifNoneMatch string) string {
	in := &s3.PutObjectInput{Bucket: p.bucket(), Key: p.key(name), Body: strings.NewReader(body)}
	if ifMatch != "" {
		in.IfMatch = &ifMatch
	}
	if ifNoneMatch != "" {
		in.IfNoneMatch = &ifNoneMatch
	}
	_, err := p.c.PutObject(p.ctx, in)
	return said(err)
}

func (p *probe) del(name, ifMatch string) string {
	in := &s3.DeleteObjectInput{Bucket: p.bucket(), Key: p.key(name)}
	if ifMatch != "" {
		in.IfMatch = &ifMatch
	}
	_, err := p.c.DeleteObject(p.ctx, in)
	return said(err)
}

// content is what is at a name, or the refusal.
func (p *probe) content(name string) string {
	out, err := p.c.GetObject(p.ctx, &s3.GetObjectInput{Bucket: p.bucket(), Key: p.key(name)})
	if err != nil {
		return said(err)
	}
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	if err != nil {
		return "reading: " + err.Error()
	}
	return string(b)
}
