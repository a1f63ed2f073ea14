package store

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"

	"pgregory.net/rapid"
)

func TestOnlyCommittedRunsAreVisible(t *testing.T) {
	m, tab := newT(t)
	for _, run := range []string{"r1", "r2"} {
		_, err := land(tab, run, landing{})
		must(t, err)
	}
	put(t, m, key.RunDir("events", "r3", "alpha")+"/"+key.PartName(0), partText("r3"))
	put(t, m, key.RunDir("events", "r1", "alpha")+"/stray.parquet", partText("stray"))
	put(t, m, "tables/events/data/runs/file", "x")
	put(t, m, "tables/events/data/runs/.hidden/n/_manifest.json", "x")
	put(t, m, key.StagingDir("events", key.SnapshotID(5))+"/"+key.PartName(0), partText("staged"))
	wantRows(t, tab, Bounds{}, "r1", "r2")
	v, err := tab.Resolve(bg, Bounds{})
	must(t, err)
	for i, f := range v.Files {
		if f.Path != path.Join(root, f.Rel) || i > 0 && v.Files[i-1].Rel >= f.Rel || f.Run == nil {
			t.Fatalf("%+v", f)
		}
	}
}

func TestLoggedRuns(t *testing.T) {
	m, tab := newT(t)
	plant := func(run, node, fields string) {
		put(t, m, key.RunDir("events", run, node)+"/"+key.PartName(0), partText(run))
		put(t, m, key.RunManifest("events", run, node), strings.Replace(runManifest(run, node, fields), `"parts":[]`, `"parts":[{"name":"part-00000.parquet","rows":1}]`, 1))
	}
	log := func(node string, seq int64, entry string) { put(t, m, key.CommitLogEntry("pipe", node, seq), entry) }
	plant("r1", "beta", `,"logged":true,"pipeline_id":"pipe","fence":1`)
	plant("r2", "beta", `,"logged":true,"pipeline_id":"pipe","fence":1`)
	plant("r3", "beta", `,"logged":true`)
	plant("r4", "beta", `,"logged":false,"pipeline_id":"pipe"`)
	wantRows(t, tab, Bounds{}, "r4")
	log("beta", 1, `{"kind":"acquire","fence":1}`)
	log("beta", 2, `{"kind":"commit","table":"other","run_id":"r1","fence":1}`)
	log("gamma", 3, `{"kind":"commit","table":"events","run_id":"r1","fence":1}`)
	wantRows(t, tab, Bounds{}, "r4")
	log("beta", 3, `{"kind":"commit","table":"events","run_id":"r1","fence":1}`)
	wantRows(t, tab, Bounds{}, "r1", "r4")
	// A paused writer's commit, after its successor acquired, counts for nothing.
	log("beta", 4, `{"kind":"acquire","fence":2}`)
	log("beta", 5, `{"kind":"commit","table":"events","run_id":"r2","fence":1}`)
	wantRows(t, tab, Bounds{}, "r1", "r4")
	runs, err := tab.ListRuns(bg)
	must(t, err)
	if len(runs) != 2 {
		t.Fatal(runs)
	}
	log("beta", 6, `{"kind":"commit","table":"events","run_id":"r2","fence":2}`)
	wantRows(t, tab, Bounds{}, "r1", "r2", "r4")
	log("beta", 7, `{"kind":"neither"}`)
	_, err = tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StoreManifestInvalid)
}

func TestReplacementFrontier(t *testing.T) {
	m, tab := newT(t)
	landAs := func(run string, o landing) {
		_, err := land(tab, run, o)
		must(t, err)
	}
	landAs("r1", landing{replacement: true})
	landAs("r2", landing{replacement: true})
	wantRows(t, tab, Bounds{}, "r2")
	_, err := foldNow(tab)
	must(t, err)
	wantRows(t, tab, Bounds{}, "r2")
	v, err := tab.Resolve(bg, Bounds{})
	must(t, err)
	if len(v.Runs)+len(v.Superseded) != 0 || v.Head.Replacement.Run != "r2/alpha" || v.HeadSuperseded {
		t.Fatalf("%+v", v)
	}
	// An older run that arrives late stays superseded.
	put(t, m, key.RunManifest("events", "late", "beta"), strings.Replace(runManifest("late", "beta", `,"commit_seq":1,"replacement":true`), "2026", "1960", 1))
	wantRows(t, tab, Bounds{}, "r2")
	landAs("r3", landing{replacement: true})
	wantRows(t, tab, Bounds{}, "r3")
	v, err = tab.Resolve(bg, Bounds{})
	must(t, err)
	if !v.HeadSuperseded || len(v.Superseded) != 1 || v.Superseded[0].RunID != "late" || v.Frontier.Run != "r3/alpha" {
		t.Fatalf("%+v", v)
	}
}

