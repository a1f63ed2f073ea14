package store

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"contextful/ref/key"
	"contextful/ref/vfs"
)

// openingFS does something once, when a file of that name has been opened.
type openingFS struct {
	vfs.FS
	suffix string
	then   func()
}

func (f *openingFS) Open(name string) (vfs.File, error) {
	file, err := f.FS.Open(name)
	if then := f.then; then != nil && strings.HasSuffix(name, f.suffix) {
		f.then = nil
		then()
	}
	return file, err
}

// A check holds no lock: what retention takes away under it is no damage, and what is missing afterwards is.
func TestCheckBesideRetention(t *testing.T) {
	m := vfs.NewMem()
	var ids []string
	for i := range 3 {
		tab := handle(t, m, "alpha", int64(1000+1000*i))
		_, err := land(tab, fmt.Sprintf("r%d", i), landing{})
		must(t, err)
		id, err := foldNow(tab)
		must(t, err)
		ids = append(ids, id)
	}
	disk := &openingFS{m, key.SnapshotManifest("events", ids[1]), func() {
		_, err := handle(t, m, "alpha", 9000).Retain(bg, at(9000).Time, 0)
		must(t, err)
	}}
	tab := handle(t, m, "alpha", 9000)
	tab.s.opts.FS = disk
	found, err := tab.s.Check(bg, CheckOptions{})
	must(t, err)
	if there, err := vfs.Exists(m, path.Join(root, key.SnapshotManifest("events", ids[1]))); err != nil || there || len(found) != 0 {
		t.Fatal(there, found, err)
	}
	must(t, m.RemoveAll(path.Join(root, key.SnapshotDir("events", ids[2]), "x")))
	if found, err := tab.s.Check(bg, CheckOptions{}); err != nil || len(found) != 1 || !strings.Contains(found[0].Message, ids[2]) {
		t.Fatal(found, err)
	}
}

// A damaged cache of the last commit moves no later one.
func TestDamagedLastCommit(t *testing.T) {
	m := vfs.NewMem()
	_, err := land(handle(t, m, "alpha", 1000), "r0", landing{})
	must(t, err)
	name := path.Join(root, key.TableDir("events"), lastCommitName)
	data, err := vfs.ReadFile(m, name, 100)
	must(t, err)
	for i := range data {
		for _, bit := range []byte{1, 2, 4, 16} {
			text := []byte(string(data))
			text[i] ^= bit
			must(t, vfs.WriteAtomic(m, name, text))
			tab := handle(t, m, "alpha", 2000)
			l, err := tab.Lock(bg)
			must(t, err)
			next, err := l.NextCommitSeq(bg)
			must(t, err)
			must(t, l.Release())
			if got := next.CommittedAt(tab.s.Clock()); got != at(2000) || next.Seq != 2 {
				t.Fatalf("%q: %s, %d", text, got, next.Seq)
			}
		}
	}
}
