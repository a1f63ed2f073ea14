package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/stopper"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the reconcile operation: the schema that many runs share, and the files that a read takes.
func registerReconcile(s *Suite) {
	s.Step(`^(\w+)'s schema of "([^"]*)" has "([^"]*)" as (.+)$`, columnHasType)
	s.Step(`^(\w+)'s schema of "([^"]*)" has exactly the columns (.+) beside the store's own$`, schemaColumns)
	s.Step(`^(\w+)'s schema of "([^"]*)" comes to hold "([^"]*)" as (float64|int64)$`, schemaBecomes)
	s.Step(`^(\w+) reads in "([^"]*)" of "([^"]*)" the JSON of what was landed$`, readsJSON)
	s.Step(`^(\w+) lands, watched, as run "([^"]*)" into "([^"]*)" the rows (.+)$`, landsJSONWatched)
	s.Step(`^the landing made nothing below the runs of "([^"]*)"$`, madeNoRun)

	s.Step(`^a copy of a part of "([^"]*)" comes to lie (.+) on (\w+)$`, strayPart)
	s.Step(`^(\w+)'s list of "([^"]*)" is what the manifests name$`, listIsNamed)
	s.Step(`^(\w+)'s list of "([^"]*)" is sorted$`, listSorted)
	s.Step(`^a scan of "([^"]*)" on (\w+) gives the rows of the listed parts$`, scanGivesListed)
	s.Step(`^the part of (run "[^"]*"|the snapshot) of "([^"]*)" on (\w+) (is deleted|is cut in half|loses its last bytes|is emptied|has its values overwritten|gives way to that of run "[^"]*"|is mended)$`, partDamaged)
}

func columnHasType(ctx context.Context, node, table, column, typ string) error {
	fields, err := inspect.Schema(world.From(ctx).Node(node).Root(), table)
	what := fmt.Sprintf("%q in %s's schema of %q", column, node, table)
	if err != nil {
		return verify.Fail(what, typ, err)
	}
	for _, f := range fields {
		if f.Name == column {
			return verify.Equal(what, typ, f.Type)
		}
	}
	return verify.Fail(what, typ, "no such column")
}

func schemaColumns(ctx context.Context, node, table, columns string) error {
	fields, err := inspect.Schema(world.From(ctx).Node(node).Root(), table)
	what := fmt.Sprintf("the columns of %s's schema of %q", node, table)
	if err != nil {
		return verify.Fail(what, columns, err)
	}
	var got []string
	for _, f := range fields {
		if !strings.HasPrefix(f.Name, "_") {
			got = append(got, f.Name)
		}
	}
	return verify.SameSet(what, names(columns), got)
}

// schemaBecomes changes a column's type in schema.json as a pull does when another node's schema joins: no part changes.
func schemaBecomes(ctx context.Context, node, table, column, typ string) error {
	path := world.From(ctx).Node(node).TablePath(table, "schema.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc := map[string]any{}
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	fields, _ := doc["fields"].([]any)
	if inner, ok := doc["schema"].(map[string]any); ok {
		fields, _ = inner["fields"].([]any)
	}
	for _, f := range fields {
		field, _ := f.(map[string]any)
		if field["name"] == column {
			field["type"] = map[string]map[string]any{"float64": {"name": "floatingpoint", "precision": "DOUBLE"},
				"int64": {"name": "int", "bitWidth": 64, "isSigned": true}}[typ]
			if text, err = json.Marshal(doc); err != nil {
				return err
			}
			return os.WriteFile(path, text, 0o644)
		}
	}
	return fmt.Errorf("%s has no column %q", path, column)
}

// readsJSON compares what a json column reads as with the values that were landed, as JSON: text has become a JSON string.
func readsJSON(ctx context.Context, node, column, table string) error {
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	want := inspect.Grid{Columns: []string{"id", column}}
	for _, r := range w.Landed(table) {
		v := any(nil)
		if r[column] != nil {
			text, err := json.Marshal(r[column])
			if err != nil {
				return err
			}
			v = canonicalJSON(string(text))
		}
		want.Rows = append(want.Rows, []any{r["id"], v})
	}
	got = got.Select("id", column)
	for _, r := range got.Rows {
		switch v := r[1].(type) {
		case nil:
		case string:
			r[1] = canonicalJSON(v)
		default: // a value of JSON that is printed as itself
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			r[1] = canonicalJSON(string(text))
		}
	}
	return verify.SameRows(fmt.Sprintf("%s of %q as JSON, as %s reads it", column, table, node), want, got)
}

// canonicalJSON marks a JSON text, so that it equals no other text; what is no JSON stays as it is.
func canonicalJSON(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		return text
	}
	return "JSON " + inspect.Canonical(v)
}

