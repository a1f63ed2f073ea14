package fold

import (
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"time"

	"contextful/ref/duck/ducktest"
	"contextful/ref/schema"

	"pgregory.net/rapid"
)

// TestCarriedTypes: columns of any type, keys of any scalar type and partitions by any that can be one, folded run by run: what is
// carried, contested and merged reads as before each pass.
func TestCarriedTypes(t *testing.T) {
	if err := flag.Set("rapid.checks", "8"); err != nil {
		t.Fatal(err)
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		keys := []schema.Type{schema.Of(schema.Boolean), schema.Of(schema.Int32), schema.Of(schema.Int64), schema.Of(schema.Float64), schema.Of(schema.Utf8), schema.Of(schema.JSON), schema.Of(schema.Timestamp), schema.Of(schema.Binary)}
		declared := "[[pipeline.tables]]\nname = \"t\"\n"
		if rapid.IntRange(0, 3).Draw(rt, "keyed") > 0 {
			declared += "primary_key = [\"c0\", \"c1\"]\n"
		}
		if rapid.Bool().Draw(rt, "partitioned") {
			declared += "partition_by = [\"c1\"]\n"
		}
		st := ducktest.Open(t, "alpha", fmt.Sprint(n), declared)
		types := []schema.Type{rapid.SampledFrom(keys).Draw(rt, "key"), rapid.SampledFrom(keys).Draw(rt, "key"), ducktest.RandomType(2).Draw(rt, "type"), ducktest.RandomType(2).Draw(rt, "type")}
		var columns []string
		for i, typ := range types {
			columns = append(columns, fmt.Sprintf("c%d %s", i, typ))
		}
		rt.Log(declared, columns)
		// Few values of each column, so that keys meet.
		var values [4][]any
		for i, typ := range types {
			for range 3 {
				values[i] = append(values[i], ducktest.RandomValue(typ).Draw(rt, "cell"))
			}
		}
		for run := range rapid.IntRange(3, 6).Draw(rt, "runs") {
			rows := make([]string, rapid.IntRange(1, 5).Draw(rt, "rows"))
			for i := range rows {
				cells := make([]any, len(types))
				for k := range types {
					cells[k] = rapid.SampledFrom(values[k]).Draw(rt, "cell")
				}
				text, err := json.Marshal(cells)
				if err != nil {
					rt.Fatal(err)
				}
				rows[i] = string(text)
			}
			ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: fmt.Sprint("r", run), Columns: columns, Rows: rows, At: ducktest.Epoch.Add(time.Duration(run) * time.Second)})
			folded(t, st, "t")
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}
