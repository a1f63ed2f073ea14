package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/cucumber/godog"
)

// Steps of valid time, available time and the horizon. A bound is written: valid "T", available "T", as of "T", horizon "T" or
// first vintages, several joined by "and".
func registerClocks(s *Suite) {
	s.Step(`^(\w+) (reads|scans) of "([^"]*)" under (.+):$`, readsUnder)
	s.Step(`^(\w+) (reads|scans) of "([^"]*)" under (.+) the columns ("[^"]*"(?:(?:, | and )"[^"]*")*)$`, readsColumnsUnder)
	s.Step(`^(\w+) asks for a (read|scan|listing) of "([^"]*)" under (.+)$`, asksUnder)
	s.Step(`^(\w+) asks under (.+), the statement (.+)$`, statementUnder)
	s.Step(`^the statement's answer is:$`, statementAnswer)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" holds exactly the rows:$`, snapshotRows)
	s.Step(`^(\w+)'s declaration of "([^"]*)" now says (valid_time|available_time) is (\{.*\}|nothing)$`, clockNowSays)
	s.Step(`^(schema\.json|the snapshot's manifest) of "([^"]*)" on (\w+) (names|has no trace of) "([^"]*)"$`, documentNames)
	s.Step(`^(\w+)'s schema of "([^"]*)" has "([^"]*)" first landed at "([^"]*)"$`, firstLandedAt)
	s.Step(`^(\w+)'s description of "([^"]*)"(?: at horizon "([^"]*)")? names the producer's columns (none|"[^"]*"(?:(?:, | and )"[^"]*")*)$`, describes)
	s.Step(`^(\w+)'s schema of "([^"]*)" no longer dates "([^"]*)"$`, undates)
	s.Step(`^(\w+) lands into "([^"]*)" a Parquet file with the wall times in "([^"]*)": (.+)$`, landsWallTimes)
}

var boundWord = regexp.MustCompile(`(valid|available|as of|horizon) "([^"]*)"|first vintages`)

// boundArgs turns a phrase of bounds into arguments of a verb.
func boundArgs(phrase string) ([]string, error) {
	var args []string
	for _, m := range boundWord.FindAllStringSubmatch(phrase, -1) {
		switch m[1] {
		case "":
			args = append(args, "vintage", "first")
		case "valid", "available":
			args = append(args, m[1]+"_as_of", m[2])
		default:
			args = append(args, strings.ReplaceAll(m[1], " ", "_"), m[2])
		}
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("%q names no bound", phrase)
	}
	return args, nil
}

// boundedGrid is what a node answers for a table under bounds.
func boundedGrid(ctx context.Context, node, how, table, phrase string) (inspect.Grid, error) {
	args, err := boundArgs(phrase)
	if err != nil {
		return inspect.Grid{}, err
	}
	w := world.From(ctx)
	if how == "reads" {
		return w.ReadAll(ctx, w.Node(node), table, args...)
	}
	c, err := w.Answer(ctx, w.Node(node), sut.Scan, sut.A(append([]string{"table", table}, args...)...))
	if err != nil {
		return inspect.Grid{}, err
	}
	return grid(node+"'s scan", c.Stdout)
}

func grid(what, stdout string) (inspect.Grid, error) {
	g, err := inspect.ParseGrid(stdout)
	if err != nil {
		return g, verify.Fail(what+" answers as docs/implementers.md says", `{"columns": […], "rows": [[…]]}`, err)
	}
	return g, nil
}

func readsUnder(ctx context.Context, node, how, table, phrase string, t *godog.Table) error {
	got, err := boundedGrid(ctx, node, how, table, phrase)
	if err != nil {
		return err
	}
	return sameTable(fmt.Sprintf("what %s %s of %q under %s", node, how, table, phrase), t, got)
}

func readsColumnsUnder(ctx context.Context, node, how, table, phrase, columns string) error {
	got, err := boundedGrid(ctx, node, how, table, phrase)
	if err != nil {
		return err
	}
	return verify.SameSet(fmt.Sprintf("the columns %s %s of %q under %s", node, how, table, phrase), names(columns), got.Producer().Columns)
}

func asksUnder(ctx context.Context, node, word, table, phrase string) error {
	args, err := boundArgs(phrase)
	if err != nil {
		return err
	}
	of := []string{"table", table}
	if word == "read" {
		of = []string{"sql", `SELECT * FROM "` + table + `"`}
	}
	w := world.From(ctx)
	_, err = w.Do(ctx, w.Node(node), verbOf(word), sut.A(append(of, args...)...))
	return err
}

