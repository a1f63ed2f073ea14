package land

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"contextful/ref/fault"
)

// parquetFile writes a file of foreign columns; each fill gives rows rows.
func parquetFile(t testing.TB, rows int, fields []arrow.Field, fill func(b *array.RecordBuilder, row int)) []byte {
	t.Helper()
	sc := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for i := range rows {
		fill(b, i)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	return encoded(t, rec, parquet.WithMaxRowGroupLength(3))
}

// encoded is a record as a foreign program writes it to a Parquet file.
func encoded(t testing.TB, rec arrow.RecordBatch, props ...parquet.WriterProperty) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, parquet.NewWriterProperties(props...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func parquetInput(data []byte) func(*Options) {
	return func(o *Options) { o.Format, o.InputName, o.Input = Parquet, "in.parquet", bytes.NewReader(data) }
}

func field(name string, dt arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: dt, Nullable: true}
}

func TestParquetInput(t *testing.T) {
	data := parquetFile(t, 7, []arrow.Field{
		field("i8", arrow.PrimitiveTypes.Int8), field("i64", arrow.PrimitiveTypes.Int64), field("u64", arrow.PrimitiveTypes.Uint64), field("f32", arrow.PrimitiveTypes.Float32),
		field("s", arrow.BinaryTypes.String), field("b", arrow.BinaryTypes.Binary), field("yes", arrow.FixedWidthTypes.Boolean),
		field("ms", &arrow.TimestampType{Unit: arrow.Millisecond}), field("us", arrow.FixedWidthTypes.Timestamp_us), field("empty", arrow.PrimitiveTypes.Int64),
		field("dict", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}),
		field("_run_id", arrow.BinaryTypes.String),
	}, func(b *array.RecordBuilder, i int) {
		if i == 4 {
			for _, f := range b.Fields() {
				f.AppendNull()
			}
			return
		}
		b.Field(0).(*array.Int8Builder).Append(int8(-i))
		b.Field(1).(*array.Int64Builder).Append(1<<53 + 1)
		b.Field(2).(*array.Uint64Builder).Append(uint64(i))
		b.Field(3).(*array.Float32Builder).Append(0.25)
		b.Field(4).(*array.StringBuilder).Append("é")
		b.Field(5).(*array.BinaryBuilder).Append([]byte{0xff})
		b.Field(6).(*array.BooleanBuilder).Append(i%2 == 0)
		b.Field(7).(*array.TimestampBuilder).Append(-1)
		b.Field(8).(*array.TimestampBuilder).Append(1_500_000)
		b.Field(9).AppendNull()
		if err := b.Field(10).(*array.BinaryDictionaryBuilder).AppendString("d"); err != nil {
			t.Fatal(err)
		}
		b.Field(11).(*array.StringBuilder).Append("evil")
	})
	s := openStore(t, plain)
	r, err := land(s, "r1", "", parquetInput(data))
	if r = must(t, r, err); r.Rows != 7 {
		t.Fatal(r)
	}
	rows := read(t, s, "r1", false)
	want := "b=ff dict=d f32=0.25 i64=9007199254740993 i8=-3 ms=-1000000 s=é u64=3 us=1500000000 yes=false"
	if rows[3] != want || rows[4] != "" || len(rows) != 7 {
		t.Errorf("%q, want %q", rows, want)
	}
	for name, ty := range map[string]string{"i8": "int32", "i64": "int64", "u64": "int64", "f32": "float64", "ms": "timestamp", "us": "timestamp", "empty": "int64", "dict": "utf8"} {
		if got := columnType(t, s, name); got != ty {
			t.Errorf("%s is %s, want %s", name, got, ty)
		}
	}
	again, err := land(s, "r1", "", parquetInput(data))
	if again = must(t, again, err); !again.Replayed {
		t.Error("no replay")
	}
	// The same through a stream that cannot seek.
	stream, err := land(s, "r2", "", parquetInput(data), func(o *Options) { o.Input = struct{ io.Reader }{bytes.NewReader(data)} })
	must(t, stream, err)
}

