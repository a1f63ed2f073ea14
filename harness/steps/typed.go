package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Steps about the types of columns: what lies in a run's parts, and producers whose Parquet files have types of their own.
func registerTyped(s *Suite) {
	s.Step(`^"([^"]*)" no longer declares a type of "([^"]*)"$`, undeclares)
	s.Step(`^(\w+) lands as run "([^"]*)" into "([^"]*)" a Parquet file whose "([^"]*)" is (.+?), with the rows (.+)$`, landsParquet)
	s.Step(`^the read of "([^"]*)" of "([^"]*)" on (\w+) gives what run "([^"]*)" holds$`, readsWhatRunHolds)
	s.Step(`^(\w+) lands a row of "([^"]*)" with (\d+) columns$`, landsWide)
	s.Step(`^(\w+) lands a row of "([^"]*)" whose "([^"]*)" is (\d+) lists in each other$`, landsDeep)
	s.Step(`^(\w+) reads of "([^"]*)" the row of (\d+) columns$`, readsWide)
	s.Step(`^(\w+) lands as run "([^"]*)" into "([^"]*)" a Parquet file whose "([^"]*)" is (\d+) lists in each other$`, landsDeepParquet)
	s.Step(`^"([^"]*)" declares "([^"]*)" as (\d+) lists in each other$`, declaresDeep)
}

func undeclares(ctx context.Context, table, column string) error {
	t := world.From(ctx).Table(table)
	if _, ok := t.Columns[column]; !ok {
		return fmt.Errorf("%q of %q has no declared type", column, table)
	}
	delete(t.Columns, column)
	return nil
}

// readsWhatRunHolds compares one column as a reader gives it with the parts of a run, by id.
func readsWhatRunHolds(ctx context.Context, column, table, node, run string) error {
	want, err := runRows(node, table, run)(ctx)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	return verify.SameRows(fmt.Sprintf("%s of %q as %s reads it", column, table, node), want.Select("id", column), got.Select("id", column))
}

// arrowScalars are the words of a column type that a Parquet file of the kit's may have.
var arrowScalars = map[string]arrow.DataType{"boolean": arrow.FixedWidthTypes.Boolean, "int8": arrow.PrimitiveTypes.Int8, "int32": arrow.PrimitiveTypes.Int32,
	"int64": arrow.PrimitiveTypes.Int64, "float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64, "utf8": arrow.BinaryTypes.String,
	"binary": arrow.BinaryTypes.Binary, "timestamp": arrow.FixedWidthTypes.Timestamp_ns}

// arrowType reads a column type: a scalar, binary(n), float32[n], float16[n], list<t>, map<utf8, t>, struct<name: t, …>.
func arrowType(text string) (arrow.DataType, error) {
	text = strings.TrimSpace(text)
	if t, ok := arrowScalars[text]; ok {
		return t, nil
	}
	var n int32
	if _, err := fmt.Sscanf(text, "binary(%d)", &n); err == nil {
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, nil
	}
	if _, err := fmt.Sscanf(text, "float32[%d]", &n); err == nil {
		return arrow.FixedSizeListOfField(n, arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Float32}), nil
	}
	if _, err := fmt.Sscanf(text, "float16[%d]", &n); err == nil {
		return arrow.FixedSizeListOfField(n, arrow.Field{Name: "element", Type: arrow.FixedWidthTypes.Float16}), nil
	}
	head, rest, ok := strings.Cut(text, "<")
	if !ok || !strings.HasSuffix(rest, ">") {
		return nil, fmt.Errorf("the kit has no Parquet column of type %q", text)
	}
	inner := strings.TrimSuffix(rest, ">")
	switch head {
	case "list":
		t, err := arrowType(inner)
		return arrow.ListOf(t), err
	case "map":
		t, err := arrowType(strings.TrimPrefix(inner, "utf8,"))
		return arrow.MapOf(arrow.BinaryTypes.String, t), err
	case "struct":
		var fields []arrow.Field
		for _, part := range outerCommas(inner) {
			name, typ, _ := strings.Cut(part, ":")
			t, err := arrowType(typ)
			if err != nil {
				return nil, err
			}
			fields = append(fields, arrow.Field{Name: strings.TrimSpace(name), Type: t, Nullable: true})
		}
		return arrow.StructOf(fields...), nil
	}
	return nil, fmt.Errorf("the kit has no Parquet column of type %q", text)
}

// outerCommas cuts a text at the commas that stand in no angle brackets.
func outerCommas(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}

// parquetFile writes rows as a Parquet file of a column id, of int64, and one of the given type. A map's value is written as a list
// of {"key", "value"}.
func parquetFile(column string, dt arrow.DataType, rows []byte) ([]byte, error) {
	sc := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: column, Type: dt, Nullable: true}}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, sc, bytes.NewReader(rows))
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(sc, &out, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	if err := w.Write(rec); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func landsParquet(ctx context.Context, node, run, table, column, typ, text string) error {
	dt, err := arrowType(typ)
	if err != nil {
		return err
	}
	rows, err := jsonRows(text)
	if err != nil {
		return err
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return landsFile(ctx, node, run, table, column, dt, body, rows)
}

func landsFile(ctx context.Context, node, run, table, column string, dt arrow.DataType, body []byte, rows []world.Row) error {
	file, err := parquetFile(column, dt, body)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	path, err := w.Node(node).InputFile(run+".parquet", file)
	if err != nil {
		return err
	}
	return land(ctx, w, node, world.Landing{Table: table, Run: run, File: path, Format: "parquet", Rows: rows})
}

func deepList(depth int) arrow.DataType {
	t := arrow.DataType(arrow.PrimitiveTypes.Int64)
	for range depth {
		t = arrow.ListOf(t)
	}
	return t
}

func landsDeepParquet(ctx context.Context, node, run, table, column string, depth int) error {
	return landsFile(ctx, node, run, table, column, deepList(depth), []byte(`[{"id": 1}]`), []world.Row{{"id": 1, column: nil}})
}

func declaresDeep(ctx context.Context, table, column string, depth int) error {
	world.From(ctx).Table(table).Columns[column] = strings.Repeat("list<", depth) + "int64" + strings.Repeat(">", depth)
	return nil
}

func landsDeep(ctx context.Context, node, table, column string, depth int) error {
	var v any = json.Number("1")
	for range depth {
		v = []any{v}
	}
	return land(ctx, world.From(ctx), node, world.Landing{Table: table, Rows: []world.Row{{"id": 1, column: v}}})
}

func wideRow(columns int) world.Row {
	r := world.Row{}
	for i := range columns {
		r[fmt.Sprintf("c%05d", i)] = i
	}
	return r
}

func landsWide(ctx context.Context, node, table string, columns int) error {
	return land(ctx, world.From(ctx), node, world.Landing{Table: table, Rows: []world.Row{wideRow(columns)}})
}

func readsWide(ctx context.Context, node, table string, columns int) error {
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	return verify.SameRows(fmt.Sprintf("the row of %d columns that %s reads of %q", columns, node, table), world.GridOf([]world.Row{wideRow(columns)}), got.Producer())
}
