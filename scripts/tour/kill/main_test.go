package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	require.Equal(t, []int{1, 2, 3}, spread(3, 0))
	require.Equal(t, []int{1, 2, 3}, spread(3, 5))
	require.Equal(t, []int{1, 50, 100}, spread(100, 3))
	require.Empty(t, spread(0, 0))
}

func TestTakeRows(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	_, _, err := takeRows(from, to, 0)
	require.ErrorContains(t, err, "debpackages")
	for _, name := range []string{"packages-0", "packages-1", "packages-2", "packages-3", "updates"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name+".jsonl"), []byte(strings.Repeat("{}\n", 3)), 0o644))
	}
	files, rows, err := takeRows(from, to, 2)
	require.NoError(t, err)
	require.Equal(t, 10, rows)
	require.Len(t, files, 5)
	_, rows, err = takeRows(from, to, 0)
	require.NoError(t, err)
	require.Equal(t, 15, rows)
}

func TestPrintAll(t *testing.T) {
	require.NoError(t, printAll([]*tally{{verb: "land", calls: map[string]int{"fsync": 2}, total: 2, killed: 2, before: 1, after: 1}}))
	err := printAll([]*tally{{verb: "push", total: 1, killed: 1, bad: []string{"push killed after call 1 of 1: lost a row"}}})
	require.EqualError(t, err, "push killed after call 1 of 1: lost a row")
}
