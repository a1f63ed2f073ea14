package colfile

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
)

// WantedKind is how the values of a wanted column compare.
type WantedKind uint8

// The kinds that a row group may be left out by.
const (
	WantedText    WantedKind = iota // Texts, by their bytes
	WantedInteger                   // Ints
	WantedInstant                   // Ints: nanoseconds of UTC since 1970
)

// WantedColumn holds one value for each wanted row, in Texts or in Ints. Null, where it is not nil, says which rows have none:
// no row group is left out because of those.
type WantedColumn struct {
	Name  string
	Kind  WantedKind
	Ints  []int64
	Texts []string
	Null  []bool
	// Unlisted columns are looked up by bounds alone, and not in bloom filters.
	Unlisted bool
}

// Wanted is a set of rows that somebody looks for, known by some of their columns. Put the column first that row groups are sorted by.
type Wanted struct {
	columns []WantedColumn
	rows    int
	order   []int32 // of the rows: those without a value in the first column, then by it
	nulls   int
}

// NewWanted takes the columns, each of rows values. Without a column it leaves no row group out.
func NewWanted(rows int, columns []WantedColumn) *Wanted {
	w := &Wanted{columns: columns, rows: rows, order: make([]int32, rows)}
	for i := range w.order {
		w.order[i] = int32(i)
	}
	if len(columns) == 0 {
		return w
	}
	first := &columns[0]
	slices.SortFunc(w.order, func(a, b int32) int {
		if x, y := first.null(a), first.null(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return first.compare(a, b)
	})
	w.nulls = sort.Search(rows, func(i int) bool { return !first.null(w.order[i]) })
	return w
}

func (c *WantedColumn) null(row int32) bool { return c.Null != nil && c.Null[row] }

func (c *WantedColumn) compare(a, b int32) int {
	if c.Kind == WantedText {
		return cmp.Compare(c.Texts[a], c.Texts[b])
	}
	return cmp.Compare(c.Ints[a], c.Ints[b])
}

// bounds are what a footer says of a column of a row group. Only what is plain counts: without both bounds, or with bounds of
// another length or in the wrong order, known is false, and nothing is left out by them.
type bounds struct {
	known        bool
	low, high    int64
	first, last  string
	narrow       bool // integers of four bytes
	filter       metadata.BloomFilter
	filterLoaded bool
}

func (b *bounds) holds(c *WantedColumn, row int32) bool {
	switch {
	case !b.known || c.null(row):
		return true
	case c.Kind == WantedText:
		return b.first <= c.Texts[row] && c.Texts[row] <= b.last
	}
	return b.low <= c.Ints[row] && c.Ints[row] <= b.high
}

// MayHold tells whether a row group can hold one of the wanted rows, by the footer's bounds and the bloom filters alone: no page is
// read. What the footer or a filter does not say plainly leaves nothing out. Statistics that lie do: a reader that trusts them
// overlooks rows, as every reader of such a file does.
func (g *GroupReader) MayHold(group int, w *Wanted) bool {
	if len(w.columns) == 0 || g.Rows(group) == 0 {
		return g.Rows(group) > 0
	}
	all := make([]bounds, len(w.columns))
	for i := range w.columns {
		all[i] = g.bounds(group, &w.columns[i])
	}
	defer func() {
		for _, b := range all {
			if f, ok := b.filter.(interface{ Release() }); ok {
				f.Release()
			}
		}
	}()
	for _, row := range w.order[:w.nulls] {
		if g.mayHoldRow(group, w, all, row) {
			return true
		}
	}
	rest := w.order[w.nulls:]
	if first := &w.columns[0]; all[0].known {
		from := sort.Search(len(rest), func(i int) bool {
			if first.Kind == WantedText {
				return first.Texts[rest[i]] >= all[0].first
			}
			return first.Ints[rest[i]] >= all[0].low
		})
		rest = rest[from:]
	}
	for _, row := range rest {
		if !all[0].holds(&w.columns[0], row) {
			return false // the rows are sorted: the ones to come lie above as well
		}
		if g.mayHoldRow(group, w, all, row) {
			return true
		}
	}
	return false
}

func (g *GroupReader) mayHoldRow(group int, w *Wanted, all []bounds, row int32) bool {
	for i := range w.columns {
		if !all[i].holds(&w.columns[i], row) {
			return false
		}
	}
	for i := range w.columns {
		if c := &w.columns[i]; !c.null(row) && !g.listed(group, c, &all[i], row) {
			return false
		}
	}
	return true
}

// bounds reads the statistics of a column, as far as its physical and logical type are what the wanted column's kind says.
func (g *GroupReader) bounds(group int, c *WantedColumn) (b bounds) {
	leaf, ok := g.leaf(c.Name)
	if !ok {
		return b // the column is null throughout, or of a type that nobody looks for
	}
	column := g.reader.MetaData().Schema.Column(leaf)
	meta := g.reader.MetaData().RowGroups[group].Columns[leaf].MetaData
	if meta == nil || !g.comparable(column, c.Kind) {
		b.filterLoaded = true // a filter over other bytes says nothing either
		return b
	}
	b.narrow = column.PhysicalType() == parquet.Types.Int32
	stats := meta.Statistics
	// The older min and max fields have no order that all writers agree on.
	if stats == nil || stats.MinValue == nil || stats.MaxValue == nil {
		return b
	}
	if c.Kind == WantedText {
		// A writer may cut long texts: the lower bound is then below all values, the upper one above them.
		b.first, b.last = string(stats.MinValue), string(stats.MaxValue)
		b.known = b.first <= b.last
		return b
	}
	low, okLow := integer(stats.MinValue, b.narrow)
	high, okHigh := integer(stats.MaxValue, b.narrow)
	scale := int64(1)
	if t, ok := column.LogicalType().(pqschema.TimestampLogicalType); ok {
		scale = map[pqschema.TimeUnitType]int64{pqschema.TimeUnitMillis: 1e6, pqschema.TimeUnitMicros: 1e3, pqschema.TimeUnitNanos: 1}[t.TimeUnit()]
	}
	b.known = okLow && okHigh && low <= high && scale > 0 && low >= math.MinInt64/max(scale, 1) && high <= math.MaxInt64/max(scale, 1)
	b.low, b.high = low*scale, high*scale
	return b
}

// comparable says whether bounds and filters of a column are over values as the kind compares them.
func (g *GroupReader) comparable(column *pqschema.Column, k WantedKind) bool {
	physical := column.PhysicalType()
	switch logical := column.LogicalType().(type) {
	case pqschema.StringLogicalType:
		return k == WantedText && physical == parquet.Types.ByteArray
	case pqschema.TimestampLogicalType:
		return k == WantedInstant && physical == parquet.Types.Int64
	case pqschema.IntLogicalType:
		return k == WantedInteger && logical.IsSigned() && (physical == parquet.Types.Int32 || physical == parquet.Types.Int64)
	case pqschema.NoLogicalType, nil:
		return k == WantedInteger && (physical == parquet.Types.Int32 || physical == parquet.Types.Int64)
	}
	return false
}

func integer(data []byte, narrow bool) (int64, bool) {
	switch {
	case narrow && len(data) == 4:
		return int64(int32(binary.LittleEndian.Uint32(data))), true
	case !narrow && len(data) == 8:
		return int64(binary.LittleEndian.Uint64(data)), true
	}
	return 0, false
}

// listed asks the column's bloom filter, which is read at the first question.
func (g *GroupReader) listed(group int, c *WantedColumn, b *bounds, row int32) bool {
	if c.Unlisted || c.Kind == WantedInstant {
		return true
	}
	if !b.filterLoaded {
		b.filter, b.filterLoaded = g.filter(group, c.Name), true
	}
	if b.filter == nil {
		return true
	}
	var data []byte
	switch {
	case c.Kind == WantedText:
		data = []byte(c.Texts[row])
	case b.narrow:
		if v := c.Ints[row]; v != int64(int32(v)) {
			return false
		}
		data = binary.LittleEndian.AppendUint32(nil, uint32(c.Ints[row]))
	default:
		data = binary.LittleEndian.AppendUint64(nil, uint64(c.Ints[row]))
	}
	return b.filter.CheckHash(b.filter.Hasher().Sum64(data))
}

// bloomBlock is the number of bytes of which a filter has a multiple.
const bloomBlock = 32

// filter reads a column's bloom filter; nil where there is none or it cannot be made sense of.
func (g *GroupReader) filter(group int, name string) (found metadata.BloomFilter) {
	var err error
	defer func() {
		if err != nil {
			found = nil
		}
	}()
	defer guard(&err)
	leaf, ok := g.leaf(name)
	if !ok {
		return nil
	}
	c, err := g.reader.MetaData().RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return nil
	}
	// The library makes room for the length that the footer promises before it reads.
	at, length := c.BloomFilterOffset(), int64(c.BloomFilterLength())
	if at <= 0 || at >= g.size || length < 0 || length > g.size-at {
		return nil
	}
	filters, err := g.reader.GetBloomFilterReader().RowGroup(group)
	if err != nil {
		return nil
	}
	found, err = filters.GetColumnBloomFilter(leaf)
	if err != nil || found == nil || found.Size() < bloomBlock || found.Size()%bloomBlock != 0 || found.Size() > g.size {
		return nil
	}
	return found
}
