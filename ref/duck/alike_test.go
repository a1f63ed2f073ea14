package duck_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/store"
)

// A pass reads files of one schema as the first of them says; where two differ in anything, each goes by its own names and types.
func TestFilesOfOneSchemaAreReadAsOne(t *testing.T) {
	ctx := context.Background()
	type landing struct {
		columns []string
		row     string
	}
	first := landing{[]string{"a int64", "b utf8"}, `[1, "x"]`}
	for name, c := range map[string]struct {
		second landing
		shown  string // a row as text
		want   string
		alike  bool
	}{
		"the same":      {landing{first.columns, `[2, "y"]`}, "concat_ws(',', a, b)", "1,x 2,y", true},
		"another order": {landing{[]string{"b utf8", "a int64"}, `["y", 2]`}, "concat_ws(',', a, b)", "1,x 2,y", false},
		"another type":  {landing{[]string{"a float64", "b utf8"}, `[2.5, "y"]`}, "concat_ws(',', a, b)", "1.0,x 2.5,y", false},
		"one more":      {landing{[]string{"a int64", "b utf8", "c utf8"}, `[2, "y", "z"]`}, "concat_ws(',', a, b, coalesce(c, '-'))", "1,x,- 2,y,z", false},
		"one less":      {landing{[]string{"a int64"}, `[2]`}, "concat_ws(',', a, coalesce(b, '-'))", "1,x 2,-", false},
	} {
		st := ducktest.Open(t, "alpha", strings.ReplaceAll(name, " ", "-"), "[[pipeline.tables]]\nname = \"t\"\n")
		for i, l := range []landing{first, c.second} {
			ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: fmt.Sprintf("r%d", i), Columns: l.columns, Rows: []string{l.row}})
		}
		table, err := st.Table("t")
		if err != nil {
			t.Fatal(err)
		}
		view, err := table.Resolve(ctx, store.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := duck.Open(ctx, duck.Options{TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for way, in := range map[string]duck.Table{"read": duck.FromView(view), "fold": duck.ForFold(view)} {
			rel, err := s.Relation(ctx, st.FS(), in)
			if err != nil {
				t.Fatal(err)
			}
			if alike := !strings.Contains(rel.SQL, "union_by_name = true"); alike != (c.alike && way == "fold") {
				t.Errorf("%s, %s: %s", name, way, rel.SQL)
			}
			var rows string
			if err := s.Conn().QueryRowContext(ctx, "SELECT string_agg("+c.shown+", ' ' ORDER BY a) FROM ("+rel.SQL+")").Scan(&rows); err != nil || rows != c.want {
				t.Errorf("%s, %s: %q, %v", name, way, rows, err)
			}
		}
	}
}
