package land

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// columnDigest hashes one column over the blocks of a landing, in three streams that do not depend on where blocks end:
// the runs of nulls, the fixed part of each value and the bytes of text.
type columnDigest struct {
	rows    int64
	from    int64 // first row of the open run of nulls
	run     int64 // its length
	nulls   hash.Hash
	fixed   hash.Hash
	bytes   hash.Hash
	scratch []byte
	any     bool         // a value was hashed
	kids    []*kidDigest // of nested values, sorted by name
}

func newColumnDigest() *columnDigest {
	return &columnDigest{nulls: sha256.New(), fixed: sha256.New(), bytes: sha256.New()}
}

// absent adds rows without the column.
func (d *columnDigest) absent(rows int64) {
	if rows > 0 {
		if d.run == 0 {
			d.from = d.rows
		}
		d.run += rows
		d.rows += rows
	}
}

func (d *columnDigest) endRun() {
	if d.run > 0 {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], uint64(d.from))
		binary.LittleEndian.PutUint64(b[8:], uint64(d.run))
		d.nulls.Write(b[:])
		d.run = 0
	}
}

// add hashes the rows of one array.
func (d *columnDigest) add(a arrow.Array) {
	n := a.Len()
	if a.NullN() == 0 {
		if n > 0 {
			d.endRun()
			d.values(a, 0, n)
			d.rows += int64(n)
		}
		return
	}
	for i := 0; i < n; {
		j := i
		if a.IsNull(i) {
			for j < n && a.IsNull(j) {
				j++
			}
			d.absent(int64(j - i))
		} else {
			for j < n && a.IsValid(j) {
				j++
			}
			d.endRun()
			d.values(a, i, j)
			d.rows += int64(j - i)
		}
		i = j
	}
}

// values hashes rows i to j, none of which is null.
func (d *columnDigest) values(a arrow.Array, i, j int) {
	d.any = true
	switch a := a.(type) {
	case *array.Int64:
		d.fixed.Write(bytesOf(a.Int64Values()[i:j]))
	case *array.Timestamp:
		for _, v := range a.TimestampValues()[i:j] {
			d.scratch = binary.LittleEndian.AppendUint64(d.scratch, uint64(v))
		}
	case *array.Float64:
		d.fixed.Write(bytesOf(a.Float64Values()[i:j]))
	case *array.Int32:
		d.fixed.Write(bytesOf(a.Int32Values()[i:j]))
	case *array.Boolean:
		for ; i < j; i++ {
			b := byte(0)
			if a.Value(i) {
				b = 1
			}
			d.scratch = append(d.scratch, b)
		}
	case *array.String:
		d.text(a.ValueOffsets()[i:j+1], a.ValueOffsets()[0], a.ValueBytes())
	case *array.Binary:
		d.text(a.ValueOffsets()[i:j+1], a.ValueOffsets()[0], a.ValueBytes())
	default:
		d.nested(a, i, j)
	}
	d.fixed.Write(d.scratch)
	d.scratch = d.scratch[:0]
}

// text hashes lengths and bytes; data begins at offset base.
func (d *columnDigest) text(offsets []int32, base int32, data []byte) {
	last := offsets[0]
	for _, next := range offsets[1:] {
		d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(next-last))
		last = next
	}
	d.bytes.Write(data[offsets[0]-base : last-base])
}

// batchDigest closes the columns and gives the digest of the whole landing, as the package doc draws it.
func batchDigest(columns []*landed, rows int64, position []byte) string {
	sorted := append([]*landed(nil), columns...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].name < sorted[j].name })
	h := sha256.New()
	text := func(b []byte) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	h.Write([]byte("contextful/batch/1\x00"))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(rows)))
	for _, c := range sorted {
		d := c.digest
		d.absent(rows - d.rows)
		text([]byte(c.name))
		if deep(c.typ) {
			text([]byte(d.typed(c.typ).String()))
		} else {
			text([]byte(c.typ.String()))
		}
		d.close(h)
	}
	h.Write([]byte{0})
	text(position)
	return hex.EncodeToString(h.Sum(nil))
}
