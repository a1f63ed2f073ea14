package query

import (
	"maps"
	"slices"
	"testing"

	"contextful/ref/duck/ducktest"

	"github.com/stretchr/testify/require"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		sql, name string
		want      bool
	}{
		{`SELECT * FROM trades`, "trades", true},
		{`SELECT * FROM Trades;`, "trades", true},
		{`SELECT * FROM trades2, atrades JOIN trades USING (id)`, "trades", true},
		{`SELECT * FROM trades2, atrades, tradesé`, "trades", false},
		{`FROM "filings/annual" AS a`, "filings/annual", true},
		{`trades`, "trades", true},
		{``, "trades", false},
	} {
		require.Equal(t, c.want, mentions(c.sql, c.name), c.sql)
	}
}

// TestAheadIsOfTheTablesNamed: what is resolved early is a table whose name is a word of the statement, in whatever case, with its
// footers looked at; one that cannot be resolved is left for the statement to say so.
func TestAheadIsOfTheTablesNamed(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "a", Columns: []string{"n int64"}, Rows: []string{`[1]`}, At: ducktest.Epoch})
	found := resolveAhead(t.Context(), st, `SELECT * FROM STATE, nothing`, Bounds{})
	require.Equal(t, []string{"state"}, slices.Collect(maps.Keys(found)))
	files := found["state"].table.Files
	require.Len(t, files, 1)
	require.EqualValues(t, 1, files[0].Seen.Rows)
	require.Empty(t, resolveAhead(t.Context(), st, `SELECT * FROM state`, Bounds{Snapshots: []Pin{{ID: "x"}}}))
}