// landsJSONWatched lands under the stopper's eye, which stops nothing: what it makes on the disk is kept for madeNoRun.
func landsJSONWatched(ctx context.Context, node, run, table, text string) error {
	rows, err := jsonRows(text)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	n := w.Node(node)
	args, _, err := w.LandArgs(n, world.Landing{Table: table, Run: run, Rows: rows})
	if err != nil {
		return err
	}
	creations, err := stopper.Calls("create")
	if err != nil {
		return err
	}
	t, err := stopper.New(append([]string{"mkdir", "mkdirat", "rename", "renameat", "renameat2"}, creations...), n.Project(), "*/tables/"+table+"/data/*")
	if err != nil {
		return err
	}
	task, err := w.Traced(ctx, n, sut.Land, args, t, 0, stopper.Count)
	if err != nil {
		return err
	}
	c, err := w.Finish(ctx, task)
	if err != nil {
		return err
	}
	<-t.Done()
	var made []string
	for _, call := range t.Calls() {
		if strings.HasPrefix(call.Name, "mkdir") || strings.HasPrefix(call.Name, "rename") || strings.Contains(call.Line, "O_CREAT") {
			made = append(made, call.Line)
		}
	}
	w.Values["reconcile.made"] = made
	if c.OK() {
		w.Remember(table, run, n, rows)
	}
	return nil
}

func madeNoRun(ctx context.Context, table string) error {
	made, watched := world.From(ctx).Values["reconcile.made"].([]string)
	if !watched {
		return errors.New("no landing was watched")
	}
	return verify.Nothing("what the landing made below the data of "+table, made)
}

// strayPart copies a part to where no manifest names it.
func strayPart(ctx context.Context, table, where, node string) error {
	n := world.From(ctx).Node(node)
	run, err := inspect.Run(n.Root(), table, "fresh", n.ID)
	if err != nil {
		return err
	}
	chain, err := inspect.Chain(n.Root(), table)
	if err != nil {
		return err
	}
	if len(chain) == 0 {
		return verify.Fail(node+" has a snapshot of "+table+" to lie beside", "a chain", "none")
	}
	dir, ok := map[string]string{"in a run's directory": run.Dir, "in a snapshot's directory": chain[0].Dir, "in a snapshot's indexes": filepath.Join(chain[0].Dir, "indexes"),
		"in a run's indexes": filepath.Join(run.Dir, "indexes"), "among the runs": filepath.Dir(run.Dir), "under a run id of its own": n.TablePath(table, "data/runs/stray/"+n.ID)}[where]
	if !ok {
		return fmt.Errorf("nobody knows where %q is", where)
	}
	body, err := os.ReadFile(run.Parts[0].Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "part-00077.parquet"), body, 0o644)
}

