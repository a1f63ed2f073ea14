// Package vfstest is the contract of vfs.FS as a suite that every implementation passes.
package vfstest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"contextful/ref/vfs"
)

// Run asks everything the port promises. open gives a file system and an empty directory in it.
func Run(t *testing.T, open func(t *testing.T) (fsys vfs.FS, dir string)) {
	for _, c := range []struct {
		name string
		ask  func(*testing.T, vfs.FS, string)
	}{
		{"create is exclusive and readable", create},
		{"rename replaces", rename},
		{"rename new never replaces", renameNew},
		{"rename new moves a directory", renameNewDir},
		{"of racing creators one wins", race},
		{"atomic writes leave no temporary file", atomicWrites},
		{"directories", directories},
		{"absent things", absent},
		{"locks exclude", locks},
		{"a lock waits and gives up", lockWaits},
		{"a lock file removed with its directory", lockRemoved},
		{"reading has a limit", limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, dir := open(t)
			c.ask(t, fsys, dir)
		})
	}
}

func put(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write([]byte(text))
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

func want(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, 1<<20)
	if err != nil || string(data) != text {
		t.Fatalf("%s: %q, %v; want %q", name, data, err, text)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, have, want error) {
	t.Helper()
	if !errors.Is(have, want) {
		t.Fatalf("want %v, have %v", want, have)
	}
}

func create(t *testing.T, fsys vfs.FS, dir string) {
	put(t, fsys, dir+"/a", "hello world")
	_, err := fsys.Create(dir + "/a")
	wantErr(t, err, fs.ErrExist)
	want(t, fsys, dir+"/a", "hello world")
	f, err := fsys.Open(dir + "/a")
	must(t, err)
	defer f.Close()
	b := make([]byte, 5)
	if n, err := f.ReadAt(b, 6); n != 5 || err != nil && err != io.EOF || string(b) != "world" {
		t.Fatalf("%d %v %q", n, err, b)
	}
	if at, err := f.Seek(-5, io.SeekEnd); at != 6 || err != nil {
		t.Fatal(at, err)
	}
	rest, err := io.ReadAll(f)
	must(t, err)
	if string(rest) != "world" {
		t.Fatalf("%q", rest)
	}
}

func rename(t *testing.T, fsys vfs.FS, dir string) {
	put(t, fsys, dir+"/a", "1")
	put(t, fsys, dir+"/b", "2")
	must(t, fsys.Rename(dir+"/a", dir+"/b"))
	must(t, fsys.SyncDir(dir))
	want(t, fsys, dir+"/b", "1")
	_, err := fsys.Stat(dir + "/a")
	wantErr(t, err, fs.ErrNotExist)
	wantErr(t, fsys.Rename(dir+"/a", dir+"/c"), fs.ErrNotExist)
}

func renameNew(t *testing.T, fsys vfs.FS, dir string) {
	put(t, fsys, dir+"/a", "1")
	put(t, fsys, dir+"/b", "2")
	wantErr(t, fsys.RenameNew(dir+"/a", dir+"/b"), fs.ErrExist)
	want(t, fsys, dir+"/a", "1")
	want(t, fsys, dir+"/b", "2")
	must(t, fsys.RenameNew(dir+"/a", dir+"/c"))
	want(t, fsys, dir+"/c", "1")
	wantErr(t, fsys.RenameNew(dir+"/gone", dir+"/d"), fs.ErrNotExist)
}

func renameNewDir(t *testing.T, fsys vfs.FS, dir string) {
	must(t, fsys.MkdirAll(dir+"/x.staging"))
	put(t, fsys, dir+"/x.staging/p", "1")
	must(t, fsys.RenameNew(dir+"/x.staging", dir+"/x"))
	want(t, fsys, dir+"/x/p", "1")
	must(t, fsys.MkdirAll(dir+"/y"))
	wantErr(t, fsys.RenameNew(dir+"/y", dir+"/x"), fs.ErrExist)
	want(t, fsys, dir+"/x/p", "1")
}

func race(t *testing.T, fsys vfs.FS, dir string) {
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := vfs.WriteNew(fsys, dir+"/only", []byte("x"))
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d writers won", won.Load())
	}
}