func statementUnder(ctx context.Context, node, phrase, sql string) error {
	args, err := boundArgs(phrase)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	_, err = w.Do(ctx, w.Node(node), sut.Query, sut.A(append([]string{"sql", sql}, args...)...))
	return err
}

func statementAnswer(ctx context.Context, t *godog.Table) error {
	c, err := outcome(ctx, "query", "")
	if err != nil {
		return err
	}
	if err := verify.Succeeded(c.Result); err != nil {
		return err
	}
	got, err := grid("the query", c.Stdout)
	if err != nil {
		return err
	}
	return sameTable("the statement's answer", t, got)
}

func snapshotRows(ctx context.Context, node, table string, t *godog.Table) error {
	what, got, err := headRows(ctx, node, table)
	if err != nil {
		return err
	}
	return sameTable(what, t, got)
}

// clockNowSays changes one node's declaration of a table that may already hold data.
func clockNowSays(ctx context.Context, node, table, key, value string) error {
	w := world.From(ctx)
	t := w.Node(node).Table(table).Copy()
	t.Extra[key] = value
	if value == "nothing" {
		delete(t.Extra, key)
	}
	w.Node(node).Declare(t)
	return nil
}

// documentNames looks for a word in a document's own text: what leaves no trace is nowhere in it.
func documentNames(ctx context.Context, which, table, node, how, word string) error {
	n := world.From(ctx).Node(node)
	path := filepath.Join(inspect.TableDir(n.Root(), table), "schema.json")
	if which != "schema.json" {
		head, err := headSnapshot(ctx, node, table)
		if err != nil {
			return err
		}
		path = filepath.Join(inspect.SnapshotDir(n.Root(), table, head.SnapshotID), "_manifest.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return verify.Fail(which+" of "+table, "a document", err)
	}
	return verify.That(strings.Contains(string(text), word) == (how == "names"), fmt.Sprintf("%s of %q %s %q", which, table, how, word), how+" "+word, string(text))
}

func firstLandedAt(ctx context.Context, node, table, column, at string) error {
	fields, err := inspect.Schema(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if f.Name == column {
			return verify.Equal(fmt.Sprintf("first_landed_at of %q in %s's schema of %q", column, node, table), inspect.Canonical(at), inspect.Canonical(f.FirstLandedAt))
		}
	}
	return verify.Fail(node+"'s schema of "+table, "a column "+column, fields)
}

func describes(ctx context.Context, node, table, horizon, columns string) error {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Describe, sut.A("table", table, "horizon", horizon))
	if err != nil {
		return err
	}
	var doc struct {
		Columns []struct {
			Name string `json:"name"`
		} `json:"columns"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &doc); err != nil {
		return verify.Fail(node+"'s description answers as docs/implementers.md says", `{"columns": [{"name": …}]}`, err)
	}
	var got []string
	for _, c := range doc.Columns {
		if !strings.HasPrefix(c.Name, "_") {
			got = append(got, c.Name)
		}
	}
	return verify.SameSet("the columns that "+node+"'s description of "+table+" names", names(columns), got)
}

// landsWallTimes lands a Parquet file of one timestamp column without a zone: what a clock on the wall showed.
func landsWallTimes(ctx context.Context, node, table, column, values string) error {
	w := world.From(ctx)
	n := w.Node(node)
	b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Microsecond})
	defer b.Release()
	for _, v := range names(values) {
		t, err := time.Parse("2006-01-02T15:04:05.999999", v)
		if err != nil {
			return err
		}
		b.Append(arrow.Timestamp(t.UnixMicro()))
	}
	file, err := n.InputFile("wall.parquet", nil)
	if err != nil {
		return err
	}
	s := arrow.NewSchema([]arrow.Field{{Name: column, Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true}}, nil)
	rec := array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, int64(len(names(values))))
	defer rec.Release()
	if err := writeParquet(file, rec); err != nil {
		return err
	}
	return land(ctx, w, node, world.Landing{Table: table, File: file, Format: "parquet"})
}

// undates takes a column's first_landed_at out of schema.json, as a writer that knows nothing of it leaves it.
func undates(ctx context.Context, node, table, column string) error {
	path := filepath.Join(inspect.TableDir(world.From(ctx).Node(node).Root(), table), "schema.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return verify.Fail("schema.json of "+table, "a document", err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return verify.Fail("schema.json of "+table, "a JSON object", err)
	}
	fields, _ := doc["fields"].([]any)
	for _, f := range fields {
		if f, ok := f.(map[string]any); ok && f["name"] == column {
			delete(f, "metadata")
		}
	}
	if text, err = json.Marshal(doc); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
