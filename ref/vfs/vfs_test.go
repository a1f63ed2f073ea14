package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"contextful/ref/vfs"
	"contextful/ref/vfs/vfstest"
)

func TestOS(t *testing.T) {
	vfstest.Run(t, func(t *testing.T) (vfs.FS, string) { return vfs.OS{}, t.TempDir() })
}

func TestMem(t *testing.T) {
	vfstest.Run(t, func(t *testing.T) (vfs.FS, string) {
		m := vfs.NewMem()
		if err := m.MkdirAll("/work/dir"); err != nil {
			t.Fatal(err)
		}
		return m, "/work/dir"
	})
}

func TestSymlinkIsFound(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := vfs.NoSymlink(vfs.OS{}, dir, "out/passwd"); !errors.Is(err, vfs.ErrSymlink) || !strings.Contains(err.Error(), "out") {
		t.Fatal(err)
	}
}

// After a crash at any point of WriteAtomic the name holds the old bytes or the new ones, and after it returned the new.
func TestAtomicWritesSurviveEveryCrash(t *testing.T) {
	for _, mode := range []vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll} {
		for n := 1; ; n++ {
			m := vfs.NewMem()
			if err := errors.Join(m.MkdirAll("/d"), vfs.WriteAtomic(m, "/d/a", []byte("old"))); err != nil {
				t.Fatal(err)
			}
			m.CrashAt(n)
			err := vfs.WriteAtomic(m, "/d/a", []byte("new"))
			fired := m.Down()
			m.Crash(mode)
			data, readErr := vfs.ReadFile(m, "/d/a", 10)
			if text := string(data); readErr != nil || text != "old" && text != "new" || err == nil && text != "new" {
				t.Fatalf("mode %d, operation %d: %q, %v after %v", mode, n, data, readErr, err)
			}
			if !fired {
				break
			}
		}
	}
}

// What a careless writer does is lost: the model would be worthless otherwise.
func TestMemLosesTheUnsynced(t *testing.T) {
	careless := func(m *vfs.Mem) {
		f, _ := m.Create("/d/a")
		_, _ = f.Write([]byte("bytes"))
		_ = f.Close()
	}
	m := vfs.NewMem()
	_ = m.MkdirAll("/d")
	careless(m)
	_ = m.SyncDir("/d")
	m.Crash(vfs.CrashLoses)
	if data, err := vfs.ReadFile(m, "/d/a", 10); err != nil || len(data) != 0 {
		t.Fatalf("unsynced bytes: %q %v", data, err)
	}
	m = vfs.NewMem()
	_ = m.MkdirAll("/d")
	careless(m)
	_ = vfs.SyncFile(m, "/d/a")
	m.Crash(vfs.CrashLoses)
	if ok, _ := vfs.Exists(m, "/d/a"); ok {
		t.Fatal("an unsynced name survived")
	}
	m = vfs.NewMem()
	_ = m.MkdirAll("/d")
	careless(m)
	m.Crash(vfs.CrashKeepsAll)
	if data, _ := vfs.ReadFile(m, "/d/a", 10); string(data) != "bytes" {
		t.Fatalf("a process's death is no power cut: %q", data)
	}
}

func TestJournalAndFaults(t *testing.T) {
	m := vfs.NewMem()
	if err := m.MkdirAll("/d"); err != nil {
		t.Fatal(err)
	}
	m.ResetJournal()
	if err := vfs.WriteNew(m, "/d/a", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, op := range m.Journal() {
		lines = append(lines, op.String())
	}
	want := []string{"create /d/.tmp-*", "write /d/.tmp-* 3", "sync /d/.tmp-*", "renamenew /d/.tmp-* /d/a", "syncdir /d"}
	if !slices.Equal(lines, want) {
		t.Fatal(lines)
	}
	if m.Count(vfs.OpSync) != 1 {
		t.Fatal("count")
	}
	for n := 1; n <= 5; n++ {
		m.FailAt(n, syscall.ENOSPC)
		if err := vfs.WriteAtomic(m, "/d/b", []byte("x")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", n, err)
		}
		list, _ := m.ReadDir("/d")
		for _, e := range list {
			if vfs.TemporaryName(e.Name()) {
				t.Fatalf("operation %d left %s", n, e.Name())
			}
		}
	}
	m.Inject(func(op vfs.Op) error {
		if op.Kind == vfs.OpOpen {
			return syscall.EIO
		}
		return nil
	})
	if _, err := vfs.ReadFile(m, "/d/a", 10); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
}
