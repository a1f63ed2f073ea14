package steps

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the respond operation: how values look in an answer, and how the parts hold what they were made of.
func registerRespond(s *Suite) {
	s.Step(`^the answer's rows are (\[.*\])$`, answerRows)
	s.Step(`^the answer shows in ("[^"]*"(?:(?:, | and )"[^"]*")*) what "([^"]*)" shows$`, answerShows)
	s.Step(`^every part of "([^"]*)" on (\w+) holds the items of "([^"]*)" in (two|four) bytes each$`, partsHoldItems)
	s.Step(`^the part of run "([^"]*)" of "([^"]*)" on (\w+) is (that of run "[^"]*" of "[^"]*"|one whose columns nest (?:\d+) deep)$`, partIsAnother)
}

// rawAnswer is what the latest query printed, cell by cell as it is written.
func rawAnswer(ctx context.Context) (columns []string, rows [][]json.RawMessage, err error) {
	c, err := outcome(ctx, "query", "")
	if err != nil {
		return nil, nil, err
	}
	if err := verify.Succeeded(c.Result); err != nil {
		return nil, nil, err
	}
	g, err := inspect.ParseGrid(c.Stdout)
	if err != nil {
		return nil, nil, verify.Fail("the answer", "the JSON of a query", err)
	}
	var doc struct {
		Rows [][]json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &doc); err != nil {
		return nil, nil, verify.Fail("the answer", "the JSON of a query", err)
	}
	return g.Columns, doc.Rows, nil
}

func answerRows(ctx context.Context, text string) error {
	want, err := exactly([]byte(text))
	if err != nil {
		return fmt.Errorf("the rows of the step are no JSON: %w", err)
	}
	_, rows, err := rawAnswer(ctx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	got, err := exactly(raw)
	if err != nil {
		return err
	}
	return verify.That(reflect.DeepEqual(got, want), "the answer's rows", text, string(raw))
}

// exactly decodes JSON with numbers as the numbers they are: 1 is 1.0, and no digit is lost.
func exactly(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind it")
	}
	return withNumbers(v)
}

func withNumbers(v any) (any, error) {
	var err error
	switch x := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(x.String())
		if !ok {
			return nil, fmt.Errorf("%s is no number", x)
		}
		// A sign before zero is a difference, and a Rat knows none.
		return "number " + r.RatString() + map[bool]string{true: ", negative zero"}[r.Sign() == 0 && strings.HasPrefix(x.String(), "-")], nil
	case []any:
		for i := range x {
			if x[i], err = withNumbers(x[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range x {
			if x[k], err = withNumbers(x[k]); err != nil {
				return nil, err
			}
		}
	case string:
		return "text " + x, nil
	}
	return v, nil
}

// answerShows compares, as they are written, the items and members of some cells of each row with the cell beside them.
func answerShows(ctx context.Context, columns, beside string) error {
	have, rows, err := rawAnswer(ctx)
	if err != nil {
		return err
	}
	g := inspect.Grid{Columns: have}
	at := g.Index(beside)
	if at < 0 || len(rows) == 0 {
		return verify.Fail("the answer", "rows with a column "+beside, fmt.Sprint(len(rows), " rows of ", have))
	}
	for _, name := range names(columns) {
		i := g.Index(name)
		if i < 0 {
			return verify.Fail("the answer", "a column "+name, have)
		}
		for _, row := range rows {
			inside, err := inner(row[i])
			if err != nil || len(inside) == 0 {
				return verify.Fail(fmt.Sprintf("%q of the answer", name), "an array or an object with something in it", string(row[i]))
			}
			for _, got := range inside {
				if err := verify.Equal(fmt.Sprintf("what lies in %q beside %q", name, beside), string(row[at]), string(got)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inner is what lies in an array or an object.
func inner(raw json.RawMessage) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for _, m := range members {
		list = append(list, m)
	}
	return list, nil
}

// partsHoldItems looks at the leaf column below a vector in every part that lies in the table, of runs and snapshots alike.
func partsHoldItems(ctx context.Context, table, node, column, size string) error {
	n := world.From(ctx).Node(node)
	runs, err := inspect.Runs(n.Root(), table)
	if err != nil {
		return err
	}
	var parts []inspect.Part
	for _, r := range runs {
		parts = append(parts, r.Parts...)
	}
	ids, err := inspect.Snapshots(n.Root(), table)
	if err != nil {
		return err
	}
	for _, id := range ids {
		doc, err := inspect.Snapshot(n.Root(), table, id)
		if err != nil {
			return err
		}
		parts = append(parts, doc.Parts...)
	}
	want := map[string]string{"two": "FIXED_LEN_BYTE_ARRAY Float16", "four": "FLOAT None"}[size]
	seen := 0
	for _, p := range parts {
		cols, _, err := inspect.ParquetColumns(p.Path)
		if err != nil {
			return err
		}
		for _, c := range cols {
			if !strings.HasPrefix(c.Name, column+".") {
				continue
			}
			seen++
			if err := verify.Equal("the items of "+column+" in the part "+p.Path, want, c.Physical+" "+c.Logical); err != nil {
				return err
			}
		}
	}
	return verify.That(seen >= len(parts) && seen > 0, "the parts of "+table, "a column below "+column+" in each", fmt.Sprint(seen, " in ", len(parts)))
}

// partIsAnother puts another Parquet file in the place of a run's only part. What nests deep is a footer alone, such as no honest
// writer makes and every reader that recurses follows.
func partIsAnother(ctx context.Context, run, table, node, what string) error {
	n := world.From(ctx).Node(node)
	_, paths, err := runParts(ctx, run, table, node)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return fmt.Errorf("run %s of %s has %d parts, and the step is for one", run, table, len(paths))
	}
	rel, err := filepath.Rel(n.TablePath(table, "data"), paths[0])
	if err != nil {
		return err
	}
	world.From(ctx).Values["name:the part"] = filepath.ToSlash(rel)
	var depth int
	if _, err := fmt.Sscanf(what, "one whose columns nest %d deep", &depth); err == nil {
		return os.WriteFile(paths[0], deepParquet(depth), 0o644)
	}
	other := names(what)
	_, from, err := runParts(ctx, other[0], other[1], node)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(from[0])
	if err != nil {
		return err
	}
	return os.WriteFile(paths[0], body, 0o644)
}

// deepParquet is a Parquet file without rows whose one column lies in so many groups: FileMetaData in Thrift's compact protocol.
func deepParquet(depth int) []byte {
	const version, schema, rows, groups = "\x15\x02", "\x19\xfc", "\x16\x00", "\x19\x0c"
	footer := binary.AppendUvarint([]byte(version+schema), uint64(depth+2))
	footer = append(footer, "\x48\x01r\x15\x02\x00"...) // the root: name, one child
	for range depth {
		footer = append(footer, "\x35\x02\x18\x01g\x15\x02\x00"...) // optional, name, one child
	}
	footer = append(footer, "\x15\x04\x25\x02\x18\x01x\x00"...) // INT64, optional, name
	footer = append(footer, rows+groups+"\x00"...)
	file := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
}
