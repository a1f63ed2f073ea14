package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseBench(t *testing.T) {
	lines, err := parseBench("Query", "goos: linux\nBenchmarkQuery/u-2   \t       3\t 456000000 ns/op\t       317.0 duckdb-ms/op\t         1.440 ratio\nBenchmarkQuery/t\t2\t1 ns/op\nPASS\n")
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Equal(t, "u", lines[0].sub)
	require.Equal(t, 456*time.Millisecond, lines[0].took)
	require.Equal(t, map[string]float64{"ns/op": 456000000, "duckdb-ms/op": 317, "ratio": 1.44}, lines[0].metrics)
	require.Equal(t, "t", lines[1].sub)
	_, err = parseBench("Query", "PASS\n")
	require.ErrorContains(t, err, "printed nothing")
}

func TestMedian(t *testing.T) {
	require.Equal(t, 3, int(median([]time.Duration{9, 1, 3})))
	require.Equal(t, 2.5, median([]float64{4, 1}))
	require.Zero(t, median[float64](nil))
	require.Zero(t, ratio([]time.Duration{1}, nil))
}

func TestTable(t *testing.T) {
	b := &bench{rounds: 3}
	b.pair("pull", []time.Duration{2 * time.Second}, "rclone", []time.Duration{4 * time.Second}, 0.25, "a note")
	b.add(result{what: "memory", ours: "2048 MiB", peer: "1 GiB", theirs: "1024 MiB", ratio: 2, most: 1})
	b.add(result{what: "runs", ratio: 0.9, least: 0.8, most: 1.2})
	b.add(result{what: "s3cas", peer: "MinIO", theirs: "UNAVAILABLE", note: "NOT MEASURED: not installed"})
	var out strings.Builder
	b.print(&out)
	require.Regexp(t, `pull +2.00 s +rclone +4.00 s +0.50 +0.25`, out.String())
	require.Regexp(t, `memory .* 2.00 +– +at most 1.00  BROKEN`, out.String())
	require.Regexp(t, `runs .* 0.90 +– +0.8 to 1.2\n`, out.String())
	require.Contains(t, out.String(), "s3cas: NOT MEASURED: not installed")
	require.EqualError(t, b.broken(), "memory: the ratio 2.00 is out of its bound")
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	require.NoError(t, err)
	require.Len(t, all, len(measurements()))
	two, err := choose("pull,land")
	require.NoError(t, err)
	require.Equal(t, "pull", two[0].name)
	_, err = choose("pul")
	require.ErrorContains(t, err, `"pul"`)
}
