package land

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/colfile"
	"contextful/ref/schema"
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
	rs := newRules(nil, nil, benchTypes())
	c := newCollector("in", rs, newSpool(b.TempDir(), 1<<30))
	if err := jsonLines(bytes.NewReader(data), "in", rs, jsonBlock)(context.Background(), c.take); err != nil {
		b.Fatal(err)
	}
	if _, err := c.digest(nil); err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkRawWrite1M writes the same typed rows, without injected columns, through arrow-go alone and syncs the file.
func BenchmarkRawWrite1M(b *testing.B) {
	c := parsed(b, benchRows(1_000_000))
	s := &schema.Schema{}
	for _, col := range c.columns {
		s.Columns = append(s.Columns, schema.Column{Name: col.name, Type: schema.Of(col.kind), Nullable: true})
	}
	sc := s.Arrow()
	b.ResetTimer()
	for i := range b.N {
		f, err := os.Create(filepath.Join(b.TempDir(), fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		w, err := colfile.NewWriter(f, sc, colfile.Options{})
		if err != nil {
			b.Fatal(err)
		}
		err = c.spool.each(func(p piece) error {
			rec := array.NewRecordBatch(sc, p.values, int64(p.rows))
			defer rec.Release()
			return w.Write(rec)
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
