package duck

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"contextful/ref/schema"
	"contextful/ref/vfs"
)

func TestLargeRowsMakeSmallGroups(t *testing.T) {
	for _, c := range []struct{ size, rows, want int64 }{
		{0, 0, GroupRows},
		{1 << 20, 100_000, GroupRows},
		{1 << 30, 1_000_000, 15_635},
		{1 << 60, 10, LeastRows},
		{5, 1 << 40, GroupRows},
	} {
		if got := RowsOfGroup(c.size, c.rows); got != c.want {
			t.Errorf("%d bytes, %d rows: %d", c.size, c.rows, got)
		}
	}
}

// The engine's writer would set aside 1.5 GiB here for dictionaries.
func TestManyColumnsOfTextAreWrittenWithinTheMemory(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := Open(ctx, Options{MemoryLimit: 512 << 20, TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rel, list := Relation{}, make([]string, 1500)
	for i := range list {
		name := fmt.Sprintf("c%d", i)
		list[i] = "'text' AS " + name
		rel.Columns = append(rel.Columns, schema.Column{Name: name, Type: schema.Of(schema.Utf8), Nullable: true})
	}
	if err := s.fit(ctx, len(list)); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Int(ctx, "SELECT current_setting('threads')"); err != nil || n > 2 {
		t.Fatal(n, err)
	}
	w, err := s.WritePart(ctx, vfs.OS{}, dir, "SELECT "+strings.Join(list, ", ")+" FROM range(10)", rel, filepath.Join(dir, "part-00000.parquet"), PartOptions{})
	if err != nil || w.Rows != 10 {
		t.Fatal(w, err)
	}
}
