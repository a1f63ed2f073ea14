package dirbucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"contextful/ref/bucket"
	"contextful/ref/bucket/buckettest"
	"contextful/ref/bucket/dirbucket"
)

// TestMain lets the test binary be a second writer process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DIRBUCKET_COUNT"); dir != "" {
		if err := count(dir, 10); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T, dir string) *dirbucket.Bucket {
	t.Helper()
	b, err := dirbucket.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestContract(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) bucket.Bucket { return open(t, filepath.Join(t.TempDir(), "deep", "bucket")) })
}

func count(dir string, n int) error {
	b, err := dirbucket.Open(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for done := 0; done < n; {
		r, o, err := b.Get(ctx, "n")
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil {
			return err
		}
		was, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		next := strconv.Itoa(was + 1)
		_, err = b.Put(ctx, "n", strings.NewReader(next), int64(len(next)), bucket.Condition{IfMatch: o.ETag})
		if err == nil {
			done++
		} else if !errors.Is(err, bucket.ErrCondition) {
			return err
		}
	}
	return nil
}

func TestProcessesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	if _, err := b.Put(context.Background(), "n", strings.NewReader("0"), 1, bucket.Condition{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	var writers []*exec.Cmd
	for range 4 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "DIRBUCKET_COUNT="+dir)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, c)
	}
	for _, c := range writers {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "n"))
	if err != nil || string(got) != "40" {
		t.Fatalf("counted to %s (%v), want 40", got, err)
	}
}

func TestKeysStayInside(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bucket")
	b := open(t, dir)
	ctx := context.Background()
	keys := []string{"../out", "/abs", "a//b", "./c", "a/../../out", ".contextful-bucket/locks/00", "nul\x00x", `back\slash`, "%", "%2E"}
	for _, k := range keys {
		if _, err := b.Put(ctx, k, strings.NewReader(k), int64(len(k)), bucket.Condition{IfAbsent: true}); err != nil {
			t.Fatalf("put %q: %v", k, err)
		}
	}
	for _, k := range keys {
		r, _, err := b.Get(ctx, k)
		if err != nil {
			t.Fatalf("get %q: %v", k, err)
		}
		data, _ := io.ReadAll(r)
		_ = r.Close()
		if string(data) != k {
			t.Fatalf("%q holds %q", k, data)
		}
	}
	seen := map[string]bool{}
	if err := b.List(ctx, "", func(o bucket.Object) error { seen[o.Key] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if !seen[k] {
			t.Errorf("%q is not listed (%d are)", k, len(seen))
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("something left the bucket: %v %v", entries, err)
	}
}

func TestLitterGoesAtOpen(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	left := filepath.Join(dir, ".contextful-bucket", "tmp", "put-dead")
	if err := os.WriteFile(left, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Fatalf("a dead writer's body is still there: %v", err)
	}
}

func TestRefusedPutLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	if _, err := b.Put(context.Background(), "k", bytes.NewReader([]byte("four")), 5, bucket.Condition{}); err == nil {
		t.Fatal("a short body is taken")
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".contextful-bucket", "tmp"))
	if err != nil || len(entries) != 0 {
		t.Fatalf("left %v (%v)", entries, err)
	}
}

// A FIFO that nobody writes is refused, and neither waited for, taken for absent nor replaced.
func TestFIFOIsNoObject(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	ctx := context.Background()
	if err := syscall.Mkfifo(filepath.Join(dir, "k"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get(ctx, "k"); !errors.Is(err, bucket.ErrTransport) {
		t.Error(err)
	}
	if _, err := b.Put(ctx, "k", strings.NewReader("v"), 1, bucket.Condition{IfAbsent: true}); !errors.Is(err, bucket.ErrTransport) {
		t.Error(err)
	}
	if err := b.List(ctx, "", func(o bucket.Object) error { return errors.New(o.Key) }); err != nil {
		t.Error("it is listed", err)
	}
}
