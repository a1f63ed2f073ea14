package manifest

import (
	"fmt"
	"strings"
	"testing"

	"contextful/ref/key"
)

// An index that does not decode, or is of another snapshot, or would lead out of the store, is not trusted; the manifest
// around it stands.
func TestFoldedRunsDecode(t *testing.T) {
	id, other := key.SnapshotID(7), key.SnapshotID(6)
	digest := strings.Repeat("ab", 32)
	segment := func(at, name, sha, rows string) string {
		return fmt.Sprintf(`{"snapshot_id":%q,"name":%q,"sha256":%q,"rows":%s}`, at, name, sha, rows)
	}
	good := segment(other, "folded-00000.parquet", digest, "3")
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"whole":          {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, good), true},
		"none":           {fmt.Sprintf(`{"through":%q,"segments":[]}`, id), true},
		"newer fields":   {fmt.Sprintf(`{"through":%q,"segments":[%s],"more":{}}`, id, good), true},
		"text":           {`"folded"`, false},
		"list":           {`[]`, false},
		"number":         {`7`, false},
		"segments":       {fmt.Sprintf(`{"through":%q,"segments":7}`, id), false},
		"rows a text":    {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "folded-00000.parquet", digest, `"3"`)), false},
		"rows a float":   {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "folded-00000.parquet", digest, `3.5`)), false},
		"rows negative":  {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "folded-00000.parquet", digest, `-1`)), false},
		"no rows":        {fmt.Sprintf(`{"through":%q,"segments":[{"snapshot_id":%q,"name":"folded-00000.parquet","sha256":%q}]}`, id, other, digest), false},
		"no digest":      {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "folded-00000.parquet", "", "3")), false},
		"other snapshot": {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, other, good), false},
		"no through":     {fmt.Sprintf(`{"segments":[%s]}`, good), false},
		"escape":         {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "../folded-00000.parquet", digest, "3")), false},
		"nested":         {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "folded-a/x.parquet", digest, "3")), false},
		"another file":   {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment(other, "part-00000.parquet", digest, "3")), false},
		"origin escapes": {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment("../"+other, "folded-00000.parquet", digest, "3")), false},
		"no origin":      {fmt.Sprintf(`{"through":%q,"segments":[%s]}`, id, segment("", "folded-00000.parquet", digest, "3")), false},
		"twice":          {fmt.Sprintf(`{"through":%q,"segments":[%s,%s]}`, id, good, good), false},
	} {
		text := fmt.Sprintf(`{"snapshot_id":%q,"table":"t","parent":null,"created_at":"2026-01-02T00:00:00Z","parts":[],"folded_runs":%s}`, id, c.text)
		m, err := DecodeSnapshot(key.SnapshotManifest("t", id), []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.FoldedRuns.Describes(id) != c.good {
			t.Errorf("%s: trusted %t", name, !c.good)
		}
		for rel := range m.FoldedRuns.Files("t") {
			if p, err := key.Parse(rel); err != nil || p.Kind != key.KindSnapshotFolded {
				t.Errorf("%s: names %s", name, rel)
			}
		}
	}
	if (*FoldedRuns)(nil).Describes(id) {
		t.Error("no index is trusted")
	}
}

func TestSnapshotVersion(t *testing.T) {
	own, other := key.SnapshotID(7), key.SnapshotID(6)
	part := func(at string) []Part { return []Part{{Name: "part-00000.parquet", SnapshotID: at}} }
	index := func(at string) *FoldedRuns { return &FoldedRuns{Through: own, Segments: []Segment{{SnapshotID: at}}} }
	for _, c := range []struct {
		m    Snapshot
		want string
	}{
		{Snapshot{}, "1.0"}, {Snapshot{Parts: part("")}, "1.0"}, {Snapshot{Parts: part(own)}, "1.0"}, {Snapshot{Parts: part(other)}, "2.0"},
		{Snapshot{FoldedRuns: index(own), Parts: part("")}, "1.1"}, {Snapshot{FoldedRuns: index(other), Parts: part("")}, "2.1"},
		{Snapshot{FoldedRuns: index(own), Parts: part(other)}, "2.1"}, {Snapshot{FoldedRuns: &FoldedRuns{Through: own}}, "1.1"},
	} {
		c.m.SnapshotID = own
		if have := SnapshotVersion(&c.m); have != c.want {
			t.Errorf("%+v: %s, not %s", c.m, have, c.want)
		}
	}
}
