package steps

import (
	"testing"

	"contextful/harness/inspect"

	"github.com/stretchr/testify/require"
)

// TestCrowdReader: each thing that a read among writers must not show is noticed.
func TestCrowdReader(t *testing.T) {
	read := func(rows ...[]any) inspect.Grid {
		return inspect.Grid{Columns: []string{"id", "_commit_seq"}, Rows: rows}
	}
	for _, c := range []struct {
		name          string
		before, after inspect.Grid
		must          []any
		noticed       string
	}{
		{"what grows", read([]any{1, 1}, []any{2, 2}), read([]any{1, 1}, []any{2, 2}, []any{3, 3}), []any{1, 2}, ""},
		{"a row twice", read(), read([]any{1, 1}, []any{1, 1}), nil, "the row 1"},
		{"a row that nobody landed", read(), read([]any{9, 1}), nil, "the row 9"},
		{"a row that is missing", read(), read([]any{1, 1}), []any{1, 2}, "without 2"},
		{"a new row below what was read", read([]any{1, 2}), read([]any{1, 2}, []any{3, 1}), nil, "more than 2"},
		{"a new row at what was read", read([]any{1, 2}), read([]any{1, 2}, []any{3, 2}), nil, "more than 2"},
		{"a sequence that is none", read(), read([]any{1, nil}), nil, "an integer"},
	} {
		reader := &crowdReader{what: "a read", landed: map[string]bool{}}
		reader.know([]any{1, 2, 3})
		require.NoError(t, reader.saw(c.before, nil), c.name)
		err := reader.saw(c.after, c.must)
		if c.noticed == "" {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorContains(t, err, c.noticed, c.name)
		}
	}
}