func TestParquetTakesTheStoredType(t *testing.T) {
	s := openStore(t, plain)
	first, err := land(s, "r1", `{"a":1,"b":0.5,"at":"2024-01-01T00:00:00Z"}`, types("at", "timestamp"))
	must(t, first, err)
	data := parquetFile(t, 1, []arrow.Field{field("a", arrow.PrimitiveTypes.Int32), field("b", arrow.PrimitiveTypes.Int32), field("at", arrow.BinaryTypes.String)}, func(b *array.RecordBuilder, i int) {
		b.Field(0).(*array.Int32Builder).Append(7)
		b.Field(1).(*array.Int32Builder).Append(8)
		b.Field(2).(*array.StringBuilder).Append("1970-01-01T00:00:01Z")
	})
	second, err := land(s, "r2", "", parquetInput(data))
	must(t, second, err)
	if got := read(t, s, "r2", false)[0]; got != "a=7 at=1000000000 b=8" {
		t.Error(got)
	}
}

func TestParquetRefusals(t *testing.T) {
	one := func(dt arrow.DataType, put func(array.Builder)) []byte {
		return parquetFile(t, 2, []arrow.Field{field("odd", dt)}, func(b *array.RecordBuilder, i int) {
			if i == 0 {
				b.Field(0).AppendNull()
				return
			}
			put(b.Field(0))
		})
	}
	whole := one(arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).Append(1) })
	for _, c := range []struct {
		name string
		data []byte
		code fault.Code
		says []string
	}{
		{"date", one(arrow.FixedWidthTypes.Date32, func(b array.Builder) { b.(*array.Date32Builder).Append(1) }), fault.StoreUnsupported, []string{`"odd"`, "date32"}},
		{"decimal", one(&arrow.Decimal128Type{Precision: 9, Scale: 2}, func(b array.Builder) { b.AppendEmptyValue() }), fault.StoreUnsupported, []string{`"odd"`}},
		{"list", one(arrow.ListOf(arrow.FixedWidthTypes.Date32), func(b array.Builder) { b.AppendEmptyValue() }), fault.StoreUnsupported, []string{`"odd[]"`}},
		{"uint64", one(arrow.PrimitiveTypes.Uint64, func(b array.Builder) { b.(*array.Uint64Builder).Append(math.MaxUint64) }), fault.StoreInputMalformed, []string{"in.parquet row 2", `"odd"`, "int64"}},
		{"far instant", one(&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(math.MaxInt64 / 10) }), fault.StoreInputMalformed, []string{"row 2", `"odd"`, "2262"}},
		{"bad text", one(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("\xff") }), fault.StoreInputMalformed, []string{"row 2", "UTF-8"}},
		{"truncated", whole[:len(whole)/2], fault.StoreInputMalformed, []string{"in.parquet"}},
		{"empty", nil, fault.StoreInputMalformed, []string{"in.parquet"}},
		{"no rows", parquetFile(t, 0, []arrow.Field{field("a", arrow.PrimitiveTypes.Int64)}, nil), fault.StoreInputEmpty, nil},
		{"reserved", parquetFile(t, 1, []arrow.Field{field("_x", arrow.PrimitiveTypes.Int64)}, func(b *array.RecordBuilder, i int) { b.Field(0).AppendNull() }), fault.StoreReservedColumnName, []string{"_x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, plain)
			before := tree(t, s)
			_, err := land(s, "r1", "", parquetInput(c.data))
			wantRefusal(t, s, before, err, c.code, c.says)
		})
	}
}

