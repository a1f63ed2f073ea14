package s3cas_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"contextful/fakes/s3cas"
)

func TestSDKRoundTrip(t *testing.T) {
	f := start(t)
	c := f.sdk("alpha")
	for _, key := range []string{"plain", "a//b", "a/../b", "sp ace/+plus#hash?q=&x", "ünï/cödé", "end/", "pct%2Fkey", "~tilde*'()"} {
		put, err := c.PutObject(f.ctx, &s3.PutObjectInput{Bucket: aws.String(bkt), Key: &key, Body: strings.NewReader("body of " + key), ContentType: aws.String("text/x"), Metadata: map[string]string{"who": "me"}})
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		want(t, "stored "+key, f.content(key), "body of "+key)
		got, err := c.GetObject(f.ctx, &s3.GetObjectInput{Bucket: aws.String(bkt), Key: &key})
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		body, _ := io.ReadAll(got.Body)
		want(t, "read", string(body), "body of "+key)
		want(t, "etag", *got.ETag, *put.ETag)
		want(t, "type and metadata", fmt.Sprint(*got.ContentType, " ", got.Metadata), "text/x map[who:me]")
		want(t, "modified", got.LastModified.UTC(), f.now.Now())
	}
	out, err := c.ListObjectsV2(f.ctx, &s3.ListObjectsV2Input{Bucket: aws.String(bkt), Prefix: aws.String("a/")})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "listed", fmt.Sprint(*out.Contents[0].Key, " ", *out.Contents[1].Key, " ", *out.KeyCount), "a/../b a//b 2")
	for _, e := range f.Journal() {
		if e.Principal != "alpha" || e.Region != "eu-west-1" {
			t.Fatalf("principal or region: %+v", e)
		}
	}
}

func TestSDKConditions(t *testing.T) {
	f := start(t)
	c := f.sdk("alpha")
	put := func(im, inm string) string {
		in := &s3.PutObjectInput{Bucket: aws.String(bkt), Key: aws.String("k"), Body: strings.NewReader("v")}
		if im != "" {
			in.IfMatch = &im
		}
		if inm != "" {
			in.IfNoneMatch = &inm
		}
		_, err := c.PutObject(f.ctx, in)
		return sdkCode(err)
	}
	want(t, "If-Match on a missing key", put(`"x"`, ""), "404 NoSuchKey")
	want(t, "create", put("", "*"), "ok")
	want(t, "create again", put("", "*"), "412 PreconditionFailed")
	want(t, "stale", put(`"x"`, ""), "412 PreconditionFailed")
	want(t, "current", put(`"`+f.etag("k")+`"`, ""), "ok")
	want(t, "both", put(`"`+f.etag("k")+`"`, "*"), "501 NotImplemented")
	want(t, "If-None-Match with a tag", put("", `"x"`), "501 NotImplemented")
	_, err := c.HeadObject(f.ctx, &s3.HeadObjectInput{Bucket: aws.String(bkt), Key: aws.String("none")})
	want(t, "HEAD of nothing", sdkCode(err), "404 NotFound")
}

// TestSDKDefaultsChunked proves that a client on its default settings, which sends aws-chunked bodies with a trailing checksum over
// TLS, is understood and verified.
func TestSDKDefaultsChunked(t *testing.T) {
	f := start(t)
	ts := httptest.NewTLSServer(f.Server)
	defer ts.Close()
	byDefault := func(o *s3.Options) {
		o.RequestChecksumCalculation, o.ResponseChecksumValidation = aws.RequestChecksumCalculationWhenSupported, aws.ResponseChecksumValidationWhenSupported
	}
	_, err := f.sdk("alpha", byDefault).PutObject(f.ctx, &s3.PutObjectInput{Bucket: aws.String(bkt), Key: aws.String("plain"), Body: strings.NewReader("x")})
	want(t, "without TLS the checksum is a header", sdkCode(err), "ok")
	c := f.sdk("alpha", byDefault, func(o *s3.Options) { o.BaseEndpoint, o.HTTPClient = aws.String(ts.URL), ts.Client() })
	big := make([]byte, 3<<20)
	_, _ = rand.Read(big)
	for _, alg := range []types.ChecksumAlgorithm{"", types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256, types.ChecksumAlgorithmCrc64nvme} {
		for _, body := range [][]byte{nil, []byte("small"), big} {
			key := "k-" + string(alg)
			put, err := c.PutObject(f.ctx, &s3.PutObjectInput{Bucket: aws.String(bkt), Key: &key, Body: bytes.NewReader(body), ChecksumAlgorithm: alg})
			if err != nil {
				t.Fatalf("%s: %v", alg, err)
			}
			if got, _, _ := f.Get(bkt, key); !bytes.Equal(got, body) {
				t.Fatalf("%s: %d bytes stored of %d", alg, len(got), len(body))
			}
			got, err := c.GetObject(f.ctx, &s3.GetObjectInput{Bucket: aws.String(bkt), Key: &key})
			if err != nil {
				t.Fatal(err)
			}
			if back, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(back, body) {
				t.Fatalf("%s: read back: %v", alg, err)
			}
			want(t, "etag", *got.ETag, *put.ETag)
		}
	}
	f.mode("reject_aws_chunked")
	_, err = c.PutObject(f.ctx, &s3.PutObjectInput{Bucket: aws.String(bkt), Key: aws.String("no"), Body: strings.NewReader("x")})
	want(t, "the trailer was really there", sdkCode(err), "501 NotImplemented")
}

func TestSDKSignature(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.Anonymous = false })
	list := func(c *s3.Client) string {
		_, err := c.ListObjectsV2(f.ctx, &s3.ListObjectsV2Input{Bucket: aws.String(bkt), Prefix: aws.String("a b+c/ü")})
		return sdkCode(err)
	}
	want(t, "known", list(f.sdk("beta")), "ok")
	want(t, "unknown", list(f.sdk("gamma")), "403 InvalidAccessKeyId")
	want(t, "wrong secret", list(f.sdk("beta", func(o *s3.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKBETA", SecretAccessKey: "no"}, nil
		})
	})), "403 SignatureDoesNotMatch")
	want(t, "unsigned", f.get("k"), "403 AccessDenied")
	f.RemovePrincipal("AKBETA")
	want(t, "removed", list(f.sdk("beta")), "403 InvalidAccessKeyId")
}

func TestSDKPresigned(t *testing.T) {
	f := start(t, func(o *s3cas.Options) { o.Anonymous = false })
	f.Put(bkt, "a b/k", []byte("hello"))
	p := s3.NewPresignClient(f.sdk("alpha"))
	req, err := p.PresignGetObject(f.ctx, &s3.GetObjectInput{Bucket: aws.String(bkt), Key: aws.String("a b/k"), ResponseContentType: aws.String("text/y")})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(req.URL, f.URL())
	r := f.do("GET", path, "")
	want(t, "read", r.String()+r.body+r.header.Get("Content-Type"), "200hellotext/y")
	want(t, "tampered", f.do("GET", strings.Replace(path, "k?", "j?", 1), ""), "403 SignatureDoesNotMatch")
	put, err := p.PresignPutObject(f.ctx, &s3.PutObjectInput{Bucket: aws.String(bkt), Key: aws.String("new")}, func(o *s3.PresignOptions) { o.Presigner = v4.NewSigner() })
	if err != nil {
		t.Fatal(err)
	}
	want(t, "write", f.do("PUT", strings.TrimPrefix(put.URL, f.URL()), "", "Content-Length", "0"), "200")
}
