package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of the lay-out operation: what lies where, names, digests, replays. Those that change a store's documents are in
// layout_documents.go.
func registerLayout(s *Suite) {
	registerLayoutDocuments(s)

	s.Step(`^a run and a snapshot of "([^"]*)" lie on (\w+) as Parquet parts under a JSON manifest$`, runAndSnapshotLie)
	s.Step(`^(\w+) has exactly one pointer for "([^"]*)"$`, onePointer)
	s.Step(`^(\w+)'s store root holds the SQLite files "([^"]*)" and "([^"]*)"$`, sqliteFiles)
	s.Step(`^(\w+)'s catalogs are deleted$`, catalogsDeleted)
	s.Step(`^(\w+) (lists|scans) "([^"]*)"$`, listsOrScans)
	s.Step(`^(\w+) reads "([^"]*)" as of an instant before it all$`, readsBeforeAll)
	s.Step(`^(\w+)'s list of "([^"]*)" has the parts of run "([^"]*)" and (none )?of run "([^"]*)"$`, listHas)

	s.Step(`^(\w+)'s snapshot of "([^"]*)" is named "snapshot-" and 20 digits$`, snapshotForm)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" is named by the instant "([^"]*)"$`, snapshotInstant)
	s.Step(`^(\w+) folds "([^"]*)" under its lease$`, foldsLeased)
	s.Step(`^(\w+)'s pointer for "([^"]*)" names the snapshot that this fold made$`, pointerNamesNew)
	s.Step(`^(\w+)'s pointer for "([^"]*)" has (no fence|the fence of the lease)$`, pointerFence)
	s.Step(`^(\w+) reads of "([^"]*)" exactly the rows landed, (without a bound|as of the far future|as of the moment before the pointer's)$`, readsBounded)
	s.Step(`^(\w+) reads of "([^"]*)" as of the (first|second) snapshot:$`, readsAsOfSnapshot)

	s.Step(`^runs "([^"]*)" and "([^"]*)" of "([^"]*)" on (\w+) have (one digest|different digests)$`, runDigests)
	s.Step(`^run "([^"]*)" has another digest in "([^"]*)" than in "([^"]*)" on (\w+)$`, tableDigests)
	s.Step(`^(\w+) lands as run "([^"]*)" into "([^"]*)", with (no types|\w+ as .+?), the rows (.+)$`, landsJSON)
	s.Step(`^(\w+) lands run "([^"]*)" of "([^"]*)" again$`, landsAgain)
	s.Step(`^(\w+) lands the rows of run "([^"]*)" of "([^"]*)" again as run "([^"]*)", (the same otherwise|for another site|three days later)$`, landsElsewhere)
	s.Step(`^the report says (\d+) rows, (not replayed|replayed)$`, reportSays)

	s.Step(`^(\w+) (lands|lists) a table named "([^"]*)"$`, namesTable)
	s.Step(`^(\w+) lands a row of "([^"]*)" as run "([^"]*)"$`, namesRun)
	s.Step(`^(\w+)'s machine holds what it held$`, machineSame)
}

func runAndSnapshotLie(ctx context.Context, table, node string) error {
	root := world.From(ctx).Node(node).Root()
	runs, err := inspect.Runs(root, table)
	if err != nil {
		return verify.Fail("the runs of "+table, "manifests in JSON", err)
	}
	what := "a run of " + table + " lies as Parquet under a manifest"
	if len(runs) == 0 || len(runs[0].Parts) == 0 {
		return verify.Fail(what, "data/runs/<run>/<node>/_manifest.json with parts", "none")
	}
	for _, r := range runs {
		if err := verify.Nothing(what, inspect.Complete(r.Parts)); err != nil {
			return err
		}
	}
	chain, err := inspect.Chain(root, table)
	what = "a snapshot of " + table + " lies as Parquet under a manifest"
	if err != nil || len(chain) == 0 || len(chain[0].Parts) == 0 {
		return verify.Fail(what, "a pointer to data/snapshots/<id>/_manifest.json with parts", fmt.Sprintf("%d snapshots, %v", len(chain), err))
	}
	return verify.Nothing(what, inspect.Complete(chain[0].Parts))
}

