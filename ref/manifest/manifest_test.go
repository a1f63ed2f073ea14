package manifest

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/key"
)

const runRel = "tables/a/b/data/runs/r1/n1/_manifest.json"

func runText(fields string) string {
	return `{"run_id":"r1","table":"a/b","node_id":"n1","committed_at":"2026-01-02T03:04:05.123456789Z"` + fields + `}`
}

func TestRunKeepsEveryInteger(t *testing.T) {
	m, err := DecodeRun(runRel, []byte(runText(`,"commit_seq":9007199254740993,"fence":9223372036854775807,"parts":[{"name":"p.parquet","rows":9007199254740993}],"cursor":{"at":9007199254740993},"later":[1,{"x":2}]`)))
	if err != nil {
		t.Fatal(err)
	}
	if *m.CommitSeq != 9007199254740993 || *m.Fence != 9223372036854775807 || m.RowCount != 9007199254740993 || m.FormatVersion != "1.0" {
		t.Fatalf("%+v", m)
	}
	if m.CommittedAt.String() != "2026-01-02T03:04:05.123456789Z" {
		t.Fatal(m.CommittedAt)
	}
	text, err := EncodeRun(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeRun(runRel, text)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := EncodeRun(again)
	if !bytes.Equal(text, second) || !bytes.Contains(text, []byte("9007199254740993")) {
		t.Fatalf("%s\n%s", text, second)
	}
}

func TestRunRefusals(t *testing.T) {
	cases := map[string]string{
		"duplicate key":     runText(`,"fence":1,"fence":2`),
		"deep duplicate":    runText(`,"cursor":{"a":1,"a":2}`),
		"trailing data":     runText("") + `{}`,
		"float fence":       runText(`,"fence":1.5`),
		"integral float":    runText(`,"commit_seq":1.0`),
		"exponent":          runText(`,"commit_seq":1e3`),
		"past int64":        runText(`,"commit_seq":9223372036854775808`),
		"negative seq":      runText(`,"commit_seq":-1`),
		"last seq":          runText(`,"commit_seq":9223372036854775807`),
		"negative fence":    runText(`,"fence":-1`),
		"instant too late":  strings.Replace(runText(""), "2026-01-02T", "2263-01-02T", 1),
		"instant too early": strings.Replace(runText(""), "2026-01-02T", "0002-01-02T", 1),
		"not an object":     `[]`,
		"null":              `null`,
		"empty":             ``,
		"truncated":         runText("")[:20],
		"invalid utf8":      runText(",\"batch_digest\":\"\xff\""),
		"other table":       strings.Replace(runText(""), "a/b", "a/c", 1),
		"other run":         strings.Replace(runText(""), "r1", "r2", 1),
		"other node":        strings.Replace(runText(""), "n1", "n2", 1),
		"no instant":        `{"run_id":"r1","table":"a/b","node_id":"n1"}`,
		"bad instant":       strings.Replace(runText(""), "2026-01-02T", "2026-13-02T", 1),
		"part escapes":      runText(`,"parts":[{"name":"../x.parquet","rows":1}]`),
		"part nested":       runText(`,"parts":[{"name":"d/x.parquet","rows":1}]`),
		"part absolute":     runText(`,"parts":[{"name":"/x.parquet","rows":1}]`),
		"part hidden":       runText(`,"parts":[{"name":".x.parquet","rows":1}]`),
		"part no parquet":   runText(`,"parts":[{"name":"_manifest.json","rows":1}]`),
		"part twice":        runText(`,"parts":[{"name":"x.parquet","rows":1},{"name":"x.parquet","rows":1}]`),
		"negative rows":     runText(`,"parts":[{"name":"x.parquet","rows":-5}]`),
		"rows -1":           runText(`,"parts":[{"name":"x.parquet","rows":-1}]`),
		"row_count -1":      runText(`,"row_count":-1,"parts":[{"name":"x.parquet","rows":1}]`),
		"row_count below":   runText(`,"row_count":-7`),
		"row_count a float": runText(`,"row_count":1.0,"parts":[{"name":"x.parquet","rows":1}]`),
		"key_version":       runText(`,"parts":[{"name":"x.parquet","rows":1,"key_version":-1}]`),
		"key_version wide":  runText(`,"parts":[{"name":"x.parquet","rows":1,"key_version":4294967296}]`),
		"count differs":     runText(`,"row_count":2,"parts":[{"name":"x.parquet","rows":1}]`),
		"version no shape":  runText(`,"format_version":"one"`),
		"version a number":  runText(`,"format_version":1.0`),
		"version negative":  runText(`,"format_version":"-1.0"`),
		"key in other case": strings.Replace(runText(""), `"table"`, `"Table"`, 1),
	}
	for name, text := range cases {
		if m, err := DecodeRun(runRel, []byte(text)); !errors.Is(err, fault.StoreManifestInvalid) || m != nil && err == nil {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(err.Error(), runRel) {
			t.Errorf("%s: the file is not named: %v", name, err)
		}
	}
}

func TestVersions(t *testing.T) {
	if m, err := DecodeRun(runRel, []byte(runText(`,"format_version":"1.7","brand_new":{}`))); err != nil || m.FormatVersion != "1.7" {
		t.Fatal(m, err)
	}
	// A newer major is refused before its fields are judged: parts may mean something else there.
	_, err := DecodeRun(runRel, []byte(`{"format_version":"3.0","parts":"elsewhere"}`))
	if !errors.Is(err, fault.StoreManifestFormatNewer) {
		t.Fatal(err)
	}
	for _, word := range []string{runRel, "3.0", ReaderVersion} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
	_, err = DecodeSnapshot(key.SnapshotManifest("a", key.SnapshotID(1)), []byte(`{"format_version":"3.1"}`))
	if !errors.Is(err, fault.StoreManifestFormatNewer) {
		t.Fatal(err)
	}
}

func TestUnstatedRows(t *testing.T) {
	m, err := DecodeRun(runRel, []byte(runText(`,"parts":[{"name":"a.parquet"},{"name":"b.parquet","rows":2}]`)))
	if err != nil || m.Parts[0].Rows != RowsUnknown || m.RowCount != RowsUnknown {
		t.Fatal(m, err)
	}
	if _, err := EncodeRun(m); err == nil {
		t.Error("rows that nobody knows were written")
	}
	m, err = DecodeRun(runRel, []byte(runText(`,"row_count":null,"parts":[{"name":"a.parquet","rows":null}]`)))
	if err != nil || m.Parts[0].Rows != RowsUnknown || m.RowCount != RowsUnknown {
		t.Fatal(m, err)
	}
	m, err = DecodeRun(runRel, []byte(runText(`,"parts":[]`)))
	if err != nil || m.RowCount != 0 {
		t.Fatal(m, err)
	}
}

// A frontier of a run without a sequence number is written without one and read as the lowest; a written number is one.
func TestFrontierNumbers(t *testing.T) {
	rel := key.SnapshotManifest("a", key.SnapshotID(1))
	text := func(frontier string) []byte {
		return []byte(`{"snapshot_id":"snapshot-00000000000000000001","table":"a","created_at":"2026-01-01T00:00:00Z","row_count":0,"parts":[],` +
			`"replacement":{"run":"r/n","committed_at":"2026-01-01T00:00:00Z"` + frontier + `}}`)
	}
	m, err := DecodeSnapshot(rel, text(""))
	if err != nil || m.Replacement.CommitSeq != -1 {
		t.Fatal(m, err)
	}
	again, err := EncodeSnapshot(m)
	if err != nil || bytes.Contains(again, []byte("commit_seq")) {
		t.Fatal(string(again), err)
	}
	if m, err = DecodeSnapshot(rel, text(`,"commit_seq":0`)); err != nil || m.Replacement.CommitSeq != 0 {
		t.Fatal(m, err)
	}
	for _, n := range []string{"-1", "9223372036854775807", "1.0"} {
		if _, err := DecodeSnapshot(rel, text(`,"commit_seq":`+n)); !errors.Is(err, fault.StoreManifestInvalid) {
			t.Errorf("%s: %v", n, err)
		}
	}
	unlisted := []byte(`{"snapshot_id":"snapshot-00000000000000000001","table":"a","created_at":"2026-01-01T00:00:00Z","row_count":-1}`)
	if _, err := DecodeSnapshot(rel, unlisted); !errors.Is(err, fault.StoreManifestInvalid) {
		t.Error(err)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	parent, fence, empty := key.SnapshotID(41), int64(3), []string{}
	tenant := "a/b"
	m := &Snapshot{SnapshotID: key.SnapshotID(42), Parent: &parent, Table: "t", CreatedAt: At(time.Unix(7, 9)), IncludesRuns: []string{"r/n"},
		PrimaryKey: []string{"id"}, RowCount: 3, Fence: &fence, FormatVersion: "1.0",
		Parts:       []Part{{Name: "x%2Fy/part-00000.parquet", Rows: 3, Partition: []*string{&tenant, nil}, FineColumns: &empty}},
		Replacement: &Frontier{Run: "r/n", CommitSeq: 1 << 60, CommittedAt: At(time.Unix(5, 1))}}
	text, err := EncodeSnapshot(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeSnapshot(key.SnapshotManifest("t", m.SnapshotID), text)
	if err != nil || !reflect.DeepEqual(m, back) {
		t.Fatalf("%+v\n%+v\n%v", m, back, err)
	}
	for name, text := range map[string]string{
		"wrong id":   strings.Replace(string(text), key.SnapshotID(42), key.SnapshotID(43), 1),
		"bad parent": strings.Replace(string(text), key.SnapshotID(41), "snapshot-x", 1),
		"bad run":    strings.Replace(string(text), `"r/n"`, `"r"`, 1),
		"escape":     strings.Replace(string(text), "x%2Fy/part", "../part", 1),
	} {
		if _, err := DecodeSnapshot(key.SnapshotManifest("t", m.SnapshotID), []byte(text)); !errors.Is(err, fault.StoreManifestInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPointer(t *testing.T) {
	p, err := DecodePointer("p", []byte(`{"snapshot_id":null,"fence":7}`))
	if err != nil || p.SnapshotID != nil || *p.Fence != 7 {
		t.Fatal(p, err)
	}
	for _, text := range []string{`{"snapshot_id":"../x"}`, `{"fence":-1}`, `{"fence":"1"}`, `{"fence":1,"fence":1}`, ``, `7`} {
		if _, err := DecodePointer("p", []byte(text)); !errors.Is(err, fault.StoreManifestInvalid) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := DecodeBucketPointer("p", []byte(text)); !errors.Is(err, fault.SyncManifestInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	seven := int64(7)
	if !FenceBelow(nil, &seven) || FenceBelow(&seven, nil) || FenceBelow(nil, nil) || FenceBelow(&seven, &seven) {
		t.Error("fence order")
	}
}

func TestBucket(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	entry := `{"sha256":"` + digest + `","size":3,"owner":"n"}`
	b, err := DecodeBucket("manifest.json", []byte(`{"generation":4,"committed_by":"n","entries":{"p/store-id":`+entry+`},"pointers":{"p/tables/a/_pointer.json":{"snapshot_id":null,"fence":1}}}`))
	if err != nil || b.Format != 1 || b.Entries["p/store-id"].Size != 3 || b.Tombstones == nil {
		t.Fatal(b, err)
	}
	text, err := EncodeBucket(b)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeBucket("manifest.json", text); err != nil || !reflect.DeepEqual(b, back) {
		t.Fatal(back, err)
	}
	for _, k := range []string{"../x", "/x", "a//b", `a\\b`, "a\\u0000b", ".", ""} {
		for _, field := range []string{"entries", "tombstones", "pointers", "collected"} {
			value := `{}`
			if field == "entries" {
				value = entry
			}
			if _, err := DecodeBucket("manifest.json", []byte(`{"`+field+`":{"`+k+`":`+value+`}}`)); !errors.Is(err, fault.SyncPrefixEscape) {
				t.Errorf("%s %s: %v", field, k, err)
			}
		}
	}
	for _, text := range []string{`{"format":3}`, `{"generation":1.5}`, `{"entries":{"a":{"sha256":"x","size":1}}}`, `{"entries":{"a":` + entry + `,"a":` + entry + `}}`,
		`{"entries":{"a":{"sha256":"` + digest + `","size":-1}}}`, `{} {}`, `{"generation":9223372036854775807}`, `{"pointers":{"a":{"snapshot_id":"x"}}}`} {
		if _, err := DecodeBucket("manifest.json", []byte(text)); !errors.Is(err, fault.SyncManifestInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(runText(`,"parts":[{"name":"p.parquet","rows":3,"fine_columns":[]}]`)))
	f.Add([]byte(`{"snapshot_id":"snapshot-00000000000000000001","table":"a","created_at":"2026-01-01T00:00:00Z","parts":[]}`))
	f.Add([]byte(`{"kind":"commit","table":"a","run_id":"r","fence":3}`))
	f.Add([]byte(`{"format":2,"entries":{},"collected":{"a":{"at":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := DecodeRun(runRel, data); err == nil {
			text, err := EncodeRun(m)
			if err != nil {
				if counts(m.Parts, m.RowCount) == nil {
					t.Fatal(err)
				}
				return
			}
			if back, err := DecodeRun(runRel, text); err != nil || back.RowCount != m.RowCount || len(back.Parts) != len(m.Parts) {
				t.Fatalf("%s: %v", text, err)
			}
		}
		rel := key.SnapshotManifest("a", key.SnapshotID(1))
		if m, err := DecodeSnapshot(rel, data); err == nil {
			text, err := EncodeSnapshot(m)
			if err != nil && counts(m.Parts, m.RowCount) != nil {
				return
			}
			if _, err := DecodeSnapshot(rel, text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if p, err := DecodePointer("p", data); err == nil {
			text, _ := EncodePointer(p)
			if back, err := DecodePointer("p", text); err != nil || !reflect.DeepEqual(p, back) {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if b, err := DecodeBucket("b", data); err == nil {
			text, _ := EncodeBucket(b)
			if _, err := DecodeBucket("b", text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if e, err := DecodeLogEntry("l", data); err == nil {
			text, _ := EncodeLogEntry(e)
			if _, err := DecodeLogEntry("l", text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}
