package key

import (
	"errors"
	"path"
	"strings"
	"testing"

	"contextful/ref/fault"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 201)
	cases := []struct {
		what  string
		check func(string) error
		good  []string
		bad   []string
	}{
		{"table", ValidTable, []string{"events", "filings/10-k", "A.b_c", "x_"},
			[]string{"", "/", "a/", "/a", "a//b", ".", "..", "a/../b", ".lock", "_pointer", "a/_x", "data", "a/data/b", "requests", "schema.json", "a b", "a\\b", "é", "a\x00", long}},
		{"project", ValidProject, []string{"research", "a/b", "_x", "data"}, []string{"", "..", "a/..", ".x", "a:b"}},
		{"run", ValidRun, []string{"r1", "2026-01-01T00.00", "_r"}, []string{"", "a/b", "..", ".", ".tmp-x", "a b", strings.Repeat("r", 181)}},
		{"node", ValidNode, []string{"alpha", "a_b-1", strings.Repeat("n", 64)}, []string{"", "a.b", "a/b", "..", strings.Repeat("n", 65)}},
		{"snapshot", ValidSnapshot, []string{SnapshotID(0), SnapshotID(1 << 60)},
			[]string{"", "snapshot-1", "snapshot-99999999999999999999", "snapshot-0000000000000000000x", "snapshot-+0000000000000000001"}},
	}
	for _, c := range cases {
		for _, s := range c.good {
			if err := c.check(s); err != nil {
				t.Errorf("%s %q: %v", c.what, s, err)
			}
		}
		for _, s := range c.bad {
			if err := c.check(s); !errors.Is(err, fault.StoreNameInvalid) {
				t.Errorf("%s %q: want StoreNameInvalid, have %v", c.what, s, err)
			}
		}
	}
}

func TestParse(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	snap := SnapshotID(42)
	cases := map[string]Parsed{
		"store-id":                                         {Kind: KindStoreID, Name: "store-id"},
		CommitLogEntry("p", "n1", 7):                       {Kind: KindCommitLog, Pipeline: "p", Node: "n1", Name: "00000000000000000007.json"},
		RunState("n1"):                                     {Kind: KindRunState, Node: "n1", Name: "run-state.json"},
		"control/a/b.json":                                 {Kind: KindControl, Name: "a/b.json"},
		"blobs/" + digest:                                  {Kind: KindBlob, Name: digest},
		Schema("a/b"):                                      {Kind: KindSchema, Table: "a/b", Name: "schema.json"},
		Pointer("a"):                                       {Kind: KindPointer, Table: "a", Name: "_pointer.json"},
		RunManifest("a/b", "r.1", "n"):                     {Kind: KindRunManifest, Table: "a/b", Run: "r.1", Node: "n", Name: "_manifest.json"},
		RunDir("a", "r", "n") + "/_group.json":             {Kind: KindRunGroup, Table: "a", Run: "r", Node: "n", Name: "_group.json"},
		RunDir("a", "r", "n") + "/" + PartName(0):          {Kind: KindRunPart, Table: "a", Run: "r", Node: "n", Name: "part-00000.parquet"},
		SnapshotManifest("a", snap):                        {Kind: KindSnapshotManifest, Table: "a", Snapshot: snap, Name: "_manifest.json"},
		SnapshotDir("a", snap) + "/_collected.json":        {Kind: KindSnapshotCollected, Table: "a", Snapshot: snap, Name: "_collected.json"},
		SnapshotDir("a", snap) + "/folded-00000.parquet":   {Kind: KindSnapshotFolded, Table: "a", Snapshot: snap, Name: "folded-00000.parquet"},
		SnapshotDir("a", snap) + "/indexes/v.idx":          {Kind: KindSnapshotIndex, Table: "a", Snapshot: snap, Name: "indexes/v.idx"},
		SnapshotDir("a", snap) + "/x%2Fy/part-0.parquet":   {Kind: KindSnapshotPart, Table: "a", Snapshot: snap, Name: "x%2Fy/part-0.parquet"},
		SnapshotDir("a", snap) + "/%null/c=d/p.parquet":    {Kind: KindSnapshotPart, Table: "a", Snapshot: snap, Name: "%null/c=d/p.parquet"},
		RequestLedger("a", "r.x", "n"):                     {Kind: KindRequests, Table: "a", Run: "r.x", Node: "n", Name: "r.x.n.parquet"},
		"tables/runs/data/runs/snapshots/n/part-1.parquet": {Kind: KindRunPart, Table: "runs", Run: "snapshots", Node: "n", Name: "part-1.parquet"},
	}
	for rel, want := range cases {
		got, err := Parse(rel)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", rel, got, err, want)
		}
		if Owner(rel) != want.Node {
			t.Errorf("%s: owner %q", rel, Owner(rel))
		}
	}
	for _, rel := range []string{
		"config.toml", "machine.sqlite", ".push.lock", "tables/a/.lock", "tables/a/_commit_seq", "tables/a", "tables/_pointer.json",
		StagingDir("a", snap) + "/" + PartName(0), RunDir("a", "r", "n") + "/.writer.lock", RunDir("a", "r", "n") + "/x.txt",
		RunDir("a", "r", "n") + "/d/" + PartName(0), "cursors/p/n/7.json", "nodes/n/other.json", "blobs/ABC", "control", "store-id/x",
		"tables/a/requests/x.parquet", SnapshotDir("a", "snapshot-7") + "/" + PartName(0), SnapshotDir("a", snap) + "/stray",
	} {
		if p, err := Parse(rel); !errors.Is(err, ErrNotSyncable) {
			t.Errorf("%s: %+v, %v", rel, p, err)
		}
	}
	for _, k := range []string{"", "/a", "a/../b", "./a", "a//b", "a/", `a\b`, "a\x00b", "a\nb", "\xff", strings.Repeat("a/", 600) + "a"} {
		if err := Check(k); !errors.Is(err, fault.SyncPrefixEscape) {
			t.Errorf("Check(%q): %v", k, err)
		}
		if _, err := Parse(k); !errors.Is(err, fault.SyncPrefixEscape) {
			t.Errorf("Parse(%q): %v", k, err)
		}
	}
}

