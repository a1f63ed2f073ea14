package duck_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/schema"
	"contextful/ref/store"

	"pgregory.net/rapid"
)

// TestTwoWaysOfWriting: the engine's own writer and ours give parts of the same rows and types, where the engine has a form for
// the types at all.
func TestTwoWaysOfWriting(t *testing.T) {
	ctx := context.Background()
	s, err := duck.Open(ctx, duck.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		st := ducktest.Open(t, "alpha", fmt.Sprint(n), "[[pipeline.tables]]\nname = \"t\"\n")
		typ := ducktest.RandomType(2).Draw(rt, "type")
		var rows []string
		for range rapid.IntRange(1, 5).Draw(rt, "rows") {
			text, err := json.Marshal([]any{ducktest.RandomValue(typ).Draw(rt, "cell")})
			if err != nil {
				rt.Fatal(err)
			}
			rows = append(rows, string(text))
		}
		ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: "r", Columns: []string{"c " + typ.String()}, Rows: rows})
		table, err := st.Table("t")
		if err != nil {
			rt.Fatal(err)
		}
		view, err := table.Resolve(ctx, store.Bounds{})
		if err != nil {
			rt.Fatal(err)
		}
		rel, err := s.Relation(ctx, st.FS(), duck.ForFold(view))
		if err != nil {
			rt.Fatal(err)
		}
		dir := t.TempDir()
		var shown []string
		for i, way := range []func(*duck.Session, string, string) (duck.Written, error){duck.CopyForTest(st.FS(), dir, rel), duck.RewriteForTest(st.FS(), rel)} {
			if i == 0 && duck.Changes(typ) {
				continue
			}
			file := filepath.Join(dir, fmt.Sprintf("way%d.parquet", i))
			written, err := way(s, "SELECT * FROM ("+rel.SQL+") ORDER BY _row_seq", file)
			if err != nil {
				rt.Fatal(typ, err)
			}
			info, err := colfile.ReadInfo(st.FS(), file)
			if err != nil {
				rt.Fatal(typ, err)
			}
			in, err := schema.FromArrow(info.Schema)
			if err != nil || !in.Columns[0].Type.Equal(typ) {
				rt.Fatalf("%s came out as %s: %v", typ, in.Columns[0].Type, err)
			}
			text := fmt.Sprint(written.Rows)
			shown = append(shown, text+"\n"+values(rt, s, file))
		}
		shown = append(shown, fmt.Sprintf("%d\n%s", len(rows), values(rt, s, view.Files[0].Path)))
		for _, text := range shown[1:] {
			if text != shown[0] {
				rt.Fatalf("%s:\n%s\nand\n%s", typ, shown[0], text)
			}
		}
	})
}

// values prints the first column of a file as the engine sees it.
func values(t *rapid.T, s *duck.Session, file string) string {
	name, done, err := colfile.OpenFlipped(file) // exact, and not what the session remembers of the file
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var text string
	err = s.Conn().QueryRowContext(context.Background(), "SELECT string_agg(coalesce(CAST(#1 AS VARCHAR), 'null'), ' | ' ORDER BY _row_seq) FROM (SELECT * FROM "+duck.ReadParquet([]string{name})+")").Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