func atomicWrites(t *testing.T, fsys vfs.FS, dir string) {
	must(t, vfs.WriteAtomic(fsys, dir+"/a", []byte("1")))
	must(t, vfs.WriteAtomic(fsys, dir+"/a", []byte("2")))
	wantErr(t, vfs.WriteNew(fsys, dir+"/a", []byte("3")), fs.ErrExist)
	want(t, fsys, dir+"/a", "2")
	list, err := fsys.ReadDir(dir)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("left behind: %v", list)
	}
	wantErr(t, vfs.WriteAtomic(fsys, dir+"/none/a", nil), fs.ErrNotExist)
}

func directories(t *testing.T, fsys vfs.FS, dir string) {
	must(t, fsys.MkdirAll(dir+"/a/b/c"))
	must(t, fsys.MkdirAll(dir+"/a/b/c"))
	put(t, fsys, dir+"/a/z", "")
	put(t, fsys, dir+"/a/A", "12")
	list, err := fsys.ReadDir(dir + "/a")
	must(t, err)
	if len(list) != 3 || list[0].Name() != "A" || list[1].Name() != "b" || !list[1].IsDir() || list[2].Name() != "z" {
		t.Fatal(list)
	}
	info, err := fsys.Lstat(dir + "/a/A")
	must(t, err)
	if info.Size() != 2 || info.IsDir() {
		t.Fatal(info)
	}
	if fsys.MkdirAll(dir+"/a/z/y") == nil {
		t.Fatal("made a directory below a file")
	}
	if fsys.Remove(dir+"/a/b") == nil {
		t.Fatal("removed a directory that is not empty")
	}
	must(t, fsys.RemoveAll(dir+"/a"))
	_, err = fsys.ReadDir(dir + "/a")
	wantErr(t, err, fs.ErrNotExist)
	must(t, vfs.NoSymlink(fsys, dir, "not/there"))
}

func absent(t *testing.T, fsys vfs.FS, dir string) {
	_, err := fsys.Open(dir + "/x")
	wantErr(t, err, fs.ErrNotExist)
	_, err = fsys.Create(dir + "/d/x")
	wantErr(t, err, fs.ErrNotExist)
	wantErr(t, fsys.Remove(dir+"/x"), fs.ErrNotExist)
	must(t, fsys.RemoveAll(dir+"/x"))
	wantErr(t, fsys.SyncDir(dir+"/d"), fs.ErrNotExist)
	_, _, err = fsys.TryLock(dir + "/d/lock")
	wantErr(t, err, fs.ErrNotExist)
}

func locks(t *testing.T, fsys vfs.FS, dir string) {
	held, ok, err := fsys.TryLock(dir + "/lock")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := fsys.TryLock(dir + "/lock"); ok || err != nil {
		t.Fatal("taken twice", err)
	}
	must(t, held.Unlock())
	inside, most, total := atomic.Int32{}, atomic.Int32{}, 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				l, err := fsys.Lock(context.Background(), dir+"/lock")
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				total++ // the race detector judges this
				inside.Add(-1)
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 || total != 20 {
		t.Fatalf("%d inside at once, %d in all", most.Load(), total)
	}
}

func lockWaits(t *testing.T, fsys vfs.FS, dir string) {
	held, _, err := fsys.TryLock(dir + "/lock")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = fsys.Lock(ctx, dir+"/lock")
	wantErr(t, err, context.Canceled)
	got := make(chan error)
	go func() {
		l, err := fsys.Lock(context.Background(), dir+"/lock")
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	must(t, held.Unlock())
	must(t, <-got)
}

func lockRemoved(t *testing.T, fsys vfs.FS, dir string) {
	must(t, fsys.MkdirAll(dir+"/d"))
	held, _, err := fsys.TryLock(dir + "/d/lock")
	must(t, err)
	must(t, fsys.RemoveAll(dir+"/d"))
	must(t, fsys.MkdirAll(dir+"/d"))
	other, ok, err := fsys.TryLock(dir + "/d/lock")
	if !ok || err != nil {
		t.Fatal("the new file's lock is free", ok, err)
	}
	must(t, held.Unlock())
	if _, ok, _ := fsys.TryLock(dir + "/d/lock"); ok {
		t.Fatal("freeing the removed file's lock freed the new one's")
	}
	must(t, other.Unlock())
}

func limit(t *testing.T, fsys vfs.FS, dir string) {
	put(t, fsys, dir+"/a", "12345")
	want(t, fsys, dir+"/a", "12345")
	if _, err := vfs.ReadFile(fsys, dir+"/a", 4); err == nil {
		t.Fatal("read past the limit")
	}
}
