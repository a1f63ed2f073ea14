package bucket_test

import (
	"testing"

	"contextful/ref/bucket"
	"contextful/ref/bucket/buckettest"
)

func TestMemory(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket { return bucket.NewMemory() })
}

func TestUnder(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket {
		m := bucket.NewMemory()
		m.Set("team/ax", []byte("a neighbour"))
		m.Set("team", []byte("a neighbour"))
		return bucket.Under(m, "/team/a/")
	})
}

func TestParseEndpoint(t *testing.T) {
	for _, c := range []struct{ endpoint, region, url, dir, signed, addressing string }{
		{"file:///srv/b/", "", "", "/srv/b", "", "directory"},
		{"s3://eu-west-1", "us-east-2", "", "", "eu-west-1", "virtual-host"},
		{"r2://0AbC9", "eu", "https://0abc9.r2.cloudflarestorage.com", "", "auto", "path"},
		{"https://minio.example:9000", "", "https://minio.example:9000", "", "us-east-1", "path"},
		{"https://minio.example/", "eu-1", "https://minio.example", "", "eu-1", "path"},
		{"http://127.0.0.1:9", "", "http://127.0.0.1:9", "", "us-east-1", "path"},
		{"http://[::1]:9", "", "http://[::1]:9", "", "us-east-1", "path"},
		{"http://localhost", "", "http://localhost", "", "us-east-1", "path"},
	} {
		at, err := bucket.ParseEndpoint(c.endpoint, c.region)
		if err != nil || at.URL != c.url || at.Dir != c.dir || at.Region != c.signed || at.Addressing() != c.addressing {
			t.Errorf("%s: %+v %v", c.endpoint, at, err)
		}
	}
	for _, bad := range []string{"", "x", "ftp://h", "http://example.com", "file://relative", "s3://", "s3://a/b", "s3://EU", "r2://", "r2://a.b",
		"https://", "https://h/path", "https://u:p@h", "https://h?x=1", "http://127.0.0.1.evil.example"} {
		if at, err := bucket.ParseEndpoint(bad, ""); err == nil {
			t.Errorf("%q is taken as %+v", bad, at)
		}
	}
}
