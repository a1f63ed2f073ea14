package steps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Steps of the declare operation: declarations that cannot be read, and values that JSON cannot say.
func registerDeclare(s *Suite) {
	s.Step(`^(\w+)'s declaration file also holds the line (.+)$`, declarationLine)
	s.Step(`^(\w+) asks for a (landing|fold|read|scan|listing|check) of "([^"]*)" (outside any project|two directories below its project)$`, asksFrom)
	s.Step(`^the directory that (\w+) asked from is empty$`, askedFromEmpty)
	s.Step(`^(\w+) lands a Parquet file of "([^"]*)" whose column "([^"]*)" holds (.+)$`, landsFloats)
}

// declarationLine ends the declaration as the scenario made it with one more line; <the line> is its number.
func declarationLine(ctx context.Context, node, line string) error {
	w := world.From(ctx)
	n := w.Node(node)
	n.Declaration = ""
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(n.Project(), "contextful.toml"))
	if err != nil {
		return err
	}
	w.Values["name:the line"] = strconv.Itoa(strings.Count(string(text), "\n") + 1)
	n.Declaration = string(text) + line + "\n"
	return nil
}

// asksFrom asks for a verb with another working directory.
func asksFrom(ctx context.Context, node, word, table, where string) error {
	w := world.From(ctx)
	n := w.Node(node)
	dir, err := w.Dir("nowhere")
	if where != "outside any project" {
		dir = filepath.Join(n.Project(), "notes", "drafts")
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	w.Values["declare.asked."+node] = dir
	args := sut.A("table", table)
	switch word {
	case "read":
		args = sut.A("sql", `SELECT * FROM "`+table+`"`)
	case "check":
		args = nil
	case "landing":
		if args, _, err = w.LandArgs(n, world.Landing{Table: table, Rows: fresh(w, table, 1, 1)}); err != nil {
			return err
		}
	}
	_, err = w.Do(ctx, n, verbOf(word), args, func(s *sut.Node) { s.Project = dir })
	return err
}

func askedFromEmpty(ctx context.Context, node string) error {
	dir, ok := world.From(ctx).Values["declare.asked."+node].(string)
	if !ok {
		return errors.New("no step has asked from another directory")
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	return verify.Equal("what the directory "+node+" asked from holds", 0, len(found))
}

// landsFloats lands a Parquet file of one float64 column: JSON has no word for some of its values.
func landsFloats(ctx context.Context, node, table, column, values string) error {
	w := world.From(ctx)
	n := w.Node(node)
	file, err := n.InputFile("floats.parquet", nil)
	if err != nil {
		return err
	}
	if err := writeFloats(file, column, list(values)); err != nil {
		return err
	}
	return land(ctx, w, node, world.Landing{Table: table, File: file, Format: "parquet"})
}

func writeFloats(path, column string, values []string) error {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for _, v := range values {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return fmt.Errorf("%q is no float64: %w", v, err)
		}
		if v == "-0" {
			f = math.Copysign(0, -1)
		}
		b.Append(f)
	}
	s := arrow.NewSchema([]arrow.Field{{Name: column, Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	rec := array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, int64(len(values)))
	defer rec.Release()
	return writeParquet(path, rec)
}