func onePointer(ctx context.Context, node, table string) error {
	tree, err := world.From(ctx).Node(node).Tree()
	if err != nil {
		return err
	}
	dir := "tables/" + table + "/"
	found := tree.Only(func(p string) bool { return strings.HasPrefix(p, dir) && strings.HasSuffix(p, "_pointer.json") }).Paths()
	return verify.SameSet(node+" has exactly one pointer for "+table, []string{dir + "_pointer.json"}, found)
}

func sqliteFiles(ctx context.Context, node, one, two string) error {
	for _, name := range []string{one, two} {
		text, err := os.ReadFile(world.From(ctx).Node(node).Path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		what := name + " in " + node + "'s store root"
		if err := verify.That(bytes.HasPrefix(text, []byte("SQLite format 3\x00")), what, "a SQLite file", fmt.Sprintf("%d bytes, %v", len(text), err)); err != nil {
			return err
		}
	}
	return nil
}

func catalogsDeleted(ctx context.Context, node string) error {
	found, err := filepath.Glob(world.From(ctx).Node(node).Path("*.sqlite*"))
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

func listsOrScans(ctx context.Context, node, how, table string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), map[string]sut.Verb{"lists": sut.Files, "scans": sut.Scan}[how], sut.A("table", table))
	return err
}

func readsBeforeAll(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.Query, sut.A("sql", `SELECT * FROM "`+table+`"`, "as_of", "2026-01-01T00:00:00Z"))
	return err
}