// A replacement that comes late takes what is folded only where nothing of it is from after the replacement.
func TestLateReplacement(t *testing.T) {
	both := []string{"r1", "r2"}
	for name, c := range map[string]struct {
		fields, year string
		want         []string
	}{
		"before both":                    {`,"commit_seq":0,"replacement":true`, "1960", both},
		"between them":                   {`,"commit_seq":1,"replacement":true`, "2026", both},
		"at the last, an instant before": {`,"commit_seq":2,"replacement":true`, "1960", both},
		"at the last, an instant after":  {`,"commit_seq":2,"replacement":true`, "2026", nil},
		"after both":                     {`,"commit_seq":3,"replacement":true`, "1960", nil},
		"without a number":               {`,"replacement":true`, "2026", both},
		"no replacement":                 {`,"commit_seq":0`, "1960", both},
	} {
		for _, index := range []bool{true, false} { // without one the runs' own manifests tell
			m, tab := newT(t)
			for _, run := range both {
				_, err := land(tab, run, landing{})
				must(t, err)
			}
			_, err := foldAs(tab, folding{index: index})
			must(t, err)
			put(t, m, key.RunManifest("events", "late", "beta"), strings.Replace(runManifest("late", "beta", c.fields), "2026", c.year, 1))
			t.Log(name, index)
			wantRows(t, tab, Bounds{}, c.want...)
			if len(c.want) == 0 {
				continue // foldAs writes a part, and this table has none
			}
			_, err = foldAs(tab, folding{index: index})
			must(t, err)
			wantRows(t, tab, Bounds{}, c.want...)
		}
	}
}

func TestNewerMajorRefusesReads(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	newer := `{"format_version":"3.0","anything":[]}`
	// Unreachable: never read.
	put(t, m, key.SnapshotManifest("events", key.SnapshotID(9)), newer)
	wantRows(t, tab, Bounds{}, "r1")
	put(t, m, key.RunManifest("events", "r2", "beta"), newer)
	_, err = tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StoreManifestFormatNewer, "r2/beta/_manifest.json", "3.0", manifest.ReaderVersion)
	must(t, m.RemoveAll(root+"/tables/events/data/runs/r2"))
	put(t, m, key.Pointer("events"), `{"snapshot_id":"`+key.SnapshotID(9)+`","fence":null}`)
	early := at(1)
	for _, b := range []Bounds{{}, {AsOf: &early}} {
		_, err = tab.Resolve(bg, b)
		wantCode(t, err, fault.StoreManifestFormatNewer, key.SnapshotID(9))
	}
}

func TestChain(t *testing.T) {
	m, tab := newT(t)
	snap := func(n int64, parent string) {
		id := key.SnapshotID(n)
		put(t, m, key.SnapshotManifest("events", id), fmt.Sprintf(`{"snapshot_id":%q,"parent":%s,"table":"events","created_at":"2026-01-01T00:00:00Z"}`, id, parent))
	}
	quoted := func(n int64) string { return `"` + key.SnapshotID(n) + `"` }
	snap(3, quoted(2))
	snap(2, quoted(1))
	put(t, m, key.Pointer("events"), `{"snapshot_id":`+quoted(3)+`}`)
	_, err := tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StoreChainBroken, key.SnapshotID(1), key.SnapshotID(2))
	snap(1, quoted(3))
	_, err = tab.ListSnapshots(bg)
	wantCode(t, err, fault.StoreChainBroken, "loop")
	snap(1, "null")
	list, err := tab.ListSnapshots(bg)
	must(t, err)
	if len(list) != 3 || list[2].SnapshotID != key.SnapshotID(1) {
		t.Fatal(list)
	}
}

func TestMissingPartsRefuse(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	part := key.RunDir("events", "r1", "alpha") + "/" + key.PartName(0)
	must(t, m.Remove(root+"/"+part))
	_, err = tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StorePartDamaged, part)
	put(t, m, part, "")
	_, err = tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StorePartDamaged, part)
}

