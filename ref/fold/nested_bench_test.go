package fold

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
)

// BenchmarkFoldTypes: unkeyed passes over 20 runs of 1 k rows, against DuckDB's COPY of the same files (which changes the types):
// what the engine has no form for is written a second time, and its ratio says what that costs.
func BenchmarkFoldTypes(b *testing.B) {
	const rows = 1000
	for _, c := range []struct {
		name    string
		columns []string
		sql     string
	}{
		{"float32", []string{"id int64", "v float32[384]"}, "SELECT range AS id, list_transform(range(384), lambda x: ((x * 7919 + range) %% 1000 / 7.0)::FLOAT)::FLOAT[384] AS v FROM range(%d)"},
		{"float16", []string{"id int64", "v float16[384]"}, "SELECT range AS id, list_transform(range(384), lambda x: ((x * 7919 + range) %% 1000 / 8.0)::FLOAT)::FLOAT[384] AS v FROM range(%d)"},
		{"digest", []string{"id int64", "name utf8", "amount float64", "d binary(32)"}, "SELECT range AS id, 'name ' || (range %% 977) AS name, range / 7.0 AS amount, unhex(sha256(range::VARCHAR)) AS d FROM range(%d)"},
		{"nested", []string{"id int64", "s struct<a: int64, t: timestamp, l: list<utf8>>", "m map<utf8, float64>"},
			"SELECT range AS id, {'a': range, 't': make_timestamp_ns(range * 1000000), 'l': ['x', 'y' || range]} AS s, MAP {'k': range / 7.0, 'j': NULL} AS m FROM range(%d)"},
	} {
		b.Run(c.name, func(b *testing.B) {
			st := ducktest.Open(b, "alpha", "", benchDeclaration)
			session, err := duck.Open(context.Background(), duck.Options{TempDir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 20 {
				ducktest.Generate(b, st, session, "u", fmt.Sprintf("r%05d", i), c.columns, fmt.Sprintf(c.sql, rows), ducktest.Epoch)
			}
			if err := session.Close(); err != nil {
				b.Fatal(err)
			}
			files := fileList(b, st, "u")
			var v versus
			for b.Loop() {
				var staged *Staged
				v.us(b, func() (err error) {
					staged, err = Stage(context.Background(), st, Options{Table: "u"})
					return err
				})
				v.them(b, "COPY (SELECT * FROM "+files+" ORDER BY _ingested_at, _run_id, _row_seq) TO "+duck.Text(filepath.Join(b.TempDir(), "out.parquet"))+" (FORMAT parquet, COMPRESSION zstd)")
				if err := staged.Discard(); err != nil {
					b.Fatal(err)
				}
			}
			v.report(b)
		})
	}
}
