package pull_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/nodetest"

	"github.com/stretchr/testify/require"
)

func TestHostileManifests(t *testing.T) {
	for _, k := range []string{"p/../../etc/x", "/abs", "p//x", "p/./x", `p/a\b`, "p/tables/../../../x", "p/a\x00b", "../p/x"} {
		t.Run(k, func(t *testing.T) {
			w, _, b, _ := seeded(t)
			m := w.Manifest()
			m.Entries[k] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 1}
			w.Plant(m)
			mark := w.S3.Mark()
			_, err := b.Pull()
			nodetest.Refused(t, err, fault.SyncPrefixEscape)
			if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Key: "*.parquet"})); n != 0 {
				t.Errorf("%d parts were fetched", n)
			}
			if got := b.Files(); len(got) != 0 && fmt.Sprint(got) != "[store-id]" {
				t.Errorf("wrote %q", got)
			}
		})
	}
}

func TestKeysThatDoNotSyncAreLeftAlone(t *testing.T) {
	w, _, b, _ := seeded(t)
	m := w.Manifest()
	for _, k := range []string{"p/config.toml", "p/tables/events/.lock", "p/tables/events/_pointer.json", "p/machine.sqlite", "p/tables/events/_commit_seq", "q/tables/x/schema.json"} {
		m.Entries[k] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 1}
		w.S3.Put("bkt", "team/"+k, []byte("x"))
	}
	w.Plant(m)
	w.S3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(`{"snapshot_id":null,"fence":null}`))
	b.MustPull()
	for _, f := range []string{"config.toml", "machine.sqlite", "tables/events/_pointer.json"} {
		if b.Has(f) {
			t.Errorf("%s was taken", f)
		}
	}
}

func TestASymlinkOnTheWay(t *testing.T) {
	_, _, b, _ := seeded(t)
	outside := t.TempDir()
	require.NoError(t, os.MkdirAll(b.Root, 0o755))
	require.NoError(t, os.Symlink(outside, b.Root+"/tables"))
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncPrefixEscape)
	if list, _ := os.ReadDir(outside); len(list) != 0 {
		t.Fatalf("wrote %v outside", list)
	}
	if b.Has("store-id") {
		t.Fatal("it took the bucket's identity before it refused")
	}
}

func TestALyingRunManifest(t *testing.T) {
	w, _, b, _ := seeded(t)
	m := w.Manifest()
	delete(m.Entries, "p/"+run1+"part-00001.parquet")
	w.Plant(m)
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncManifestInvalid, "part-00001.parquet")
	if b.Has(run1 + "_manifest.json") {
		t.Fatal("the run is visible")
	}
}

func TestOwnFilesStay(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.MustPush()
	require.NoError(t, os.Remove(a.Root+"/"+run1+"part-00000.parquet"))
	a.Write(a.Root+"/"+run1+"part-00000.parquet", "what this disk holds")
	a.MustPull()
	body, err := os.ReadFile(a.Root + "/" + run1 + "part-00000.parquet")
	require.NoError(t, err)
	if string(body) != "what this disk holds" {
		t.Fatal("the bucket replaced this node's own file")
	}
	// A replacement host under the same id reads what it lacks.
	require.NoError(t, os.RemoveAll(a.Root+"/tables"))
	a.MustPull()
	if !a.Has(run1 + "_manifest.json") {
		t.Fatal("own keys were not pulled to an empty disk")
	}
}
