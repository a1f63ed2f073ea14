package colfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/fault"
)

// foreign writes 50 rows of three flat columns as another writer might.
func foreign(t testing.TB, props ...parquet.WriterProperty) []byte {
	t.Helper()
	sc := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, Nullable: true}, {Name: "f", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for i := range 50 {
		b.Field(0).(*array.Int64Builder).Append(int64(i * i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("text", i%7))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
		b.Field(3).(*array.FixedSizeBinaryBuilder).Append([]byte("abc"))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(sc, &out, parquet.NewWriterProperties(append(props, parquet.WithMaxRowGroupLength(30))...), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func at(name string) parquet.ColumnPath { return parquet.ColumnPath{name} }

func variants(t testing.TB) map[string][]byte {
	noDict := parquet.WithDictionaryDefault(false)
	delta := []parquet.WriterProperty{noDict, parquet.WithEncodingPath(at("a"), parquet.Encodings.DeltaBinaryPacked),
		parquet.WithEncodingPath(at("at"), parquet.Encodings.DeltaBinaryPacked)}
	return map[string][]byte{
		"plain":      foreign(t, noDict),
		"dictionary": foreign(t, parquet.WithCompression(compress.Codecs.Snappy)),
		"texts":      foreign(t, append(delta, parquet.WithEncodingPath(at("s"), parquet.Encodings.DeltaByteArray), parquet.WithCompression(compress.Codecs.Zstd))...),
		"lengths": foreign(t, append(delta, parquet.WithEncodingPath(at("s"), parquet.Encodings.DeltaLengthByteArray),
			parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Gzip))...),
	}
}

func readAll(data []byte) (rows int64, err error) {
	s, err := NewScanner(context.Background(), bytes.NewReader(data), "x", nil)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		rec, err := s.Next()
		if err != nil || rec == nil {
			return rows, err
		}
		rows += rec.NumRows()
		rec.Release()
	}
}

// allocated is how many bytes f makes this process ask for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// refooted gives the file another footer.
func refooted(t *testing.T, data []byte, change func(*metadata.FileMetaData)) []byte {
	t.Helper()
	footer, start, err := readFooter(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	meta, err := metadata.NewFileMetaData(footer, nil)
	if err != nil {
		t.Fatal(err)
	}
	change(meta)
	var out bytes.Buffer
	if _, err := meta.WriteTo(&out, nil); err != nil {
		t.Fatal(err)
	}
	return withFooter(data[:start], out.Bytes())
}

func withFooter(body, footer []byte) []byte {
	out := append(bytes.Clone(body), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, magic...)
}

// A file that promises more than it can hold is refused before anything is made ready for it.
func TestPromisesAreBounded(t *testing.T) {
	plain := variants(t)["plain"]
	body := plain[:bytes.LastIndex(plain, []byte("PAR1"))]
	page := func(change func([]byte) []byte) []byte {
		// The page header of column a: 30 values, PLAIN.
		i := bytes.Index(plain, []byte{0x15, 60, 0x15, 0})
		if i < 0 {
			t.Fatal("no page header found")
		}
		return change(bytes.Clone(plain)[:len(plain):len(plain)])
	}
	for name, data := range map[string][]byte{
		"a list of 90 million elements": withFooter(body[:100], append([]byte{0x15, 2, 0x19, 0xfc}, binary.AppendUvarint(nil, 90_000_000)...)),
		"a chunk of a terabyte":         refooted(t, plain, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 40 }),
		"a chunk before the file":       refooted(t, plain, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -5 }),
		"a chunk behind the file":       refooted(t, plain, func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].MetaData.DataPageOffset = 1 << 40 }),
		"other values than rows":        refooted(t, plain, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 1 << 40 }),
		"rows without end": refooted(t, plain, func(m *metadata.FileMetaData) {
			m.NumRows = 1<<62 + 20
			m.RowGroups[0].NumRows = 1 << 62
			for _, c := range m.RowGroups[0].Columns {
				c.MetaData.NumValues = 1 << 62
			}
		}),
		"fixed values of a gigabyte": refooted(t, plain, func(m *metadata.FileMetaData) {
			n := int32(1 << 30)
			m.FileMetaData.Schema[4].TypeLength = &n
		}),
		"a block of 4 billion differences": page(func(data []byte) []byte {
			i := bytes.Index(data, []byte{0x15, 60, 0x15, 0})
			data[i+3] = 2 * encodingDelta
			h, err := parsePageHeader(data[4:])
			if err != nil || h.encoding != encodingDelta {
				t.Fatal(h, err)
			}
			block := binary.AppendUvarint(nil, 1<<32-128)
			copy(data[4+h.headerBytes:], append(block, 1, 30, 0, 0, 0))
			return data
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocated(func() { _, err = readAll(data) })
			if fault.CodeOf(err) != fault.StorePartDamaged {
				t.Errorf("%v", err)
			}
			if used > 64<<20 {
				t.Errorf("%d MiB", used>>20)
			}
		})
	}
}

func TestHonestFilesAreRead(t *testing.T) {
	for name, data := range variants(t) {
		if rows, err := readAll(data); err != nil || rows != 50 {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// A few bytes of a file changed: rows or StorePartDamaged, within the memory that the file may take.
func TestDamageIsCheap(t *testing.T) {
	files := variants(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for range 500 {
			bad := bytes.Clone(files[name])
			for range 1 + rnd.IntN(3) {
				i := rnd.IntN(len(bad))
				switch rnd.IntN(3) {
				case 0:
					bad[i] ^= 1 << rnd.IntN(8)
				case 1:
					bad[i] = byte(rnd.IntN(256))
				default: // a number of five bytes
					copy(bad[i:], []byte{0xfe, 0xff, 0xff, 0xff, 0x0f})
				}
			}
			var err error
			if used := allocated(func() { _, err = readAll(bad) }); used > 128<<20 || err != nil && fault.CodeOf(err) == "" {
				t.Fatalf("%s: %d MiB, %v\n%x", name, used>>20, err, bad)
			}
		}
	}
}

// No byte turned and no cut makes a panic, an error without a code, or memory out of all proportion.
func FuzzDamagedFile(f *testing.F) {
	for _, data := range variants(f) {
		f.Add(data)
		for i := 5; i < len(data); i += 41 {
			bad := bytes.Clone(data)
			bad[i] ^= byte(1 + i%255)
			f.Add(bad)
		}
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var err error
		used := allocated(func() { _, err = readAll(data) })
		if err != nil && fault.CodeOf(err) == "" {
			t.Fatal(err)
		}
		if used > 1<<30 {
			t.Fatalf("%d bytes take %d MiB", len(data), used>>20)
		}
	})
}

// TestArrowSchemaBounds: what a footer keeps as ARROW:schema is walked before the library makes room for it.
func TestArrowSchemaBounds(t *testing.T) {
	whole := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String)}, {Name: "t", Type: arrow.FixedWidthTypes.Timestamp_ns}}, nil)
	raw := flight.SerializeSchema(whole, memory.DefaultAllocator)
	if err := schemaMessageWithin(raw); err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 8; at+4 <= len(raw); at++ {
		bad := bytes.Clone(raw)
		copy(bad[at:], []byte{0xff, 0xff, 0xff, 0x7f})
		err := func() (err error) {
			defer guard(&err)
			return schemaMessageWithin(bad)
		}()
		if err != nil {
			found++
		}
	}
	if found < 20 {
		t.Errorf("only %d of the places where a length or an offset lies were looked at", found)
	}
}