func TestDeclarationChanged(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	put(t, m, key.Schema("events"), `{"fields":[],"metadata":[{"key":"contextful.primary_key","value":"[\"id\"]"},{"key":"contextful.write_mode","value":"\"append\""}]}`)
	as := func(mode string, keys ...string) (*View, error) {
		s, err := Open(bg, Options{Root: root, Node: "alpha", FS: m, Project: declared(mode, keys...)})
		must(t, err)
		tab, err := s.Table("events")
		must(t, err)
		return tab.Resolve(bg, Bounds{})
	}
	_, err = as("append", "id")
	must(t, err)
	_, err = as("append", "id", "page")
	wantCode(t, err, fault.StoreDeclarationChanged, "primary_key")
	_, err = as("replace", "id")
	wantCode(t, err, fault.StoreDeclarationChanged, "write_mode")
	v, err := tab.Resolve(bg, Bounds{}) // not declared: what is recorded counts
	must(t, err)
	if !slices.Equal(v.Declaration.PrimaryKey, []string{"id"}) || v.Declaration.WriteMode != "append" {
		t.Fatalf("%+v", v.Declaration)
	}
	put(t, m, key.Schema("events"), `{"fields":[]}`)
	_, err = as("append", "page")
	must(t, err)
	id := key.SnapshotID(1)
	put(t, m, key.SnapshotManifest("events", id), `{"snapshot_id":"`+id+`","table":"events","created_at":"2026-01-01T00:00:00Z","primary_key":["id"]}`)
	put(t, m, key.Pointer("events"), `{"snapshot_id":"`+id+`"}`)
	_, err = as("append", "page")
	wantCode(t, err, fault.StoreDeclarationChanged, "primary_key")
}

func TestTables(t *testing.T) {
	m := vfs.NewMem()
	put(t, m, key.RunManifest("a/b", "r", "n"), "x")
	put(t, m, key.Pointer("a"), "{}")
	put(t, m, "tables/.tmp-1/schema.json", "x")
	put(t, m, "tables/empty/readme", "x")
	s, err := Open(bg, Options{Root: root, Node: "alpha", FS: m, Project: declared("append")})
	must(t, err)
	names, err := s.Tables()
	must(t, err)
	if !slices.Equal(names, []string{"a", "a/b", "events"}) {
		t.Fatal(names)
	}
	for _, name := range names {
		_, err := s.Table(name)
		must(t, err)
	}
	_, err = s.Table("empty")
	wantCode(t, err, fault.StoreTableUnknown, "empty")
	_, err = s.Table("../a")
	wantCode(t, err, fault.StoreNameInvalid)
}

// An unbounded read opens the pointer, the chain down to the first index, its segments, the schema and the unfolded runs'
// manifests, and no folded run's.
func TestReadingCost(t *testing.T) {
	m, tab := newT(t)
	for i := range 20 {
		_, err := land(tab, fmt.Sprintf("r%d", i), landing{})
		must(t, err)
	}
	_, err := foldNow(tab)
	must(t, err)
	for i := range 3 {
		_, err := land(tab, fmt.Sprintf("new%d", i), landing{})
		must(t, err)
	}
	m.ResetJournal()
	_, err = tab.Resolve(bg, Bounds{})
	must(t, err)
	if n := m.Count(vfs.OpOpen); n != 1+1+1+3+1 {
		t.Fatalf("%d files opened: %v", n, m.Journal())
	}
}

func TestAsOfUnretained(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	_, err = foldNow(tab)
	must(t, err)
	early, late := at(50), at(100)
	wantRows(t, tab, Bounds{AsOf: &early})
	must(t, m.RemoveAll(root+"/tables/events/data/runs/r1"))
	wantRows(t, tab, Bounds{AsOf: &late}, "r1")
	_, err = tab.Resolve(bg, Bounds{AsOf: &early})
	wantCode(t, err, fault.StoreAsOfUnretained, "r1/alpha", at(100).String())
}

