package colfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

func testSchema() *arrow.Schema {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "id", Type: schema.Of(schema.Int64), Nullable: true}, {Name: "body", Type: schema.Of(schema.JSON), Nullable: true},
		{Name: "seen", Type: schema.Of(schema.Timestamp), Nullable: true}, {Name: "_ingested_at", Type: schema.Of(schema.Timestamp)},
	}}
	return s.Arrow()
}

// batch holds n rows; seen ends in digit nanoseconds and is null in every third row.
func batch(mem memory.Allocator, from, n int, digit int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, testSchema())
	defer b.Release()
	for i := from; i < from+n; i++ {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(`{"a":1}`)
		if i%3 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000_000 + int64(i)*1000 + digit))
		}
		b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_001_000))
	}
	return b.NewRecordBatch()
}

func writePart(t *testing.T, path string, o Options, batches, n int, digit int64) *Writer {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	var buf bytes.Buffer
	o.Allocator = mem
	w, err := NewWriter(&buf, testSchema(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range batches {
		rec := batch(mem, i*n, n, digit)
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(buf.Len()) {
		t.Fatalf("counted %d of %d bytes", w.Bytes(), buf.Len())
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWriteVerifyRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part-00000.parquet")
	w := writePart(t, path, Options{RowGroupRows: 700}, 3, 1000, 7)
	if w.Rows() != 3000 || strings.Join(w.FineColumns(), " ") != "seen" {
		t.Fatal(w.Rows(), w.FineColumns())
	}
	if err := Verify(vfs.OS{}, path, 3000); err != nil {
		t.Fatal(err)
	}
	err := Verify(vfs.OS{}, path, 2999)
	if !errors.Is(err, fault.StorePartDamaged) || !strings.Contains(err.Error(), "3000") || !strings.Contains(err.Error(), path) {
		t.Fatal(err)
	}
	info, err := ReadInfo(vfs.OS{}, path)
	if err != nil || info.Rows != 3000 {
		t.Fatal(info, err)
	}
	s, err := schema.FromArrow(info.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if ty, _ := s.Lookup("body"); ty.Kind != schema.JSON {
		t.Errorf("body reads back as %s", ty)
	}
	if c := s.Columns[s.Index("_ingested_at")]; c.Nullable || c.Type.Kind != schema.Timestamp {
		t.Errorf("_ingested_at reads back as %+v", c)
	}
	fine, err := FineColumns(context.Background(), vfs.OS{}, path)
	if err != nil || strings.Join(fine, " ") != "seen" {
		t.Fatal(fine, err)
	}
	coarse := writePart(t, path, Options{}, 1, 10, 0)
	if got := coarse.FineColumns(); got == nil || len(got) != 0 {
		t.Fatal(got)
	}
}

func TestScanAcrossRowGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.parquet")
	writePart(t, path, Options{RowGroupRows: 5000}, 4, 6000, 0)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := NewScanner(context.Background(), f, path, []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next := int64(0)
	for {
		rec, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if rec == nil {
			break
		}
		for _, v := range rec.Column(0).(*array.Int64).Values() {
			if v != next {
				t.Fatalf("row %d holds %d", next, v)
			}
			next++
		}
		rec.Release()
	}
	if next != 24000 {
		t.Fatal(next)
	}
}

// Every truncation and every damaged byte is an error or readable data, never a panic or a hang.
func TestDamagedParts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.parquet")
	writePart(t, path, Options{}, 1, 50, 3)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.parquet")
	try := func(data []byte, must bool) {
		t.Helper()
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := Verify(vfs.OS{}, bad, 50)
		if err != nil && !errors.Is(err, fault.StorePartDamaged) || must && err == nil {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if _, err := FineColumns(context.Background(), vfs.OS{}, bad); err != nil && !errors.Is(err, fault.StorePartDamaged) {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if _, done, err := OpenFlipped(bad); err == nil {
			done()
		} else if !errors.Is(err, fault.StorePartDamaged) {
			t.Fatal(err)
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/150 {
		try(whole[:n], true)
	}
	for i := 0; i < len(whole); i += 3 {
		data := bytes.Clone(whole)
		data[i] ^= 0x5a
		try(data, false)
	}
	if err := Verify(vfs.OS{}, filepath.Join(dir, "none"), 1); !errors.Is(err, fault.StorePartDamaged) || !strings.Contains(err.Error(), "missing") {
		t.Fatal(err)
	}
	try([]byte("PAR1 this is no parquet PAR1"), true)
}

type fullDisk struct{ left int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100, 1500} {
		w, err := NewWriter(&fullDisk{room}, testSchema(), Options{RowGroupRows: 500})
		if err == nil {
			rec := batch(memory.DefaultAllocator, 0, 2000, 1)
			err = w.Write(rec)
			if cerr := w.Close(); err == nil {
				err = cerr
			}
		}
		if !errors.Is(err, fault.StoreWriteFailed) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}
