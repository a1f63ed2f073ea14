package colfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// line is a row of the parts below: key and small may be null.
type line struct {
	key   *string
	small int32
	at    int64
}

func writeLines(t rapid.TB, path string, rows []line, o Options) {
	t.Helper()
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "key", Type: schema.Of(schema.Utf8), Nullable: true}, {Name: "small", Type: schema.Of(schema.Int32), Nullable: true},
		{Name: "big", Type: schema.Of(schema.Int64), Nullable: true}, {Name: "at", Type: schema.Of(schema.Timestamp), Nullable: true},
	}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.Arrow())
	defer b.Release()
	for _, r := range rows {
		if r.key == nil {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(*r.key)
		}
		b.Field(1).(*array.Int32Builder).Append(r.small)
		b.Field(2).(*array.Int64Builder).Append(int64(r.small) << 20)
		b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(r.at))
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s.Arrow(), o)
	if err != nil {
		t.Fatal(err)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	if err := errors.Join(w.Write(rec), w.Close(), os.WriteFile(path, buf.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func openGroups(t rapid.TB, path string) *GroupReader {
	t.Helper()
	g, err := OpenGroups(vfs.OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wantedLine looks for one row by all its columns.
func wantedLine(r line) *Wanted {
	key := WantedColumn{Name: "key", Kind: WantedText, Texts: []string{""}, Null: []bool{r.key == nil}}
	if r.key != nil {
		key.Texts[0] = *r.key
	}
	return NewWanted(1, []WantedColumn{
		{Name: "at", Kind: WantedInstant, Ints: []int64{r.at}}, key,
		{Name: "small", Kind: WantedInteger, Ints: []int64{int64(r.small)}}, {Name: "big", Kind: WantedInteger, Ints: []int64{int64(r.small) << 20}},
	})
}

// No row that a group holds is ever overlooked, whatever lies in the other columns, and whatever else is looked for.
func TestHeldRowsAreNeverLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Custom(func(t *rapid.T) line {
			r := line{small: rapid.Int32Range(-40, 40).Draw(t, "small"), at: rapid.Int64Range(-50, 50).Draw(t, "at") * 1e9}
			if rapid.IntRange(0, 9).Draw(t, "null") > 0 {
				k := rapid.StringMatching(`[a-dé]{0,3}`).Draw(t, "key")
				r.key = &k
			}
			return r
		})
		rows := rapid.SliceOfN(row, 1, 60).Draw(t, "rows")
		o := Options{RowGroupRows: rapid.Int64Range(1, 20).Draw(t, "group")}
		if rapid.Bool().Draw(t, "bloom") {
			o.Bloom, o.BloomRows = []string{"key", "small", "big", "at", "nowhere"}, int64(len(rows))
		}
		writeLines(t, path, rows, o)
		g := openGroups(t, path)
		defer g.Close()
		for i, r := range rows {
			group := i / int(o.RowGroupRows)
			if !g.MayHold(group, wantedLine(r)) {
				t.Fatalf("row group %d of %d holds %+v and is left out", group, g.Len(), r)
			}
		}
		others := rapid.SliceOfN(row, 1, 30).Draw(t, "others")
		found := map[int]bool{}
		for _, r := range others {
			for group := range g.Len() {
				found[group] = found[group] || g.MayHold(group, wantedLine(r))
			}
		}
		// Many rows at once are looked for as each alone.
		key, at := WantedColumn{Name: "key", Kind: WantedText}, WantedColumn{Name: "at", Kind: WantedInstant}
		small, big := WantedColumn{Name: "small", Kind: WantedInteger}, WantedColumn{Name: "big", Kind: WantedInteger}
		for _, r := range others {
			text := ""
			if r.key != nil {
				text = *r.key
			}
			key.Texts, key.Null = append(key.Texts, text), append(key.Null, r.key == nil)
			at.Ints, small.Ints, big.Ints = append(at.Ints, r.at), append(small.Ints, int64(r.small)), append(big.Ints, int64(r.small)<<20)
		}
		for _, columns := range [][]WantedColumn{{key, at, small, big}, {at, small, key, big}} {
			w := NewWanted(len(others), columns)
			for group := range g.Len() {
				if g.MayHold(group, w) != found[group] {
					t.Fatalf("row group %d: together %t, one by one %t", group, !found[group], found[group])
				}
			}
		}
	})
}

// many has n rows in order of at and small; the keys are hashes of nothing in particular.
func many(n int) []line {
	var rows []line
	for i := range n {
		k := fmt.Sprintf("key-%x", uint32(i)*2654435761)
		rows = append(rows, line{key: &k, small: int32(i), at: int64(i) * 1e9})
	}
	return rows
}

func TestWhatLeavesARowGroupOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	rows := many(4000)
	writeLines(t, path, rows, Options{RowGroupRows: 1000, Bloom: []string{"key", "big"}, BloomRows: 4000})
	g := openGroups(t, path)
	defer g.Close()
	if g.Len() != 4 || g.Rows(2) != 1000 {
		t.Fatal(g.Len(), g.Rows(2))
	}
	for _, c := range []struct {
		name string
		by   WantedColumn
	}{
		{"an instant's bounds", WantedColumn{Name: "at", Kind: WantedInstant, Ints: []int64{rows[2500].at}}},
		{"an integer's bounds", WantedColumn{Name: "small", Kind: WantedInteger, Ints: []int64{2500}}},
		{"a text's filter", WantedColumn{Name: "key", Kind: WantedText, Texts: []string{*rows[2500].key}}},
		{"a long integer's filter", WantedColumn{Name: "big", Kind: WantedInteger, Ints: []int64{2500 << 20}}},
	} {
		for group := range 4 {
			if got := g.MayHold(group, NewWanted(1, []WantedColumn{c.by})); got != (group == 2) {
				t.Errorf("by %s row group %d: %t", c.name, group, got)
			}
		}
	}
	none := WantedColumn{Name: "big", Kind: WantedInteger, Ints: []int64{2500<<20 + 1}}
	if g.MayHold(2, NewWanted(1, []WantedColumn{none})) {
		t.Error("a filter leaves nothing out within the bounds")
	}
	none.Unlisted = true
	if !g.MayHold(2, NewWanted(1, []WantedColumn{none})) {
		t.Error("an unlisted column was looked up in a filter")
	}
	if !g.MayHold(0, NewWanted(1, nil)) {
		t.Error("nothing is known of the rows, and a row group is left out")
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 200<<10 {
		t.Error("filters are not sized by the rows", info.Size(), err)
	}
}

// A filter lists every value of its chunk, also where there were too many for a dictionary, and few others.
func TestFilterOfManyKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	key := func(i int) string { return fmt.Sprintf("%016x", uint64(i)*0x9E3779B97F4A7C15) }
	var rows []line
	for i := range 100_000 {
		k := key(i)
		rows = append(rows, line{key: &k, small: int32(i)})
	}
	writeLines(t, path, rows, Options{Bloom: []string{"key"}, BloomRows: 100_000})
	g := openGroups(t, path)
	defer g.Close()
	filter := g.filter(0, "key")
	if filter == nil || filter.Size() > 512<<10 {
		t.Fatal("a filter for 100,000 keys", filter)
	}
	mistakes := 0
	for i := range rows {
		if !filter.CheckHash(filter.Hasher().Sum64([]byte(key(i)))) {
			t.Fatalf("key %d is not listed", i)
		}
		if filter.CheckHash(filter.Hasher().Sum64([]byte(key(i + 1_000_000)))) {
			mistakes++
		}
	}
	if mistakes > 50 {
		t.Errorf("%d of 100,000 keys that are not there are listed", mistakes)
	}
}

// A row group that nobody asks for is not touched: its bytes may be anything.
func TestScanOfOneGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	rows := many(4000)
	writeLines(t, path, rows, Options{RowGroupRows: 1000})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := openGroups(t, path)
	spoilt := 0
	for _, group := range []int{0, 1, 3} {
		for leaf := range 4 {
			c, err := g.reader.MetaData().RowGroup(group).ColumnChunk(leaf)
			if err != nil {
				t.Fatal(err)
			}
			from, length := chunkRange(c)
			for i := range length {
				data[from+i] = 0xff
				spoilt++
			}
		}
	}
	g.Close()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	g = openGroups(t, path)
	defer g.Close()
	s, err := g.Scan(context.Background(), 2, []string{"small", "key", "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := s.Next()
	if err != nil || rec.NumRows() != 1000 || rec.NumCols() != 2 || rec.Column(1).(*array.Int32).Value(7) != 2007 {
		t.Fatal(rec, err)
	}
	rec.Release()
	if rec, err := s.Next(); rec != nil || err != nil {
		t.Fatal("there are rows behind the group's last", rec, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if g.Bytes(2, []string{"small", "nowhere"}) == 0 {
		t.Fatal(g.Bytes(2, []string{"small"}))
	}
	s, err = g.Scan(context.Background(), 1, []string{"key"})
	if err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, fault.StorePartDamaged) {
		t.Fatalf("%d bytes of the other groups are spoilt, and reading one says %v", spoilt, err)
	}
}

// Statistics and filters that make no sense leave nothing out.
func TestHostileStatistics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	writeLines(t, path, many(1000), Options{Bloom: []string{"key"}, BloomRows: 1000})
	absent := NewWanted(1, []WantedColumn{{Name: "small", Kind: WantedInteger, Ints: []int64{-7}}})
	missing := NewWanted(1, []WantedColumn{{Name: "key", Kind: WantedText, Texts: []string{"key-0000"}}})
	for name, spoil := range map[string]func(*GroupReader){
		"no statistics":  func(g *GroupReader) { g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics = nil },
		"no lower bound": func(g *GroupReader) { g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MinValue = nil },
		"no upper bound": func(g *GroupReader) { g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = nil },
		"bounds of no length": func(g *GroupReader) {
			g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MinValue = []byte{}
		},
		"bounds too long": func(g *GroupReader) {
			g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = make([]byte, 8)
		},
		"bounds in the wrong order": func(g *GroupReader) {
			s := g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.MinValue, s.MaxValue = s.MaxValue, s.MinValue
		},
		"bounds in the old fields alone": func(g *GroupReader) {
			s := g.reader.MetaData().RowGroups[0].Columns[1].MetaData.Statistics
			s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil
		},
	} {
		g := openGroups(t, path)
		if g.MayHold(0, absent) {
			t.Fatal("the bounds leave nothing out before they are spoilt")
		}
		if spoil(g); !g.MayHold(0, absent) {
			t.Errorf("%s: left out", name)
		}
		g.Close()
	}
	number := func(v int64) *int64 { return &v }
	length := func(v int32) *int32 { return &v }
	for name, at := range map[string]struct {
		offset *int64
		length *int32
	}{
		"no filter": {nil, nil}, "before the file": {number(-5), nil}, "behind the file": {number(1 << 40), nil}, "longer than the file": {nil, length(1 << 30)},
		"of less than no bytes": {nil, length(-1)}, "on the magic word": {number(1), nil}, "in the pages": {number(700), length(64)},
	} {
		g := openGroups(t, path)
		if g.MayHold(0, missing) {
			t.Fatal("the filter leaves nothing out before it is spoilt")
		}
		meta := g.reader.MetaData().RowGroups[0].Columns[0].MetaData
		if at.offset != nil || at.length == nil {
			meta.BloomFilterOffset = at.offset
		}
		if meta.BloomFilterLength = at.length; !g.MayHold(0, missing) {
			t.Errorf("a filter %s: left out", name)
		}
		g.Close()
	}
}

// Damage in nested columns is an error or readable data, and never the end of the process: the library reads them on this goroutine.
func TestDamagedNestedColumns(t *testing.T) {
	item := schema.Type{Kind: schema.Struct, Fields: []schema.Field{{Name: "n", Type: schema.Of(schema.Int64)}, {Name: "s", Type: schema.Of(schema.Utf8)}}}
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "l", Type: schema.Type{Kind: schema.List, Elem: &item}, Nullable: true}, {Name: "v", Type: schema.Type{Kind: schema.List, Elem: &schema.Type{Kind: schema.Float64}}, Nullable: true},
	}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.Arrow())
	defer b.Release()
	for i := range 40 {
		if err := b.UnmarshalJSON(fmt.Appendf(nil, `{"l":[{"n":%d,"s":"t%d"},null,{"n":null}],"v":[0.5,%d,null]}`, i, i%3, i)); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s.Arrow(), Options{RowGroupRows: 20})
	if err != nil {
		t.Fatal(err)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "part.parquet")
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (rows int64, err error) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := OpenGroups(vfs.OS{}, path)
		if err != nil {
			return 0, err
		}
		defer g.Close()
		for group := range g.Len() {
			s, err := g.Scan(context.Background(), group, []string{"l", "v"})
			if err != nil {
				return rows, err
			}
			for {
				rec, err := s.Next()
				if err != nil || rec == nil {
					s.Close()
					if err != nil {
						return rows, err
					}
					break
				}
				rows += rec.NumRows()
				rec.Release()
			}
		}
		return rows, nil
	}
	if n, err := read(buf.Bytes()); n != 40 || err != nil {
		t.Fatal(n, err)
	}
	pages := buf.Len() - 8 - int(binary.LittleEndian.Uint32(buf.Bytes()[buf.Len()-8:]))
	for i := 4; i < pages; i += 2 {
		for _, flip := range []byte{0xff, 0x01} {
			data := bytes.Clone(buf.Bytes())
			data[i] ^= flip
			if _, err := read(data); err != nil && !errors.Is(err, fault.StorePartDamaged) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}
