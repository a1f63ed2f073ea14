package inspect

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
	for _, c := range []struct {
		a, b any
		same bool
	}{
		{5, json.Number("5.0"), true},
		{json.Number("9007199254740993"), "9007199254740993", true},
		{int64(9007199254740993), json.Number("9007199254740992"), false},
		{at, "2026-03-01T13:00:00.000000001+01:00", true},
		{at, "2026-03-01 12:00:00.000000001+00", true},
		{at, "2026-03-01T12:00:00Z", false},
		{nil, "null", false},
		{math.Copysign(0, -1), 0.0, false},
		{math.NaN(), "NaN", true},
		{"", nil, false},
		{map[string]any{"b": 1, "a": 2}, map[string]any{"a": 2.0, "b": json.Number("1")}, true},
	} {
		require.Equal(t, c.same, Canonical(c.a) == Canonical(c.b), "%v and %v: %s, %s", c.a, c.b, Canonical(c.a), Canonical(c.b))
	}
}

func TestParseGrid(t *testing.T) {
	g, err := ParseGrid(`{"columns":[{"name":"a","type":"int64"},"b"],"rows":[[9007199254740993,null]],"truncated":false}`)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, g.Columns)
	require.Equal(t, []string{"a=9007199254740993 b=null"}, g.Lines())
	for _, bad := range []string{`nonsense`, `{"rows":[]}`, `{"columns":["a"],"rows":[[1,2]]}`, `{"columns":["a"],"rows":[],"truncated":true}`} {
		_, err := ParseGrid(bad)
		require.Error(t, err, bad)
	}
}

func TestDocumentsAreReadStrictly(t *testing.T) {
	p, err := DecodePointer("p", []byte(`{"snapshot_id":null,"fence":3,"later":"minor"}`))
	require.NoError(t, err)
	require.Empty(t, p.SnapshotID)
	require.EqualValues(t, 3, *p.Fence)
	for _, bad := range []string{`[]`, `{"snapshot_id":null}`, `{"snapshot_id":"snapshot-1","fence":null}`} {
		_, err := DecodePointer("p", []byte(bad))
		require.Error(t, err, bad)
	}
	s, err := DecodeSnapshot("s", []byte(`{"format_version":"1.0","snapshot_id":"a","parent":"b","table":"t","created_at":"2026-03-01T12:00:00.000000001Z","includes_runs":["r/n"],"parts":[{"name":"x","rows":2}],"fence":null}`))
	require.NoError(t, err)
	require.Equal(t, "b", s.Parent)
	require.Equal(t, 1, s.CreatedAt.Nanosecond())
	b, err := DecodeBucket("b", []byte(`{"generation":7,"entries":{"k":{"sha256":"d","size":1,"owner":"n"}},"pointers":{"p":{"snapshot_id":null,"fence":null}}}`))
	require.NoError(t, err)
	require.EqualValues(t, 7, b.Generation)
	require.Contains(t, b.Pointers, "p")
	l, err := DecodeLease("l", []byte(`{"holder":null,"fence":2,"acquired_at":null,"expires_at":null}`))
	require.NoError(t, err)
	require.Equal(t, LeaseDoc{Fence: 2}, l)
}

func TestTreesAreCompared(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("a/x", "1")
	write("a/y", "1")
	before, err := Snap(dir)
	require.NoError(t, err)
	write("a/y", "22")
	write("b/z", "1")
	require.NoError(t, os.Remove(filepath.Join(dir, "a/x")))
	after, err := Snap(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"- a/x", "~ a/y (1 -> 2 bytes)", "+ b/z (1 bytes)"}, before.Diff(after))
	none, err := Snap(filepath.Join(dir, "nowhere"))
	require.NoError(t, err)
	require.Empty(t, none)
	require.True(t, Meaningful("tables/t/_pointer.json"))
	for _, p := range []string{"machine.sqlite-wal", ".push.lock", "tables/t/data/snapshots/s.staging/p", "tables/t/_commit_seq"} {
		require.False(t, Meaningful(p), p)
	}
}

func TestSchemaTypes(t *testing.T) {
	fields, err := DecodeSchema("s", []byte(`{"fields":[
		{"name":"a","nullable":true,"type":{"name":"int","bitWidth":64,"isSigned":true}},
		{"name":"b","nullable":false,"type":{"name":"floatingpoint","precision":"DOUBLE"}},
		{"name":"c","type":{"name":"utf8"},"metadata":[{"key":"ARROW:extension:name","value":"arrow.json"}]}]}`))
	require.NoError(t, err)
	require.Equal(t, []Field{{Name: "a", Type: "int64", Nullable: true}, {Name: "b", Type: "float64"}, {Name: "c", Type: "json"}}, fields)
}

func TestADamagedPartIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.parquet")
	require.NoError(t, os.WriteFile(path, []byte("PAR1 nothing of the kind PAR1"), 0o644))
	_, _, err := ParquetColumns(path)
	require.ErrorContains(t, err, "p.parquet")
	_, err = ParquetRows(path)
	require.Error(t, err)
	require.Len(t, Complete([]Part{{Path: path, Rows: 1}, {Path: path + ".gone"}}), 2)
}
