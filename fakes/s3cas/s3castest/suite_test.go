package s3castest_test

import (
	"os"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/fakes/s3cas/s3castest"
)

func start(t *testing.T) *s3cas.Server {
	t.Helper()
	s, err := s3cas.New(s3cas.Options{Buckets: []string{"contract"}, Principals: []s3cas.Principal{{AccessKey: "AK", Secret: "SK", Name: "asker"}}}).Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestFake(t *testing.T) {
	s := start(t)
	s3castest.Run(t, s3castest.Target{Endpoint: s.URL(), Bucket: "contract", AccessKey: "AK", Secret: "SK"})
}

// TestFakeAsMinIO: the dialect answers what MinIO was measured to answer.
func TestFakeAsMinIO(t *testing.T) {
	s := start(t)
	if err := s.UseDialect("minio"); err != nil {
		t.Fatal(err)
	}
	s3castest.Run(t, s3castest.Target{Endpoint: s.URL(), Bucket: "contract", AccessKey: "AK", Secret: "SK", Differs: s3castest.MinIO()})
}

// TestFakeThatLies: the contract sees a server that does not look at conditions, in the race rows too.
func TestFakeThatLies(t *testing.T) {
	s := start(t)
	for _, mode := range []string{"ignore_if_match", "ignore_if_none_match"} {
		if err := s.SetMode(mode); err != nil {
			t.Fatal(err)
		}
	}
	s3castest.Run(t, s3castest.Target{Endpoint: s.URL(), Bucket: "contract", AccessKey: "AK", Secret: "SK", Differs: map[string]string{
		"put/create-present": "ok new", "put/replace-stale": "ok mine", "put/replace-missing": "ok v", "put/replace-deleted": "ok v",
		"put/both": "ok", "put/none-match-etag": "ok", "multipart/create-present": "ok parts", "multipart/replace-stale": "ok parts",
		"copy/create-present": "ok v", "race/create": "8 winners", "race/replace": "8 winners",
	}})
}

// TestElsewhere asks a real server, given by the environment: CONTRACT_S3_ENDPOINT, _BUCKET, _ACCESS_KEY, _SECRET_KEY, and _DIALECT
// (minio) for its named differences. Without an endpoint there is nothing to ask, and the fake stands in.
func TestElsewhere(t *testing.T) {
	g := s3castest.Target{
		Endpoint: os.Getenv("CONTRACT_S3_ENDPOINT"), Bucket: os.Getenv("CONTRACT_S3_BUCKET"),
		AccessKey: os.Getenv("CONTRACT_S3_ACCESS_KEY"), Secret: os.Getenv("CONTRACT_S3_SECRET_KEY"),
	}
	if g.Endpoint == "" {
		g = s3castest.Target{Endpoint: start(t).URL(), Bucket: "contract", AccessKey: "AK", Secret: "SK"}
	} else if os.Getenv("CONTRACT_S3_DIALECT") == "minio" {
		g.Differs = s3castest.MinIO()
	}
	s3castest.Run(t, g)
}