func listHas(ctx context.Context, node, table, in, none, other string) error {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Files, sut.A("table", table))
	if err != nil {
		return err
	}
	what := node + "'s list of the files of " + table
	var report struct {
		Files []string `json:"files"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil {
		return verify.Fail(what, `{"files": […]}`, err)
	}
	has := func(run string) bool { return strings.Contains(strings.Join(report.Files, "\n"), "/runs/"+run+"/") }
	if err := verify.That(has(in), what, "parts of run "+in, report.Files); err != nil {
		return err
	}
	return verify.That(has(other) == (none == ""), what, none+"parts of run "+other, report.Files)
}

func head(ctx context.Context, node, table string) (string, error) {
	p, err := inspect.Pointer(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return "", verify.Fail(node+"'s pointer for "+table, "a _pointer.json that names a snapshot", err)
	}
	return p.SnapshotID, nil
}

func snapshotForm(ctx context.Context, node, table string) error {
	id, err := head(ctx, node, table)
	if err != nil {
		return err
	}
	return verify.That(inspect.SnapshotForm.MatchString(id), "the id of "+node+"'s snapshot of "+table, "snapshot- and 20 digits", id)
}

func snapshotID(t time.Time) string { return fmt.Sprintf("snapshot-%020d", t.UnixNano()) }

func snapshotInstant(ctx context.Context, node, table, instant string) error {
	t, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil {
		return err
	}
	id, err := head(ctx, node, table)
	if err != nil {
		return err
	}
	return verify.Equal("the id of "+node+"'s snapshot of "+table, snapshotID(t), id)
}

func foldsLeased(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.SyncCompact, sut.A("table", table))
	return err
}

// pointerNamesNew finds the new snapshot on disk: the one that was not there when the fold was asked for.
func pointerNamesNew(ctx context.Context, node, table string) error {
	n := world.From(ctx).Node(node)
	all, err := inspect.Snapshots(n.Root(), table)
	if err != nil {
		return err
	}
	var made []string
	for _, id := range all {
		if _, old := n.Before()["tables/"+table+"/data/snapshots/"+id+"/_manifest.json"]; !old {
			made = append(made, id)
		}
	}
	id, err := head(ctx, node, table)
	if err != nil {
		return err
	}
	return verify.SameSet(node+"'s pointer for "+table+" names the snapshot just made", made, []string{id})
}

func pointerFence(ctx context.Context, node, table, which string) error {
	w := world.From(ctx)
	p, err := inspect.Pointer(w.Node(node).Root(), table)
	if err != nil {
		return verify.Fail(node+"'s pointer for "+table, "a _pointer.json", err)
	}
	want, got := "null", "null"
	if p.Fence != nil {
		got = fmt.Sprint(*p.Fence)
	}
	if which != "no fence" {
		l, err := w.BucketLease(ctx, table)
		if err != nil {
			return err
		}
		want = fmt.Sprint(l.Fence)
	}
	return verify.Equal("the fence of "+node+"'s pointer for "+table, want, got)
}

func readsBounded(ctx context.Context, node, table, bound string) error {
	w := world.From(ctx)
	asOf := map[string]string{"as of the far future": "2199-01-01T00:00:00Z"}[bound]
	if bound == "as of the moment before the pointer's" {
		chain, err := inspect.Chain(w.Node(node).Root(), table)
		if err != nil {
			return err
		}
		if len(chain) == 0 {
			return verify.Fail(node+" has a snapshot of "+table+" to bound a read by", "a chain", "none")
		}
		asOf = sut.Instant(chain[0].CreatedAt.Add(-1))
	}
	got, err := w.Read(ctx, w.Node(node), table, "as_of", asOf)
	if err != nil {
		return err
	}
	return verify.SameRows(fmt.Sprintf("what %s reads of %q %s", node, table, bound), w.Expected(table), got)
}

func readsAsOfSnapshot(ctx context.Context, node, table, which string, t *godog.Table) error {
	chain, err := inspect.Chain(world.From(ctx).Node(node).Root(), table)
	at := len(chain) - map[string]int{"first": 1, "second": 2}[which]
	if err != nil {
		return err
	}
	if at < 0 || at >= len(chain) {
		return verify.Fail(fmt.Sprintf("%s has a %s snapshot of %s", node, which, table), "a chain that long", fmt.Sprintf("%d snapshots", len(chain)))
	}
	return readsRowsAsOf(ctx, node, table, sut.Instant(chain[at].CreatedAt), t)
}

func digest(ctx context.Context, node, table, run string) (string, error) {
	n := world.From(ctx).Node(node)
	doc, err := inspect.Run(n.Root(), table, run, n.ID)
	if err != nil {
		return "", verify.Fail("the manifest of run "+run+" of "+table, "a committed run", err)
	}
	return doc.BatchDigest, verify.That(digestForm.MatchString(doc.BatchDigest), "the batch_digest of run "+run+" of "+table, "a SHA-256 in lower-case hex", doc.BatchDigest)
}

func runDigests(ctx context.Context, one, two, table, node, how string) error {
	a, err := digest(ctx, node, table, one)
	if err != nil {
		return err
	}
	b, err := digest(ctx, node, table, two)
	if err != nil {
		return err
	}
	return verify.That((a == b) == (how == "one digest"), fmt.Sprintf("the digests of runs %s and %s of %s", one, two, table), how, a+" and "+b)
}

func tableDigests(ctx context.Context, run, one, two, node string) error {
	a, err := digest(ctx, node, one, run)
	if err != nil {
		return err
	}
	b, err := digest(ctx, node, two, run)
	if err != nil {
		return err
	}
	return verify.That(a != b, fmt.Sprintf("the digests of run %s in %s and in %s", run, one, two), "two", a)
}

// jsonRows reads JSON objects that follow each other.
func jsonRows(text string) ([]world.Row, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out []world.Row
	for {
		var r world.Row
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
}

func landsJSON(ctx context.Context, node, run, table, types, text string) error {
	rows, err := jsonRows(text)
	if err != nil {
		return err
	}
	l := world.Landing{Table: table, Run: run, Rows: rows}
	if column, typ, ok := strings.Cut(types, " as "); ok {
		l.Types = []string{column + "=" + typ}
	}
	return land(ctx, world.From(ctx), node, l)
}

func landedRows(w *world.World, node, table, run string) ([]world.Row, error) {
	rows, ok := w.LandedAs(table, run, w.Node(node))
	if !ok {
		return nil, fmt.Errorf("%s never landed run %s of %s", node, run, table)
	}
	return rows, nil
}

func landsAgain(ctx context.Context, node, run, table string) error {
	w := world.From(ctx)
	rows, err := landedRows(w, node, table, run)
	if err != nil {
		return err
	}
	return land(ctx, w, node, world.Landing{Table: table, Run: run, Rows: rows})
}

func landsElsewhere(ctx context.Context, node, run, table, other, how string) error {
	w := world.From(ctx)
	rows, err := landedRows(w, node, table, run)
	if err != nil {
		return err
	}
	l := world.Landing{Table: table, Run: other, Rows: rows}
	switch how {
	case "for another site":
		l.Site = "annex"
	case "three days later":
		if err := w.Advance(72 * time.Hour); err != nil {
			return err
		}
	}
	return land(ctx, w, node, l)
}

func reportSays(ctx context.Context, rows int, how string) error {
	c, err := outcome(ctx, "landing", "")
	if err != nil {
		return err
	}
	if err := verify.Succeeded(c.Result); err != nil {
		return err
	}
	var report struct {
		Rows     *int  `json:"rows"`
		Replayed *bool `json:"replayed"`
	}
	want := fmt.Sprintf(`{"rows": %d, "replayed": %t}`, rows, how == "replayed")
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil || report.Rows == nil || report.Replayed == nil {
		return verify.Fail("what the landing reports", want, c.Stdout)
	}
	return verify.Equal("what the landing reports", want, fmt.Sprintf(`{"rows": %d, "replayed": %t}`, *report.Rows, *report.Replayed))
}

// machine lists everything of a node that a name could have made: its project, and what lies beside it.
func machine(n *world.Node) ([]string, error) {
	dir := filepath.Dir(n.Project())
	all, err := inspect.Entries(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all {
		rel := strings.TrimPrefix(e, filepath.Base(dir)+"/")
		if !strings.HasPrefix(rel, "home/") && !strings.HasPrefix(rel, "state/") && !strings.HasPrefix(rel, "input/") && inspect.Meaningful(strings.TrimSuffix(e, "/")) {
			out = append(out, e)
		}
	}
	return out, nil
}

func rememberMachine(ctx context.Context, n *world.Node) error {
	w := world.From(ctx)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	held, err := machine(n)
	w.Values["layout.machine."+n.Name] = held
	return err
}

// namesTable asks for a table that nobody declared: the name is judged before anything is looked for.
func namesTable(ctx context.Context, node, how, name string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := rememberMachine(ctx, n); err != nil {
		return err
	}
	if how == "lists" {
		_, err := w.Do(ctx, n, sut.Files, sut.A("table", name))
		return err
	}
	file, err := n.InputFile("named.jsonl", []byte(`{"id": 1}`+"\n"))
	if err != nil {
		return err
	}
	_, err = w.Do(ctx, n, sut.Land, sut.A("table", name, "rows", file, "run", "named", "site", "lab"))
	return err
}

func namesRun(ctx context.Context, node, table, run string) error {
	w := world.From(ctx)
	n := w.Node(node)
	rows := fresh(w, table, 1, 1)
	args, _, err := w.LandArgs(n, world.Landing{Table: table, Run: "named", Rows: rows})
	if err != nil {
		return err
	}
	if err := rememberMachine(ctx, n); err != nil {
		return err
	}
	args["run"] = []string{run}
	c, err := w.Do(ctx, n, sut.Land, args)
	if err == nil && c.OK() {
		w.Remember(table, run, n, rows)
	}
	return err
}

func machineSame(ctx context.Context, node string) error {
	w := world.From(ctx)
	held, ok := w.Values["layout.machine."+node].([]string)
	if !ok {
		return fmt.Errorf("no step has remembered what %s's machine held", node)
	}
	now, err := machine(w.Node(node))
	if err != nil {
		return err
	}
	return verify.SameSet(node+"'s machine holds what it held", held, now)
}
