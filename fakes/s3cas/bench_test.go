package s3cas_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"contextful/fakes/s3cas"
)

// The benchmarks send signed requests over loopback, 16 at a time. With BENCH_S3_ENDPOINT, _BUCKET, _ACCESS_KEY and _SECRET_KEY in the
// environment the same client asks that server instead, so that two runs compare:
//
//	go test -run '^$' -bench 1K ./fakes/s3cas

type benchTarget struct {
	url, bucket string
	creds       aws.Credentials
	client      *http.Client
	signer      *v4.Signer
}

func newBench(b *testing.B) *benchTarget {
	b.Helper()
	g := &benchTarget{url: os.Getenv("BENCH_S3_ENDPOINT"), bucket: os.Getenv("BENCH_S3_BUCKET"), signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })}
	g.creds = aws.Credentials{AccessKeyID: os.Getenv("BENCH_S3_ACCESS_KEY"), SecretAccessKey: os.Getenv("BENCH_S3_SECRET_KEY")}
	g.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.Cleanup(g.client.CloseIdleConnections)
	if g.url != "" {
		return g
	}
	s, err := s3cas.New(s3cas.Options{Buckets: []string{bkt}, Principals: []s3cas.Principal{{AccessKey: "AK", Secret: "SK", Name: "bench"}}, JournalLimit: 10_000}).Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	g.url, g.bucket, g.creds = s.URL(), bkt, aws.Credentials{AccessKeyID: "AK", SecretAccessKey: "SK"}
	return g
}

func (g *benchTarget) do(b *testing.B, method, key string, body []byte, headers ...string) {
	req, err := http.NewRequestWithContext(b.Context(), method, g.url+"/"+g.bucket+"/"+key, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if err := g.signer.SignHTTP(context.Background(), g.creds, req, hash, "s3", "us-east-1", time.Now()); err != nil {
		b.Error(err)
		return
	}
	res, err := g.client.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	out, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		b.Errorf("%s %s: %s %s", method, key, res.Status, out)
	}
}

func BenchmarkPut1K(b *testing.B) {
	g := newBench(b)
	body := bytes.Repeat([]byte("x"), 1024)
	var n atomic.Int64
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.do(b, "PUT", fmt.Sprintf("bench/put/%d", n.Add(1)), body)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

func BenchmarkGet1K(b *testing.B) {
	g := newBench(b)
	for i := range 100 {
		g.do(b, "PUT", fmt.Sprintf("bench/get/%d", i), bytes.Repeat([]byte("x"), 1024))
	}
	var n atomic.Int64
	b.SetParallelism(8)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.do(b, "GET", fmt.Sprintf("bench/get/%d", n.Add(1)%100), nil)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkList100k pages through 100,000 keys, without HTTP.
func BenchmarkList100k(b *testing.B) {
	s := s3cas.New(s3cas.Options{Buckets: []string{bkt}})
	for i := range 100_000 {
		s.Put(bkt, fmt.Sprintf("tables/t%03d/data/runs/%08d/part-00000.parquet", i%100, i), nil)
	}
	b.ResetTimer()
	for range b.N {
		if n := len(s.Keys(bkt, "")); n != 100_000 {
			b.Fatal(n)
		}
	}
}
