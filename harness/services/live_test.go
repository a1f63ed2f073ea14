package services

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// The tests of this file need real services. Where one cannot be had they do not pass in silence: with CI=true or
// CONFORM_REQUIRE_SERVICES=1 they fail, otherwise they say loudly what is missing and check that the refusal does.

// had reports whether err is nil; an unavailable service is judged as described above. Each word must be in the
// refusal.
func had(t *testing.T, err error, words ...string) bool {
	t.Helper()
	if err == nil {
		return true
	}
	u := refused(t, err, words...)
	if os.Getenv("CI") == "true" || os.Getenv("CONFORM_REQUIRE_SERVICES") == "1" {
		t.Fatalf("services are required here: %v", u)
	}
	t.Logf("NOT TESTED: %v", u)
	return false
}

// closing closes the Manager at the end and fails the test if that fails.
func closing(t *testing.T, m *Manager) {
	t.Helper()
	t.Cleanup(func() {
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func images(name string) string {
	if name == EnvMinIOImage || name == EnvPostgresImage {
		return os.Getenv(name)
	}
	return ""
}

func TestDockerServices(t *testing.T) {
	m := New(Options{Mode: Docker, Getenv: images, Log: t.Logf})
	closing(t, m)
	useBoth(t, m, "docker: ")
	running := 0
	for _, st := range m.Report() {
		if st.State == Running {
			running++
		}
	}
	if running == 0 {
		return // both were refused, which useBoth has judged
	}
	if got := mine(t); len(got) != running {
		t.Errorf("%d containers of this process run, want %d", len(got), running)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mine(t); len(got) != 0 {
		t.Errorf("containers are left behind: %v", got)
	}
}

func TestLocalServices(t *testing.T) {
	// .ci/images keeps the server it built for the image.
	built, err := filepath.Abs("../../build/images/bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", built+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", "/tmp") // Postgres runs as another user, who may not enter the test's own directory
	m := New(Options{Mode: Local, Getenv: images, Log: t.Logf})
	closing(t, m)
	useBoth(t, m, "local: ")
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// useBoth asks for both services from several goroutines at once and uses what it gets.
func useBoth(t *testing.T, m *Manager, word string) {
	t.Helper()
	const callers = 4
	endpoints, databases := make([]*Endpoint, callers), make([]*Database, callers)
	errs3, errsDB := make([]error, callers), make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { endpoints[i], errs3[i] = m.MinIO(t.Context()) })
		all.Go(func() { databases[i], errsDB[i] = m.Postgres(t.Context()) })
	}
	all.Wait()
	if had(t, errs3[0], word) {
		for i := range callers {
			if errs3[i] != nil || *endpoints[i] != *endpoints[0] {
				t.Fatalf("caller %d got %+v, %v", i, endpoints[i], errs3[i])
			}
		}
		putAndGet(t, *endpoints[0])
	}
	if had(t, errsDB[0], word) {
		for i := range callers {
			if errsDB[i] != nil || *databases[i] != *databases[0] {
				t.Fatalf("caller %d got %v, %v", i, databases[i], errsDB[i])
			}
		}
		query(t, *databases[0])
	}
}

func putAndGet(t *testing.T, e Endpoint) {
	t.Helper()
	api := s3.New(s3.Options{
		BaseEndpoint: aws.String(e.URL), Region: e.Region, UsePathStyle: true,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey}, nil
		}),
	})
	bucket, key, body := aws.String("services-test"), aws.String("a/b c.json"), []byte(`{"ok":true}`)
	if _, err := api.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	put := &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(body), IfNoneMatch: aws.String("*")}
	if _, err := api.PutObject(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	put.Body = bytes.NewReader([]byte("another"))
	if _, err := api.PutObject(t.Context(), put); err == nil || !strings.Contains(err.Error(), "PreconditionFailed") {
		t.Errorf("the second create of one key: %v, want PreconditionFailed", err)
	}
	got, err := api.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err := errors.Join(err, got.Body.Close()); err != nil || !bytes.Equal(text, body) {
		t.Errorf("read %q, %v; want %q", text, err, body)
	}
}

func query(t *testing.T, db Database) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var n int
	if err := conn.QueryRow(t.Context(), "select 1").Scan(&n); err != nil || n != 1 {
		t.Errorf("select 1: %d, %v", n, err)
	}
	if _, err := conn.Exec(t.Context(), "create schema mine; create table mine.lease (key text primary key, fence bigint)"); err != nil {
		t.Error(err)
	}
}

// docker is the daemon's API, or nil where there is none (judged as described above).
func docker(t *testing.T) client.APIClient {
	t.Helper()
	m := New(Options{Mode: Docker, Getenv: images, Log: t.Logf})
	closing(t, m)
	if _, err := m.MinIO(t.Context()); !had(t, err, "docker: ") {
		return nil
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dockerAPI(t)
}

func dockerAPI(t *testing.T) client.APIClient {
	t.Helper()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	return provider.Client()
}

// mine lists the containers that carry this process's label.
func mine(t *testing.T) []string {
	t.Helper()
	list, err := dockerAPI(t).ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", LabelOwner+"="+self())})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range list.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// A server that never becomes ready is removed all the same, and its last words are in the refusal.
func TestFailedContainerIsRemoved(t *testing.T) {
	if docker(t) == nil {
		return
	}
	wrong := os.Getenv(EnvPostgresImage)
	if wrong == "" {
		wrong = DefaultPostgresImage
	}
	m := New(Options{Mode: Docker, Log: t.Logf, Getenv: settings(map[string]string{EnvMinIOImage: wrong})})
	closing(t, m)
	_, err := m.MinIO(t.Context())
	refused(t, err, "docker: ", wrong, "last words", "server")
	if got := mine(t); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestUnknownImageIsRefusedQuickly(t *testing.T) {
	if docker(t) == nil {
		return
	}
	m := New(Options{Mode: Docker, Log: t.Logf, Getenv: settings(map[string]string{EnvMinIOImage: "localhost:1/contextful/none:1"})})
	closing(t, m)
	_, err := m.MinIO(t.Context())
	refused(t, err, "localhost:1/contextful/none:1", ".ci/images")
}

func TestStraceStopsAProcess(t *testing.T) {
	path, version, err := Strace(t.Context())
	if !had(t, err, "strace") {
		return
	}
	if path == "" || version == "" {
		t.Errorf("strace %q version %q", path, version)
	}
	t.Logf("strace %s at %s", version, path)
}
