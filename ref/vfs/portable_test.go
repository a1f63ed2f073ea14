package vfs

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// The way taken where the kernel has no exclusive rename must keep the same promise.
func TestPortableRenameNew(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(dir+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("/a", "1")
	write("/b", "2")
	if err := renameNewPortable(dir+"/a", dir+"/b"); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if err := renameNewPortable(dir+"/a", dir+"/c"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/x.staging/in", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := renameNewPortable(dir+"/x.staging", dir+"/x"); err != nil {
		t.Fatal(err)
	}
	if err := renameNewPortable(dir+"/x", dir+"/c"); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/x/in"); err != nil {
		t.Fatal(err)
	}
}
