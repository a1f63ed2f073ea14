package duck

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTemporaryDirectories(t *testing.T) {
	base := filepath.Join(t.TempDir(), "odd [x]*")
	living, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dead.spill(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := dead.lock.Unlock(); err != nil { // as its process's end would
		t.Fatal(err)
	}
	next, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.dir); err == nil {
		t.Error("a killed session's directory is still there")
	}
	if _, err := os.Stat(living.dir); err != nil {
		t.Error(err)
	}
	for _, s := range []*temporary{living, next} {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Error(left, err)
	}
}