// int96File writes instants in Parquet's old form, given as days since 1970 and nanoseconds of the day; nil days are null.
func int96File(t testing.TB, optional bool, instants ...*[2]int64) []byte {
	t.Helper()
	repetition := parquet.Repetitions.Required
	if optional {
		repetition = parquet.Repetitions.Optional
	}
	root, err := pqschema.NewGroupNode("schema", parquet.Repetitions.Required, pqschema.FieldList{pqschema.NewInt96Node("at", repetition, -1)}, -1)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root)
	for len(instants) > 0 { // row groups of three
		n := min(len(instants), 3)
		column, err := w.AppendRowGroup().NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		var values []parquet.Int96
		var levels []int16
		for _, at := range instants[:n] {
			if at == nil {
				levels = append(levels, 0)
				continue
			}
			var v parquet.Int96
			binary.LittleEndian.PutUint64(v[:8], uint64(at[1]))
			binary.LittleEndian.PutUint32(v[8:], uint32(at[0]+2440588))
			values, levels = append(values, v), append(levels, 1)
		}
		if !optional {
			levels = nil
		}
		if _, err := column.(*file.Int96ColumnChunkWriter).WriteBatch(values, levels, nil); err != nil {
			t.Fatal(err)
		}
		if err := column.Close(); err != nil {
			t.Fatal(err)
		}
		instants = instants[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Instants in INT96 land to the nanosecond up to both ends of the range; one beyond refuses, naming row and column.
func TestParquetInt96(t *testing.T) {
	s := openStore(t, plain)
	r, err := land(s, "r1", "", parquetInput(int96File(t, true, &[2]int64{0, 1}, nil, &[2]int64{-106752, 763145224192}, &[2]int64{106751, 85636854775807})))
	must(t, r, err)
	if got := strings.Join(read(t, s, "r1", false), "|"); got != "at=1||at=-9223372036854775808|at=9223372036854775807" {
		t.Error(got)
	}
	before := tree(t, s)
	for name, c := range map[string]struct {
		data []byte
		row  string
	}{
		"year 1":               {int96File(t, false, &[2]int64{0, 0}, &[2]int64{-719162, 0}), "row 2"},
		"just too late":        {int96File(t, true, nil, nil, &[2]int64{0, 0}, nil, &[2]int64{106751, 85636854775808}), "row 5"},
		"just too early":       {int96File(t, false, &[2]int64{-106752, 763145224191}), "row 1"},
		"year 9999":            {int96File(t, true, &[2]int64{2932896, 0}), "row 1"},
		"more than a day":      {int96File(t, true, &[2]int64{0, 86_400_000_000_000}), "row 1"},
		"the last of its kind": {int96File(t, true, &[2]int64{1<<32 - 1 - 2440588, -1}), "row 1"},
	} {
		_, err := land(s, "r2", "", parquetInput(c.data))
		if fault.CodeOf(err) != fault.StoreInputMalformed {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, say := range []string{"in.parquet " + c.row + ":", `"at"`, "2262"} {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v does not name %s", name, err, say)
			}
		}
	}
	if tree(t, s) != before {
		t.Error("a refusal changed the store")
	}
}

// A byte of a file turned: rows, or a refusal with a code; never a panic.
func TestParquetDamage(t *testing.T) {
	data := parquetFile(t, 5, []arrow.Field{field("a", arrow.PrimitiveTypes.Int64), field("s", arrow.BinaryTypes.String), field("at", arrow.FixedWidthTypes.Timestamp_us)}, func(b *array.RecordBuilder, i int) {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append("text")
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
	})
	dir := t.TempDir()
	for i := 0; i < len(data); i += 9 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x21
		c := newCollector("in", rules{}, newSpool(dir, 1<<30))
		if err := parquetRows(bytes.NewReader(bad), "in", dir, rules{})(t.Context(), c.take); err != nil && fault.CodeOf(err) == "" {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

// TestForeignFiles lands every Parquet file of a directory of other writers' files, where the environment names one.
func TestForeignFiles(t *testing.T) {
	dir := os.Getenv("CONTEXTFUL_FOREIGN_PARQUET")
	if dir == "" {
		dir = "testdata/foreign"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		s := openStore(t, plain)
		r, err := land(s, "r1", "", func(o *Options) { o.Format, o.Input, o.InputName = Parquet, f, filepath.Base(file) })
		if err != nil && fault.CodeOf(err) == "" {
			t.Errorf("%s: %v", file, err)
		}
		t.Logf("%s: %d rows, %v", filepath.Base(file), r.Rows, err)
		f.Close()
	}
}