func TestPartitionsAreDistinctAndSafe(t *testing.T) {
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ".", "..", "%empty", "%null", "indexes", "_manifest.json",
			"part-00000.parquet", "a/b", "%2F", strings.Repeat("é", 300), ".hidden"})).Draw(t, "value")
		dir := EscapePartition(v)
		if other, ok := seen[dir]; ok && other != v {
			t.Fatalf("%q and %q share %q", other, v, dir)
		}
		seen[dir] = v
		if back, ok := PartitionValues(PartitionDir([]*string{&v, nil})); ok != !strings.HasPrefix(dir, "%long-") || ok && (len(back) != 2 || *back[0] != v || back[1] != nil) {
			t.Fatalf("%q is read back as %v, %v", v, back, ok)
		}
		rel := SnapshotDir("t", SnapshotID(1)) + "/" + PartitionDir([]*string{&v, nil}) + "/" + PartName(0)
		if p, err := Parse(rel); err != nil || p.Kind != KindSnapshotPart {
			t.Fatalf("%q: %+v %v", rel, p, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("tables/a/data/runs/r/n/part-00000.parquet")
	f.Add("tables/a/../../x")
	f.Add(SnapshotManifest("a/b", SnapshotID(3)))
	f.Add(CommitLogEntry("p", "n", 1))
	f.Fuzz(func(t *testing.T, rel string) {
		p, err := Parse(rel)
		if err != nil {
			if p != (Parsed{}) {
				t.Fatalf("%q: %+v beside %v", rel, p, err)
			}
			return
		}
		if joined := path.Join("/root", rel); joined != "/root/"+rel {
			t.Fatalf("%q joins to %q", rel, joined)
		}
		if p.Table != "" && ValidTable(p.Table) != nil || p.Run != "" && ValidRun(p.Run) != nil || p.Node != "" && ValidNode(p.Node) != nil {
			t.Fatalf("%q gave an unsafe name: %+v", rel, p)
		}
	})
}
