package mutation

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes holds every shape of function a copy must be callable from.
const shapes = `// Command shapes.
package main // the name

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

type box[T any] struct{ in T }

// get has a receiver with a type parameter.
func (b *box[T]) get() T {
	out := b.in
	return out
}

type counter struct{ n int }

// add has no name for its receiver's copy to use.
func (counter) add(_ int, s string) string {
	return s + "!"
}

func unnamed(string, ...int) (int, error) { return 1, nil }

func join[K comparable, V any](k K, vs ...V) string {
	// a comment inside
	out := fmt.Sprint(k)
	for _, v := range vs {
		out += fmt.Sprint(v)
	}
	return out
}

func named(in int) (out int, err error) {
	defer func() {
		if err != nil {
			out = -1
		}
	}()
	half, err := halve(in)
	if err != nil {
		return 0, err
	}
	out = half
	return
}

func halve(n int) (int, error) {
outer:
	for {
		if n%2 == 1 {
			return 0, errors.New("odd")
		}
		break outer
	}
	return n / 2, nil
}

func say(line string) {
	fmt.Println(line)
}

func main() {
	b := &box[int]{in: 7}
	one, err := unnamed("x", 1, 2)
	out, nerr := named(3)
	say(strings.TrimSpace(fmt.Sprintln(b.get(), counter{}.add(1, "hi"), one, err, join("k", 1, 2), out, nerr)))
	if len(os.Args) > 1 {
		say("more")
	}
}
`

func module(t *testing.T, source string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"cmd/shapes", "ref/mutants"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module tiny\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "cmd/shapes/main.go"), []byte(source), 0o644))
	return root
}

func mut(id, find, swap string) Mutant {
	return Mutant{ID: id, Clause: "a.b.c", Why: "w", File: "cmd/shapes/main.go", Find: find, Swap: swap}
}

func output(t *testing.T, binary, id string) string {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), Env+"="+id)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

func TestEveryShapeOfFunctionCanBeMutated(t *testing.T) {
	root := module(t, shapes)
	mutants := []Mutant{
		mut("generic-method", "out := b.in", "var out T"),
		mut("unnamed-receiver", `s + "!"`, `s + "?"`),
		mut("unnamed-parameters", "return 1, nil", "return 2, nil"),
		mut("type-parameters", "\t// other comment\n\tout := fmt.Sprint(k)\n", `out := "K"`),
		mut("declares-what-is-used-later", "half, err := halve(in)\n\tif err != nil {\n\t\treturn 0, err\n\t}", "half, err := in, error(nil)"),
		mut("nested-in-the-last", "return 0, err", "return 0, nil"),
		mut("label", `if n%2 == 1 { return 0, errors.New("odd") }`, ""),
		mut("no-result", "fmt.Println(line)", "fmt.Println(bytes.NewBufferString(strings.ToUpper(line)))"),
		mut("in-main", "b := &box[int]{in: 7}", "b := &box[int]{in: 8}"),
		{ID: "two-places", Clause: "a.b.c", Why: "w", File: "cmd/shapes/main.go", Find: "return 1, nil", Swap: "return 3, nil",
			Also: []Edit{{File: "cmd/shapes/main.go", Find: "in: 7", Swap: "in: 9"}}},
		mut("gone", "nowhere()", ""),
		mut("twice", "return 0, err", "return 9, err"),
		mut("outside", "struct{ n int }", "struct{ n int64 }"),
		mut("no-change", "return  n/2 , nil", "return n / 2, nil"),
		mut("no-go", "return n / 2, nil", "return n / 2, nil }"),
		mut("no-type", "return n / 2, nil", "return missing, nil"),
		{ID: "no-file", Clause: "a.b.c", Why: "w", File: "cmd/none.go", Find: "x", Swap: "y"},
	}
	mutants[7].Imports = []string{"bytes", "fmt"}
	mutants[11].Find = "say("
	builder := Builder{Root: root, Command: "./cmd/shapes", Dir: filepath.Join(root, "build"), Vet: true, Env: []string{"GOFLAGS=-p=1"}}
	got, err := builder.Build(context.Background(), mutants)
	require.NoError(t, err)

	want := "7 hi! 1 <nil> k12 -1 odd"
	require.Equal(t, want, output(t, got.Clean, "in-main"), "the clean binary obeys no variable")
	for id, line := range map[string]string{
		"":                            want,
		"generic-method":              "0 hi! 1 <nil> k12 -1 odd",
		"unnamed-receiver":            "7 hi? 1 <nil> k12 -1 odd",
		"unnamed-parameters":          "7 hi! 2 <nil> k12 -1 odd",
		"type-parameters":             "7 hi! 1 <nil> K12 -1 odd",
		"declares-what-is-used-later": "7 hi! 1 <nil> k12 3 <nil>",
		"nested-in-the-last":          "7 hi! 1 <nil> k12 0 <nil>",
		"label":                       "7 hi! 1 <nil> k12 1 <nil>",
		"no-result":                   "7 HI! 1 <NIL> K12 -1 ODD",
		"in-main":                     "8 hi! 1 <nil> k12 -1 odd",
		"two-places":                  "9 hi! 3 <nil> k12 -1 odd",
	} {
		require.Equal(t, line, output(t, got.Mutated, id), id)
	}

	why := map[string]string{}
	for _, d := range got.Dead {
		why[d.ID] = d.Why
	}
	require.Len(t, why, 7, why)
	require.Contains(t, why["gone"], "it does not occur")
	require.Contains(t, why["twice"], "occurs 3 times, at lines")
	require.Contains(t, why["outside"], "outside any function")
	require.Contains(t, why["no-change"], "changes nothing")
	require.Contains(t, why["no-go"], "halve is no Go")
	require.Contains(t, why["no-type"], "main.go:59: undefined: missing")
	require.Contains(t, why["no-file"], "there is no file")

	before, err := os.Stat(got.Mutated)
	require.NoError(t, err)
	again, err := builder.Build(context.Background(), mutants)
	require.NoError(t, err)
	require.Equal(t, got, again)
	after, err := os.Stat(again.Mutated)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "the same sources are not compiled again")
	source, err := os.ReadFile(filepath.Join(root, "cmd/shapes/main.go"))
	require.NoError(t, err)
	require.Equal(t, shapes, string(source), "the production source is left alone")
}

func TestACommandThatDoesNotCompileIsAnError(t *testing.T) {
	root := module(t, "package main\n\nfunc main() { x }\n")
	_, err := Builder{Root: root, Command: "./cmd/shapes", Dir: filepath.Join(root, "build")}.Build(context.Background(), nil)
	require.ErrorContains(t, err, "undefined: x")
}
