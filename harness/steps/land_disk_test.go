package steps

import (
	"testing"

	"contextful/harness/stopper"

	"github.com/stretchr/testify/require"
)

// TestCostly: what fails before the commit counts, and the sync that makes the commit last; what fails for a cache behind it does not.
func TestCostly(t *testing.T) {
	const dir, commit = "/p/tables/t", "/p/tables/t/_pointer.json"
	call := func(n int, line string, fail bool) stopper.Call { return stopper.Call{N: n, Line: line, Fail: fail} }
	renamed := call(2, `renameat(AT_FDCWD</p>, "/p/tables/t/.tmp", AT_FDCWD</p>, "/p/tables/t/_pointer.json") = 0`, false)
	synced := call(3, `fsync(8</p/tables/t>) = 0`, false)
	early := call(1, `fsync(8</p/tables/t/.tmp>) = -1 ENOSPC (INJECTED)`, true)
	elsewhere := call(1, `fsync(8</p/derived.sqlite>) = -1 ENOSPC (INJECTED)`, true)
	lost := call(3, `fsync(8</p/tables/t>) = -1 ENOSPC (INJECTED)`, true)
	cache := call(4, `renameat(AT_FDCWD</p>, "/p/tables/t/.tmp", AT_FDCWD</p>, "/p/tables/t/.cache") = -1 ENOSPC (INJECTED)`, true)
	for _, c := range []struct {
		calls, want []stopper.Call
	}{
		{[]stopper.Call{elsewhere, early}, []stopper.Call{early}},
		{[]stopper.Call{early, renamed, cache}, []stopper.Call{early}},
		{[]stopper.Call{renamed, lost, lost, cache}, []stopper.Call{lost}},
		{[]stopper.Call{renamed, synced, lost, cache}, nil},
	} {
		require.Equal(t, c.want, costly(c.calls, dir, commit))
	}
}
