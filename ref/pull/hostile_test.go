package pull_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/manifest"
)

func TestHostileManifests(t *testing.T) {
	for _, k := range []string{"p/../../etc/x", "/abs", "p//x", "p/./x", `p/a\b`, "p/tables/../../../x", "p/a\x00b", "../p/x"} {
		t.Run(k, func(t *testing.T) {
			w, _, b, _ := seeded(t)
			m := w.manifest()
			m.Entries[k] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 1}
			w.plant(m)
			mark := w.s3.Mark()
			_, err := b.pull()
			refused(t, err, fault.SyncPrefixEscape)
			if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Key: "*.parquet"})); n != 0 {
				t.Errorf("%d parts were fetched", n)
			}
			if got := b.files(); len(got) != 0 && fmt.Sprint(got) != "[store-id]" {
				t.Errorf("wrote %q", got)
			}
		})
	}
}

func TestKeysThatDoNotSyncAreLeftAlone(t *testing.T) {
	w, _, b, _ := seeded(t)
	m := w.manifest()
	for _, k := range []string{"p/config.toml", "p/tables/events/.lock", "p/tables/events/_pointer.json", "p/machine.sqlite", "p/tables/events/_commit_seq", "q/tables/x/schema.json"} {
		m.Entries[k] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 1}
		w.s3.Put("bkt", "team/"+k, []byte("x"))
	}
	w.plant(m)
	w.s3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(`{"snapshot_id":null,"fence":null}`))
	b.mustPull()
	for _, f := range []string{"config.toml", "machine.sqlite", "tables/events/_pointer.json"} {
		if b.has(f) {
			t.Errorf("%s was taken", f)
		}
	}
}

func TestASymlinkOnTheWay(t *testing.T) {
	_, _, b, _ := seeded(t)
	outside := t.TempDir()
	must(t, os.MkdirAll(b.root, 0o755))
	must(t, os.Symlink(outside, b.root+"/tables"))
	_, err := b.pull()
	refused(t, err, fault.SyncPrefixEscape)
	if list, _ := os.ReadDir(outside); len(list) != 0 {
		t.Fatalf("wrote %v outside", list)
	}
	if b.has("store-id") {
		t.Fatal("it took the bucket's identity before it refused")
	}
}

func TestALyingRunManifest(t *testing.T) {
	w, _, b, _ := seeded(t)
	m := w.manifest()
	delete(m.Entries, "p/"+run1+"part-00001.parquet")
	w.plant(m)
	_, err := b.pull()
	refused(t, err, fault.SyncManifestInvalid, "part-00001.parquet")
	if b.has(run1 + "_manifest.json") {
		t.Fatal("the run is visible")
	}
}

func TestOwnFilesStay(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	a.land("events", "r1")
	a.mustPush()
	must(t, os.Remove(a.root+"/"+run1+"part-00000.parquet"))
	a.write(a.root+"/"+run1+"part-00000.parquet", "what this disk holds")
	a.mustPull()
	body, err := os.ReadFile(a.root + "/" + run1 + "part-00000.parquet")
	must(t, err)
	if string(body) != "what this disk holds" {
		t.Fatal("the bucket replaced this node's own file")
	}
	// A replacement host under the same id reads what it lacks.
	must(t, os.RemoveAll(a.root+"/tables"))
	a.mustPull()
	if !a.has(run1 + "_manifest.json") {
		t.Fatal("own keys were not pulled to an empty disk")
	}
}
