package verify

import (
	"testing"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"

	"github.com/stretchr/testify/require"
)

func TestSameRowsCountsRows(t *testing.T) {
	g := func(rows ...[]any) inspect.Grid { return inspect.Grid{Columns: []string{"a", "b"}, Rows: rows} }
	require.NoError(t, SameRows("x", g([]any{1, "p"}, []any{2, "q"}), g([]any{2, "q"}, []any{1, "p"})))
	err := SameRows("x", g([]any{1, "p"}, []any{2, "q"}), g([]any{1, "p"}, []any{1, "p"}))
	require.ErrorContains(t, err, "missing: a=2")
	require.ErrorContains(t, err, "too many: a=1")
	require.Error(t, SameRows("x", g(), inspect.Grid{Columns: []string{"a"}}))
	require.NoError(t, SameRows("x", g([]any{1, 2}), inspect.Grid{Columns: []string{"b", "a"}, Rows: [][]any{{2, 1}}}))
}

func TestRefusals(t *testing.T) {
	known := func(c string) bool { return c == "LeaseHeld" || c == "LeaseFenced" }
	res := func(exit int, stderr string) sut.Result {
		return sut.Result{Node: "alpha", Verb: sut.Push, Exit: exit, Stderr: stderr}
	}
	held := Refusal{Code: "LeaseHeld", Names: []string{"beta", "2026-03-01T12:00:00.5Z", "7"}, Known: known}
	text := "LeaseHeld: the lease of Events is held by beta until 2026-03-01T13:00:00.500+01:00 under fence 7\n"
	require.NoError(t, held.Check(res(1, text)))
	require.NoError(t, held.Check(res(1, `{"code":"LeaseHeld","message":"held by beta until 2026-03-01T12:00:00.500000000Z, fence 7"}`)))
	require.Error(t, held.Check(res(0, text)), "exit 0 is no refusal")
	require.Error(t, held.Check(res(-1, text)), "a killed process refuses nothing")
	require.Error(t, held.Check(sut.Result{Exit: 2, Stderr: text, Panicked: true}))
	require.Error(t, Refusal{Code: "LeaseFenced", Known: known}.Check(res(1, text)), "the code is the first of the law")
	require.Error(t, Refusal{Code: "LeaseHeld", Names: []string{"70"}, Known: known}.Check(res(1, text)))
	require.Error(t, Refusal{Code: "LeaseHeld", Names: []string{"2026-03-01T12:00:01Z"}, Known: known}.Check(res(1, text)))
	require.True(t, Names("column a is BIGINT", "int64"))
	require.False(t, Names("column a is BIGINT", "float64"))
	require.True(t, Names(`{"message":"the path \"a\\b\""}`, `a\b`))
}

func TestBefore(t *testing.T) {
	e := func(applied uint64) s3cas.Entry { return s3cas.Entry{Applied: applied} }
	require.NoError(t, Before("x", []s3cas.Entry{e(1), e(3)}, []s3cas.Entry{e(4)}))
	require.Error(t, Before("x", []s3cas.Entry{e(1), e(5)}, []s3cas.Entry{e(4)}))
	require.Error(t, Before("x", nil, []s3cas.Entry{e(4)}), "order between nothing proves nothing")
	require.Error(t, Before("x", []s3cas.Entry{e(1)}, []s3cas.Entry{e(0)}))
	require.Error(t, Never("x", []s3cas.Entry{e(1)}))
	require.NoError(t, Never("x", nil))
}
