package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"contextful/harness/proxy"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// through is an S3 client that goes through the proxy as its environment says.
func through(t *testing.T, p *proxy.Proxy, endpoint, region string, pathStyle bool) *s3.Client {
	t.Helper()
	env := p.Env()
	pem, err := os.ReadFile(env["SSL_CERT_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the bundle holds no certificate")
	}
	via, err := url.Parse(env["HTTPS_PROXY"])
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(via), TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return s3.New(s3.Options{Region: region, BaseEndpoint: aws.String(endpoint), UsePathStyle: pathStyle, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		})})
}

func TestSeenAndServed(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint, region string
		path             bool
		want             proxy.Seen
	}{
		"virtual-hosted": {"https://s3.eu-west-1.amazonaws.com", "eu-west-1", false,
			proxy.Seen{Scheme: "https", Host: "conform.s3.eu-west-1.amazonaws.com", Method: "PUT", Region: "eu-west-1", Bucket: "conform"}},
		"path": {"https://minio.example:9000", "us-east-1", true,
			proxy.Seen{Scheme: "https", Host: "minio.example:9000", Method: "PUT", Region: "us-east-1", Bucket: "conform", Path: true}},
		"in the clear": {"http://minio.example", "auto", true,
			proxy.Seen{Scheme: "http", Host: "minio.example", Method: "PUT", Region: "auto", Bucket: "conform", Path: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := proxy.Start(t.TempDir(), "conform")
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}()
			client := through(t, p, c.endpoint, c.region, c.path)
			ctx := context.Background()
			if _, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("conform"), Key: aws.String("a/b"), Body: strings.NewReader("text")}); err != nil {
				t.Fatal(err)
			}
			out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("conform"), Key: aws.String("a/b")})
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(out.Body)
			if err != nil || string(body) != "text" {
				t.Fatalf("read %q, %v", body, err)
			}
			seen := p.Seen()
			if len(seen) != 2 || seen[0] != c.want || seen[1].Method != "GET" {
				t.Errorf("seen %v, want first %v", seen, c.want)
			}
		})
	}
}