// listed asks for the list of files; absolute gives the same as paths of the disk.
func listed(ctx context.Context, node, table string, extra ...string) (list, absolute []string, err error) {
	w := world.From(ctx)
	n := w.Node(node)
	c, err := w.Answer(ctx, n, sut.Files, sut.A(append([]string{"table", table}, extra...)...))
	if err != nil {
		return nil, nil, err
	}
	var report struct {
		Files *[]string `json:"files"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil || report.Files == nil {
		return nil, nil, verify.Fail(node+"'s list of the files of "+table, `{"files": […]}`, c.Stdout)
	}
	for _, f := range *report.Files {
		absolute = append(absolute, n.Path(f))
	}
	return *report.Files, absolute, nil
}

// named lists the parts that a reader's resolution reaches: the pointer's snapshot and the runs its chain has not folded.
func named(root, table string) ([]string, error) {
	chain, err := inspect.Chain(root, table)
	if err != nil {
		return nil, err
	}
	var out []string
	folded := map[string]bool{}
	for i, s := range chain {
		for _, r := range s.IncludesRuns {
			folded[r] = true
		}
		for _, p := range s.Parts {
			if i == 0 {
				out = append(out, p.Path)
			}
		}
	}
	runs, err := inspect.Runs(root, table)
	for _, r := range runs {
		for _, p := range r.Parts {
			if !folded[r.Key()] {
				out = append(out, p.Path)
			}
		}
	}
	return out, err
}

func listIsNamed(ctx context.Context, node, table string) error {
	_, got, err := listed(ctx, node, table)
	if err != nil {
		return err
	}
	want, err := named(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return err
	}
	return verify.SameSet(fmt.Sprintf("%s's list of the files of %q", node, table), want, got)
}

func listSorted(ctx context.Context, node, table string) error {
	list, _, err := listed(ctx, node, table)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s's list of the files of %q is sorted by path", node, table)
	if len(list) < 2 {
		return fmt.Errorf("a list of %d files shows no order", len(list))
	}
	return verify.That(slices.IsSorted(list), what, "ascending paths", list)
}

func scanGivesListed(ctx context.Context, table, node string) error {
	_, paths, err := listed(ctx, node, table)
	if err != nil {
		return err
	}
	want, err := inspect.ParquetRows(paths...)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Scan, sut.A("table", table))
	if err != nil {
		return err
	}
	got, err := inspect.ParseGrid(c.Stdout)
	if err != nil {
		return verify.Fail("the scan of "+table, `{"columns": […], "rows": [[…]]}`, err)
	}
	return verify.SameRows(fmt.Sprintf("what a scan of %q on %s gives", table, node), want, got)
}

// partDamaged spoils the first part of a run or of the pointer's snapshot, or gives it back what it held. <the part> is its
// path from the run or snapshot on.
func partDamaged(ctx context.Context, whose, table, node, how string) error {
	w := world.From(ctx)
	n := w.Node(node)
	key := "reconcile.part." + whose
	if how == "is mended" {
		kept, ok := w.Values[key].(savedPart)
		if !ok {
			return fmt.Errorf("the part of %s is as it was", whose)
		}
		return os.WriteFile(kept.path, kept.body, 0o644)
	}
	var parts []inspect.Part
	if run, ok := strings.CutPrefix(whose, "run "); ok {
		doc, err := inspect.Run(n.Root(), table, strings.Trim(run, `"`), n.ID)
		if err != nil {
			return err
		}
		parts = doc.Parts
	} else if chain, err := inspect.Chain(n.Root(), table); err != nil {
		return err
	} else if len(chain) == 0 {
		return verify.Fail(n.Name+" has a snapshot of "+table, "a chain", "none")
	} else {
		parts = chain[0].Parts
	}
	path := parts[0].Path
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w.Values[key] = savedPart{path, slices.Clone(body)}
	rel, err := filepath.Rel(n.TablePath(table, "data"), path)
	if err != nil {
		return err
	}
	w.Values["name:the part"] = filepath.ToSlash(rel)
	if other, ok := strings.CutPrefix(how, "gives way to that of run "); ok {
		doc, err := inspect.Run(n.Root(), table, strings.Trim(other, `"`), n.ID)
		if err != nil {
			return err
		}
		if body, err = os.ReadFile(doc.Parts[0].Path); err != nil {
			return err
		}
	}
	switch how {
	case "is deleted":
		return os.Remove(path)
	case "is cut in half":
		body = body[:len(body)/2]
	case "loses its last bytes":
		body = body[:len(body)-9]
	case "is emptied":
		body = nil
	case "has its values overwritten":
		chunks, err := inspect.ParquetChunks(path)
		if err != nil {
			return err
		}
		for _, c := range chunks {
			for i := c.From; i < c.To; i++ {
				body[i] = 0xff
			}
		}
	}
	return os.WriteFile(path, body, 0o644)
}

type savedPart struct {
	path string
	body []byte
}
