package services

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// settings is an environment for a Manager: what it lacks is not set, whatever this process has.
func settings(kv map[string]string) func(string) string {
	return func(name string) string { return kv[name] }
}

// refused wants an *Unavailable whose reasons mention each of the words, and returns it.
func refused(t *testing.T, err error, words ...string) *Unavailable {
	t.Helper()
	var u *Unavailable
	if !errors.As(err, &u) {
		t.Fatalf("got %v (%T), want *Unavailable", err, err)
	}
	if u.Service == "" || len(u.Reasons) == 0 {
		t.Fatalf("a refusal without a service or a reason: %+v", u)
	}
	for _, word := range words {
		if !strings.Contains(u.Error(), word) {
			t.Errorf("the refusal does not mention %q: %v", word, u)
		}
	}
	return u
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{"": Auto, "auto": Auto, "docker": Docker, "local": Local, "none": None} {
		if got, err := ParseMode(text); err != nil || got != want {
			t.Errorf("ParseMode(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := ParseMode("podman"); err == nil || !strings.Contains(err.Error(), `"podman"`) {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestNoneRefusesAndSaysSo(t *testing.T) {
	m := New(Options{Mode: None})
	_, err := m.MinIO(t.Context())
	refused(t, err, "minio", "switched off")
	_, err = m.Postgres(t.Context())
	refused(t, err, "postgres", "switched off")
	for _, st := range m.Report() {
		if st.State != Failed || len(st.Reasons) == 0 {
			t.Errorf("report: %+v", st)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNothingStartsUnasked(t *testing.T) {
	m := New(Options{Mode: Auto, Getenv: settings(nil)})
	for _, st := range m.Report() {
		if st.State != NotAsked {
			t.Errorf("report: %+v", st)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := m.MinIO(t.Context())
	refused(t, err, "closed")
}

func TestGivenEndpointIsTakenAsItIs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	m := New(Options{Getenv: settings(map[string]string{
		"CONFORM_MINIO_ENDPOINT": server.URL + "/", "CONFORM_MINIO_ACCESS_KEY": "a", "CONFORM_MINIO_SECRET_KEY": "b",
	})})
	e, err := m.MinIO(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (Endpoint{URL: server.URL, AccessKey: "a", SecretKey: "b", Region: "us-east-1"}); *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
	if st := m.Report()[0]; st.State != Running || st.How != "environment" || st.Address != server.URL {
		t.Errorf("report: %+v", st)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A given address that cannot be used ends the search: no other way may stand in for it.
func TestBadGivenAddressIsFinal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{"CONFORM_MINIO_ACCESS_KEY": "a", "CONFORM_MINIO_SECRET_KEY": "b"}
	cases := map[string]struct {
		env   map[string]string
		words []string
	}{
		"dead":       {map[string]string{"CONFORM_MINIO_ENDPOINT": "http://" + dead}, []string{dead, "does not answer"}},
		"not a URL":  {map[string]string{"CONFORM_MINIO_ENDPOINT": "100%:9000"}, []string{"http or https"}},
		"wrong kind": {map[string]string{"CONFORM_MINIO_ENDPOINT": "s3://bucket"}, []string{"http or https"}},
		"no keys": {map[string]string{"CONFORM_MINIO_ENDPOINT": "http://" + dead, "CONFORM_MINIO_ACCESS_KEY": "", "CONFORM_MINIO_SECRET_KEY": ""},
			[]string{"CONFORM_MINIO_ACCESS_KEY"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{}
			for k, v := range keys {
				env[k] = v
			}
			for k, v := range c.env {
				env[k] = v
			}
			m := New(Options{Getenv: settings(env)})
			_, err := m.MinIO(t.Context())
			u := refused(t, err, append(c.words, "CONFORM_MINIO_ENDPOINT")...)
			if len(u.Reasons) != 1 {
				t.Errorf("other ways were tried: %q", u.Reasons)
			}
			if err := m.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("postgres hides the password", func(t *testing.T) {
		m := New(Options{Getenv: settings(map[string]string{"CONFORM_POSTGRES_URL": "postgres://u:hush@" + dead + "/d?sslmode=disable"})})
		_, err := m.Postgres(t.Context())
		u := refused(t, err, "CONFORM_POSTGRES_URL", "does not answer")
		if strings.Contains(u.Error(), "hush") || len(u.Reasons) != 1 {
			t.Errorf("refusal: %v", u)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Without an address, an image or a binary, the refusal names each way and what it said.
func TestRefusalNamesEveryWay(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	// With or without a daemon: this image is nowhere.
	m := New(Options{Mode: Auto, Log: t.Logf, Getenv: settings(map[string]string{EnvMinIOImage: "localhost:1/contextful/none:1"})})
	_, err := m.MinIO(t.Context())
	u := refused(t, err)
	if len(u.Reasons) != 3 {
		t.Fatalf("reasons: %q", u.Reasons)
	}
	for i, prefix := range []string{"environment: CONFORM_MINIO_ENDPOINT", "docker: ", "local: no binary minio"} {
		if !strings.HasPrefix(u.Reasons[i], prefix) {
			t.Errorf("reason %d is %q, want it to begin with %q", i, u.Reasons[i], prefix)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, _, err = Strace(t.Context())
	refused(t, err, "strace", "PATH")
}

// fake makes a Manager whose S3 server comes from the given ways.
func fake(ways ...way[Endpoint]) *Manager {
	m := New(Options{Mode: None})
	m.minio = newSlot(NameMinIO, ways)
	return m
}

func TestStartedOnceForMany(t *testing.T) {
	var starts, stops atomic.Int32
	open := make(chan struct{})
	m := fake(
		way[Endpoint]{"first", func(context.Context) (running[Endpoint], error) { return running[Endpoint]{}, errors.New("broken") }},
		way[Endpoint]{"second", func(context.Context) (running[Endpoint], error) {
			starts.Add(1)
			<-open
			return running[Endpoint]{value: Endpoint{URL: "here"}, address: "here", stop: func(context.Context) error {
				stops.Add(1)
				return nil
			}}, nil
		}},
	)
	impatient, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := m.MinIO(impatient); !errors.Is(err, context.Canceled) {
			t.Errorf("the impatient caller got %v", err)
		}
	})
	cancel()
	waiting.Wait()
	for range 16 {
		waiting.Go(func() {
			if e, err := m.MinIO(t.Context()); err != nil || e.URL != "here" {
				t.Errorf("got %+v, %v", e, err)
			}
		})
	}
	if st := m.Report()[0]; st.State != Starting {
		t.Errorf("report while starting: %+v", st)
	}
	close(open)
	waiting.Wait()
	if st := m.Report()[0]; st.State != Running || st.How != "second" || len(st.Reasons) != 1 {
		t.Errorf("report: %+v", st)
	}
	for range 2 {
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if starts.Load() != 1 || stops.Load() != 1 {
		t.Errorf("%d starts and %d stops, want one of each", starts.Load(), stops.Load())
	}
	_, err := m.MinIO(t.Context())
	refused(t, err, "closed")
}

// Close while a start is under way ends it, and nothing is left.
func TestCloseEndsAStart(t *testing.T) {
	began := make(chan struct{})
	var after atomic.Int32
	m := fake(
		way[Endpoint]{"slow", func(ctx context.Context) (running[Endpoint], error) {
			close(began)
			<-ctx.Done()
			return running[Endpoint]{}, ctx.Err()
		}},
		way[Endpoint]{"next", func(context.Context) (running[Endpoint], error) {
			after.Add(1)
			return running[Endpoint]{}, errors.New("must not be tried")
		}},
	)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := m.MinIO(t.Context())
		refused(t, err, "slow")
	})
	<-began
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	waiting.Wait()
	if after.Load() != 0 {
		t.Error("another way was tried after Close")
	}
}

func TestStraceVersion(t *testing.T) {
	for said, want := range map[string]string{"strace -- version 6.1\nCopyright": "6.1", "strace -- version 5.3": "5.3", "strace -- version 6.12.0": "6.12"} {
		if got, err := straceVersion([]byte(said)); err != nil || got != want {
			t.Errorf("straceVersion(%q) = %q, %v", said, got, err)
		}
	}
	for _, said := range []string{"strace -- version 5.2", "strace -- version 4.26", "busybox", ""} {
		if got, err := straceVersion([]byte(said)); err == nil {
			t.Errorf("straceVersion(%q) = %q", said, got)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var out tail
	line := strings.Repeat("x", 1000) + "\n"
	for range 40 {
		if n, err := out.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := out.Write([]byte("the end")); err != nil {
		t.Fatal(err)
	}
	got := out.bytes()
	if len(got) != keptOutput || !strings.HasSuffix(string(got), "the end") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-10:])
	}
}
