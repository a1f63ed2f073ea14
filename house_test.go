// Package contextful_test holds the architecture: which package may import which (docs/architecture.md).
package contextful_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is one row of the import table: a package pattern (path.Match on the path below the module, "/*" also covering
// deeper packages) and the patterns of this module's packages that it may import.
type room struct {
	pattern string
	may     []string
}

// formats stand in order: each may import those to its left.
var formats = []string{"ref/key", "ref/manifest", "ref/schema", "ref/decl", "ref/colfile"}

var ports = []string{"ref/bucket", "ref/catalog", "ref/clock", "ref/vfs"}

func table() []room {
	inner := slices.Concat([]string{"ref/fault"}, ports, formats)
	verb := slices.Concat(inner, []string{"ref/store", "ref/lease", "ref/bucket/commit"})
	rooms := []room{
		{"spec", nil},
		{"features", []string{"spec"}},
		{"fakes/s3cas/*", []string{"fakes/s3cas"}},
		{"fakes/*", nil},
		{"harness/*", []string{"spec", "features", "fakes/*", "harness", "harness/*"}},
		{"harness", []string{"spec", "features", "fakes/*", "harness/*"}},
		{"ref/fault", nil},
		{"ref/bucket/s3bucket", []string{"ref/bucket", "ref/fault"}},
		{"ref/bucket/dirbucket", []string{"ref/bucket", "ref/fault"}},
		{"ref/bucket/*", []string{"ref/bucket", "ref/fault", "ref/clock", "ref/manifest"}},
		{"ref/catalog/*", []string{"ref/catalog", "ref/fault"}},
		{"ref/vfs/*", []string{"ref/vfs"}},
		{"ref/store", inner},
		{"ref/lease", append([]string{"ref/store", "ref/bucket/commit"}, inner...)},
		{"ref/land", verb},
		{"ref/fold", append([]string{"ref/duck"}, verb...)},
		{"ref/query", append([]string{"ref/duck"}, verb...)},
		{"ref/duck", append([]string{"ref/store"}, inner...)},
		{"ref/duck/*", append([]string{"ref/duck", "ref/store"}, inner...)},
		{"ref/mutants/*", nil},
		{"ref/historytest", nil}, // tests alone
		// for tests alone, which no row lets anything but them import
		{"ref/nodetest", append([]string{"ref/push", "ref/pull", "ref/probe", "ref/bucket/s3bucket", "fakes/s3cas"}, verb...)},
		{"ref/probe", verb},
		{"ref/merge", verb},
		{"ref/push", append([]string{"ref/merge", "ref/probe"}, verb...)},
		{"ref/pull", append([]string{"ref/merge"}, verb...)},
		{"ref/capture", append([]string{"ref/fold", "ref/land"}, verb...)},
		{"ref/compact", append([]string{"ref/fold", "ref/push", "ref/pull", "ref/probe", "ref/merge"}, verb...)},
		{"ref/pipeline", append([]string{"ref/land"}, verb...)},
		{"cmd/contextful", []string{"ref/*"}},
		{"cmd/contextful-conform", []string{"spec", "features", "harness", "harness/*", "fakes/*"}},
		{"scripts/wrong", []string{"harness/mutation", "spec"}}, // compiles wrong programs as mutants are
		{"scripts/tour/*", []string{"harness/stopper"}},         // kills the reference as the kit does
		{"scripts/*", nil},
	}
	for _, p := range ports {
		rooms = append(rooms, room{p, []string{"ref/fault", "ref/clock"}})
	}
	for i, f := range formats {
		rooms = append(rooms, room{f, append([]string{"ref/fault", "ref/vfs"}, formats[:i]...)})
	}
	return rooms
}

func matches(pattern, pkg string) bool {
	if deep, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(pkg, deep+"/")
	}
	ok, err := path.Match(pattern, pkg)
	return err == nil && ok
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	var all []goPackage
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// TestImports: each package imports only what its row of the table allows, and a package without a row is a finding.
func TestImports(t *testing.T) {
	rooms := table()
	for _, p := range list(t) {
		if p.ImportPath == "contextful" { // this test's own folder
			continue
		}
		pkg := strings.TrimPrefix(p.ImportPath, "contextful/")
		i := slices.IndexFunc(rooms, func(r room) bool { return matches(r.pattern, pkg) })
		if i < 0 {
			t.Errorf("%s stands in no row of the table", pkg)
			continue
		}
		for _, imp := range p.Imports {
			in, ours := strings.CutPrefix(imp, "contextful/")
			if ours && !slices.ContainsFunc(rooms[i].may, func(may string) bool { return matches(may, in) }) {
				t.Errorf("%s may not import %s", pkg, in)
			}
		}
	}
}

// TestSDKs: only the package that exists for a library imports it.
func TestSDKs(t *testing.T) {
	only := map[string][]string{
		"modernc.org/sqlite":                      {"ref/catalog/sqlitecat", "harness/inspect"}, // the kit looks into both catalogs
		"github.com/duckdb/duckdb-go/v2":          {"ref/duck", "ref/duck/*", "ref/query"},
		"github.com/aws/aws-sdk-go-v2/service/s3": {"ref/bucket/s3bucket", "fakes/s3cas/s3castest", "harness/*"},
		"github.com/spf13/cobra":                  {"cmd/contextful", "cmd/contextful-conform"},
	}
	for _, p := range list(t) {
		pkg := strings.TrimPrefix(p.ImportPath, "contextful/")
		for _, imp := range p.Imports {
			for sdk, allowed := range only {
				if imp != sdk && !strings.HasPrefix(imp, sdk+"/") {
					continue
				}
				if !slices.ContainsFunc(allowed, func(a string) bool { return matches(a, pkg) }) {
					t.Errorf("%s may not import %s", pkg, imp)
				}
			}
		}
	}
}

// TestCatalogPorts: the store and everything that works on it know the catalogs by their ports alone. No package of ref/ but the
// adapter reaches a SQLite driver by any chain of imports, and only a program's own entry point links the adapter
// (store.lay-out.catalog-ports).
func TestCatalogPorts(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Deps", "./ref/...", "./cmd/contextful").Output()
	require.NoError(t, err)
	dec, linked := json.NewDecoder(strings.NewReader(string(out))), []string{}
	for dec.More() {
		var p struct {
			ImportPath string
			Deps       []string
		}
		require.NoError(t, dec.Decode(&p))
		pkg := strings.TrimPrefix(p.ImportPath, "contextful/")
		if slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, "modernc.org/sqlite") }) {
			linked = append(linked, pkg)
		}
		if pkg == "ref/store" && !slices.Contains(p.Deps, "contextful/ref/catalog") {
			t.Error("ref/store does not know the ports")
		}
	}
	require.Equal(t, []string{"ref/catalog/sqlitecat", "cmd/contextful"}, linked)
}
