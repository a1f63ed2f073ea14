package fold

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck/ducktest"
	"contextful/ref/schema"

	"pgregory.net/rapid"
)

// TestPassKeepsEveryType: whatever the columns, a pass over random rows changes neither a value nor a type.
func TestPassKeepsEveryType(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		st := ducktest.Open(t, "alpha", fmt.Sprint(n), "[[pipeline.tables]]\nname = \"t\"\n")
		columns := make([]string, rapid.IntRange(1, 3).Draw(rt, "columns"))
		types := make([]schema.Type, len(columns))
		for i := range columns {
			types[i] = ducktest.RandomType(2).Draw(rt, "type")
			columns[i] = fmt.Sprintf("c%d %s", i, types[i])
		}
		for run := range rapid.IntRange(1, 2).Draw(rt, "runs") {
			rows := make([]string, rapid.IntRange(1, 4).Draw(rt, "rows"))
			for i := range rows {
				cells := make([]any, len(types))
				for k, typ := range types {
					cells[k] = ducktest.RandomValue(typ).Draw(rt, "cell")
				}
				text, err := json.Marshal(cells)
				if err != nil {
					rt.Fatal(err)
				}
				rows[i] = string(text)
			}
			ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: fmt.Sprint("r", run), Columns: columns, Rows: rows, At: ducktest.Epoch.Add(time.Duration(run) * time.Second)})
		}
		rt.Log(columns)
		_, view := folded(t, st, "t")
		if t.Failed() {
			rt.FailNow()
		}
		info, err := colfile.ReadInfo(st.FS(), view.Files[0].Path)
		if err != nil {
			rt.Fatal(err)
		}
		in, err := schema.FromArrow(info.Schema)
		if err != nil {
			rt.Fatal(err)
		}
		for i, typ := range types {
			// Of a json column the file says text, and the manifest that it is json.
			if got := in.Columns[i].Type; got.Kind == schema.Utf8 && slices.Contains(*view.Files[0].Part.JSONColumns, in.Columns[i].Name) {
				in.Columns[i].Type = schema.Of(schema.JSON)
			}
			if got := in.Columns[i].Type; !got.Equal(typ) {
				rt.Fatalf("%s came out as %s", typ, got)
			}
		}
	})
}
