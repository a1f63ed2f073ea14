package land

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/colfile"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// benchRows makes n rows of six columns as JSON Lines.
func benchRows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&b, `{"id":%d,"name":"user-%d","score":%.4f,"active":%t,"at":"%s","note":"a line of text that says number %d"}`+"\n",
			i, r.IntN(n), r.Float64()*1000, r.IntN(2) == 0, at.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02T15:04:05.000Z"), r.IntN(1000))
	}
	return b.Bytes()
}

func benchTypes() map[string]schema.Type {
	return map[string]schema.Type{"at": schema.Of(schema.Timestamp)}
}

// BenchmarkLand1M lands 1 M rows of six columns; compare BenchmarkRawWrite1M and BenchmarkParse1M beside it.
func BenchmarkLand1M(b *testing.B) {
	data := benchRows(1_000_000)
	b.SetBytes(int64(len(data)))
	b.ResetTimer()
	for i := range b.N {
		s := openStore(b, "[[pipeline.tables]]\nname = \"t\"\n")
		b.StartTimer()
		r, err := Run(context.Background(), s, Options{Table: "t", Input: bytes.NewReader(data), RunID: fmt.Sprint("r", i), SiteID: "s", Types: benchTypes()})
		if err != nil || r.Rows != 1_000_000 {
			b.Fatal(r, err)
		}
		b.StopTimer()
	}
}

// BenchmarkParse1M is the first pass alone: parse, settle types, digest, spool.
func BenchmarkParse1M(b *testing.B) {
	data := benchRows(1_000_000)
	b.SetBytes(int64(len(data)))
	b.ResetTimer()
	for range b.N {
		parsed(b, data)
	}
}

func parsed(b *testing.B, data []byte) *collector {
	rs := newRules(nil, nil, benchTypes(), false)
	c := newCollector("in", rs, newSpool(b.TempDir(), 1<<30))
	if err := jsonLines(bytes.NewReader(data), "in", rs, jsonBlock)(context.Background(), c.take); err != nil {
		b.Fatal(err)
	}
	if _, err := c.digest(nil); err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkRawWrite1M writes the same typed rows, without injected columns, through arrow-go's own writer with Zstandard, in
// row groups of the same size, and syncs the file.
func BenchmarkRawWrite1M(b *testing.B) {
	rawWrite(b, func(*arrow.Schema) *parquet.WriterProperties {
		return parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(colfile.RowGroupRows))
	})
}

// BenchmarkRawWriteTuned1M is the same with the encodings that a part of ours has, by which numbers are cheap.
func BenchmarkRawWriteTuned1M(b *testing.B) {
	rawWrite(b, func(sc *arrow.Schema) *parquet.WriterProperties {
		return colfile.WriterProperties(sc, colfile.Options{})
	})
}

func rawWrite(b *testing.B, properties func(*arrow.Schema) *parquet.WriterProperties) {
	c := parsed(b, benchRows(1_000_000))
	s := &schema.Schema{}
	for _, col := range c.columns {
		s.Columns = append(s.Columns, schema.Column{Name: col.name, Type: col.typ, Nullable: true})
	}
	sc := s.Arrow()
	b.ResetTimer()
	for i := range b.N {
		f, err := os.Create(filepath.Join(b.TempDir(), fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		w, err := pqarrow.NewFileWriter(sc, f, properties(sc), pqarrow.DefaultWriterProps())
		if err != nil {
			b.Fatal(err)
		}
		err = c.spool.each(func(p piece) error {
			rec := array.NewRecordBatch(sc, p.values, int64(p.rows))
			defer rec.Release()
			return w.WriteBuffered(rec)
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil { // closes f too
			b.Fatal(err)
		}
		if err := vfs.SyncFile(vfs.OS{}, f.Name()); err != nil {
			b.Fatal(err)
		}
	}
}

// cycle repeats the same bytes n times without holding them more than once.
type cycle struct {
	data []byte
	left int
	at   int
}

func (c *cycle) Read(p []byte) (int, error) {
	if c.at == len(c.data) {
		c.at = 0
		c.left--
	}
	if c.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[c.at:])
	c.at += n
	return n, nil
}

// BenchmarkLand5MResident lands 5 M rows from a stream and reports the peak of this process's resident memory, which stays
// under 1 GiB.
func BenchmarkLand5MResident(b *testing.B) {
	rows := benchRows(100_000)
	for i := range b.N {
		s := openStore(b, plain)
		r, err := Run(context.Background(), s, Options{Table: "t", Input: &cycle{data: rows, left: 50}, RunID: fmt.Sprint("r", i), SiteID: "s", Types: benchTypes()})
		if err != nil || r.Rows != 5_000_000 || r.Parts != 5 {
			b.Fatal(r, err)
		}
	}
	peak := residentPeak(b)
	b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
	if peak > 1<<30 {
		b.Fatalf("%d MiB resident", peak>>20)
	}
}

// residentPeak reads VmHWM, in bytes; 0 where the system has no /proc.
func residentPeak(b *testing.B) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}