// Whatever lands and folds in whatever order on whatever clocks, a reader sees each committed row once, and a bounded reader
// those committed by then.
func TestEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := vfs.NewMem()
		now := int64(1000)
		committed := map[string]time.Time{}
		handle := func(node string) *Table {
			s, err := Open(bg, Options{Root: root, Node: node, FS: m, Clock: clock.Fixed{Instant: at(now).Time}})
			must(t, err)
			return table(t, s)
		}
		var last int64
		for i := range rapid.IntRange(1, 14).Draw(t, "steps") {
			now += rapid.Int64Range(-3, 20).Draw(t, "clock")
			tab := handle(rapid.SampledFrom([]string{"alpha", "beta"}).Draw(t, "node"))
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				if _, err := foldNow(tab); err != nil {
					t.Fatal(err)
				}
			} else {
				run := fmt.Sprintf("r%d", i)
				seq, err := land(tab, run, landing{})
				must(t, err)
				if seq <= last {
					t.Fatalf("%s has sequence %d after %d", run, seq, last)
				}
				last = seq
				r, err := tab.ReadRun(run, tab.s.Node())
				must(t, err)
				committed[run] = r.CommittedAt.Time
			}
			all := []string{}
			for run := range committed {
				all = append(all, run)
			}
			wantRows(t, tab, Bounds{}, all...)
		}
		tab := handle("alpha")
		bound := manifest.At(time.Unix(rapid.Int64Range(900, now+30).Draw(t, "as of"), 0))
		v, err := tab.Resolve(bg, Bounds{AsOf: &bound})
		must(t, err)
		rows, err := read(tab, Bounds{AsOf: &bound})
		must(t, err)
		for run, at := range committed {
			// A row that its snapshot brings was committed by then, and so is every run by itself.
			if at.After(bound.Time) && slices.Contains(rows, run) && (v.Head == nil || !folds(v.Folded, run)) {
				t.Fatalf("%s, committed at %s, is read as of %s", run, at, bound)
			}
			if !at.After(bound.Time) && !slices.Contains(rows, run) {
				t.Fatalf("%s, committed at %s, is not read as of %s: %v", run, at, bound, rows)
			}
		}
		if slices.Sort(rows); len(slices.Compact(slices.Clone(rows))) != len(rows) {
			t.Fatalf("doubled: %v", rows)
		}
	})
}

func folds(f *Folded, run string) bool {
	for k := range f.Keys() {
		if strings.HasPrefix(k, run+"/") {
			return true
		}
	}
	return false
}

func TestCheck(t *testing.T) {
	m, tab := newT(t)
	for _, run := range []string{"r1", "r2", "r3"} {
		_, err := land(tab, run, landing{})
		must(t, err)
	}
	id, err := foldNow(tab)
	must(t, err)
	damage := func() []Damage {
		t.Helper()
		found, err := tab.s.Check(bg, CheckOptions{VerifyPart: func(name string, rows int64) error {
			data, err := vfs.ReadFile(m, name, 1000)
			if err == nil && (!strings.HasPrefix(string(data), "PAR1") || rows < 1) {
				err = errors.New("no footer")
			}
			return err
		}})
		must(t, err)
		return found
	}
	if found := damage(); len(found) != 0 {
		t.Fatal(found)
	}
	r1, r2, r3 := key.RunDir("events", "r1", "alpha"), key.RunDir("events", "r2", "alpha"), key.RunDir("events", "r3", "alpha")
	must(t, m.Remove(root+"/"+r1+"/"+key.PartName(0)))
	put(t, m, r2+"/"+key.PartName(0), "not Parquet at all")
	put(t, m, r3+"/_manifest.json", strings.Replace(runManifest("r3", "alpha", ""), `"parts":[]`, `"parts":[{"name":"part-00000.parquet","rows":1,"sha256":"`+strings.Repeat("00", 32)+`"}]`, 1))
	must(t, m.Remove(root+"/"+key.SnapshotManifest("events", id)))
	put(t, m, key.Schema("events"), "{")
	put(t, m, "store-id", "x")
	put(t, m, "blobs/"+strings.Repeat("ab", 32), "x")
	put(t, m, key.CommitLogEntry("p", "n", 1), "{}")
	put(t, m, key.RunManifest("events", "r9", "n"), runManifest("r8", "n", ""))
	want := map[string]fault.Code{
		"store-id": fault.StoreIdentityInvalid, r1 + "/" + key.PartName(0): fault.StorePartDamaged, r2 + "/" + key.PartName(0): fault.StorePartDamaged,
		r3 + "/" + key.PartName(0): fault.StorePartDamaged, key.SnapshotManifest("events", id): fault.StoreChainBroken, key.Schema("events"): fault.StoreManifestInvalid,
		"blobs/" + strings.Repeat("ab", 32): fault.StorePartDamaged, key.CommitLogEntry("p", "n", 1): fault.StoreManifestInvalid,
		key.RunManifest("events", "r9", "n"): fault.StoreManifestInvalid,
	}
	found := damage()
	for _, d := range found {
		if want[strings.TrimPrefix(d.Subject, root+"/")] != d.Code || d.Message == "" {
			t.Errorf("unexpected: %+v", d)
		}
		delete(want, strings.TrimPrefix(d.Subject, root+"/"))
	}
	if len(want) != 0 {
		t.Errorf("not found: %v", want)
	}
}
