package historytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/land"
	"contextful/ref/manifest"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/query"
	"contextful/ref/store"
)

var bg = context.Background()

// begin is when histories begin.
const begin = stamp(1767225600_000000000)

// world is a store on two machines beside the model of it: here, where alpha and beta work on one disk, and there, where gamma is
// alone. They know each other's runs from a sync on. Methods return what differs as an error.
type world struct {
	dir         string
	now         stamp
	here, there *site
	bucket      *bucket.Memory
	landed      int
	log         []string
}

// site is a machine: its store root, and the model of what lies there.
type site struct {
	project *decl.Project
	tables  []*table
}

func newWorld(dir string, shapes []*shape) (*world, error) {
	w := &world{dir: dir, now: begin, bucket: bucket.NewMemory()}
	text := "[project]\nname = \"p\"\n"
	for _, s := range shapes {
		text += "[[pipeline.tables]]\nname = \"" + s.name + "\"\n" + s.toml
	}
	for name, at := range map[string]**site{"here": &w.here, "there": &w.there} {
		project, err := decl.ParseProject(filepath.Join(dir, name, decl.FileName), []byte(text))
		if err != nil {
			return nil, err
		}
		*at = &site{project: project}
		for _, s := range shapes {
			(*at).tables = append((*at).tables, &table{shape: s})
		}
		if err := os.MkdirAll(project.StoreRoot(), 0o755); err != nil {
			return nil, err
		}
	}
	_, _, err := store.Init(bg, w.options("alpha"))
	return w, err
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.now.String()+" "+fmt.Sprintf(format, args...))
}

// site is where a node works.
func (w *world) site(node string) *site {
	if node == "gamma" {
		return w.there
	}
	return w.here
}

func (w *world) options(node string) store.Options {
	project := w.site(node).project
	return store.Options{Project: project, Root: project.StoreRoot(), Node: node, Clock: clock.Fixed{Instant: time.Unix(0, int64(w.now)).UTC()}}
}

func (w *world) store(node string) (*store.Store, error) { return store.Open(bg, w.options(node)) }

func (w *world) engine() duck.Options { return duck.Options{TempDir: w.dir, Threads: 1} }

// sync brings all that either machine has to the other.
func (w *world) sync() error {
	w.note("sync")
	for _, node := range []string{"alpha", "beta", "gamma", "alpha"} {
		st, err := w.store(node)
		if err != nil {
			return err
		}
		if _, ok := st.Identity(); ok {
			if _, err := push.Run(bg, st, push.Options{Bucket: w.bucket, Pause: noPause}); err != nil {
				return fmt.Errorf("a push of %s: %w", node, err)
			}
		}
		if _, err := pull.Run(bg, st, pull.Options{Bucket: w.bucket, Pause: noPause}); err != nil {
			return fmt.Errorf("a pull of %s: %w", node, err)
		}
		if node == "gamma" {
			if _, err := push.Run(bg, st, push.Options{Bucket: w.bucket, Pause: noPause}); err != nil {
				return fmt.Errorf("a push of %s: %w", node, err)
			}
		}
	}
	for i, t := range w.here.tables {
		o := w.there.tables[i]
		for _, r := range o.runs {
			if !slices.Contains(t.runs, r) {
				t.runs = append(t.runs, r)
			}
		}
		o.runs, o.folds, o.retired = slices.Clone(t.runs), slices.Clone(t.folds), t.retired
	}
	return nil
}

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// land commits a batch and gives the run that the model now has; nil where an empty batch was refused.
func (w *world) land(t *table, node string, batch []row, replacement, complete bool) error {
	w.landed++
	id := fmt.Sprintf("r%02d", (w.landed*7)%100) // in no order of time: run ids decide between equal instants
	var input bytes.Buffer
	for _, r := range batch {
		line, err := json.Marshal(jsonOf(r))
		if err != nil {
			return err
		}
		input.Write(append(line, '\n'))
	}
	w.note("%s lands %s into %s (replacement %v, complete %v):\n%s", node, id, t.name, replacement, complete, input.String())
	st, err := w.store(node)
	if err != nil {
		return err
	}
	o := land.Options{Table: t.name, Input: bytes.NewReader(input.Bytes()), RunID: id, SiteID: "site", Replace: replacement, Complete: complete, TempDir: w.dir}
	keep := t.written(batch, replacement)
	report, err := land.Run(bg, st, o)
	if len(batch) == 0 && !(complete && (replacement || t.replace)) {
		if !errors.Is(err, fault.StoreInputEmpty) {
			return fmt.Errorf("a batch without a row, of which nobody says that it is complete: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("the landing of %s: %w", id, err)
	}
	r := &run{id: id, node: node, replacement: replacement || t.replace}
	for i, cells := range batch {
		if keep[i] {
			r.rows = append(r.rows, landed{cells, r, i})
		}
	}
	if report.Rows != int64(len(r.rows)) || report.Replayed {
		return fmt.Errorf("%s says that it wrote %d rows (replayed %v), and %d are new", id, report.Rows, report.Replayed, len(r.rows))
	}
	if err := w.committed(st, t, r); err != nil {
		return err
	}
	t.runs = append(t.runs, r)
	o.Input = bytes.NewReader(input.Bytes())
	again, err := land.Run(bg, st, o)
	if err != nil || !again.Replayed || again.Rows != report.Rows {
		return fmt.Errorf("%s landed again: %+v, %w", id, again, err)
	}
	return nil
}

// committed reads what the landing was given: its instant and its number.
func (w *world) committed(st *store.Store, t *table, r *run) error {
	tab, err := st.Table(t.name)
	if err != nil {
		return err
	}
	m, err := tab.ReadRun(r.id, r.node)
	if err != nil || m == nil || m.CommitSeq == nil {
		return fmt.Errorf("the manifest of %s: %v, %w", r.id, m, err)
	}
	r.at, r.seq = stamp(m.CommittedAt.UnixNano()), *m.CommitSeq
	before := r.at
	if len(t.runs) > 0 {
		before = t.runs[0].at
	}
	last := int64(0)
	for _, o := range t.runs {
		before, last = max(before, o.at), max(last, o.seq)
	}
	if r.at < w.now || r.at < before || r.seq <= last {
		return fmt.Errorf("%s was committed at %s with number %d, after %s and %d", r.id, r.at, r.seq, before, last)
	}
	return nil
}

func (w *world) fold(t *table, node string) error {
	w.note("%s folds %s", node, t.name)
	st, err := w.store(node)
	if err != nil {
		return err
	}
	report, err := fold.Run(bg, st, fold.Options{Table: t.name, Engine: w.engine()})
	if err != nil {
		return fmt.Errorf("the fold of %s: %w", t.name, err)
	}
	for _, at := range t.folds {
		t.retired = t.retired || at+stamp(t.retain) <= w.now
	}
	if report.SnapshotID == "" {
		return nil
	}
	tab, err := st.Table(t.name)
	if err != nil {
		return err
	}
	m, err := tab.ReadSnapshot(report.SnapshotID)
	if err != nil || m == nil {
		return fmt.Errorf("the snapshot %s: %v, %w", report.SnapshotID, m, err)
	}
	t.folds = append(t.folds, stamp(m.CreatedAt.UnixNano()))
	return nil
}

// check compares a read of all tables that have rows under one bound, as a node sees them.
func (w *world) check(node string, b bound) error {
	var there []*table
	for _, t := range w.site(node).tables {
		if len(t.runs) > 0 {
			there = append(there, t)
		}
	}
	if len(there) == 0 {
		return nil
	}
	b = b.of(there)
	var statement []string
	for _, t := range there {
		statement = append(statement, fmt.Sprintf(`SELECT '%s' AS "table of the row", * FROM "%s"`, t.name, t.name))
	}
	have, err := w.ask(node, b, strings.Join(statement, " UNION ALL BY NAME "))
	if errors.Is(err, fault.StoreAsOfUnretained) && slices.ContainsFunc(there, func(t *table) bool { return t.mayRefuse(b) }) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	for _, t := range there {
		if want := t.read(b); !slices.Equal(want, have[t.name]) {
			return fmt.Errorf("%s of %s on %s\n have %s\n want %s", b, t.name, node, strings.Join(have[t.name], "\n      "), strings.Join(want, "\n      "))
		}
	}
	return nil
}

// scan compares `context scan` of one table.
func (w *world) scan(t *table, b bound) error {
	b = b.of([]*table{t})
	st, err := w.store("alpha")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := query.Scan(bg, st, t.name, query.Options{Bounds: b.real(), Out: &out, Engine: w.engine()}); err != nil {
		if errors.Is(err, fault.StoreAsOfUnretained) && t.mayRefuse(b) {
			return nil
		}
		return fmt.Errorf("a scan of %s: %w", t.name, err)
	}
	have, err := answer(out.Bytes())
	if err != nil {
		return err
	}
	if want := t.read(b); !slices.Equal(want, have[""]) {
		return fmt.Errorf("a scan (%s) of %s\n have %s\n want %s", b, t.name, strings.Join(have[""], "\n      "), strings.Join(want, "\n      "))
	}
	return nil
}

// of leaves out what bounds none of the tables: that is refused.
func (b bound) of(tables []*table) bound {
	if !slices.ContainsFunc(tables, func(t *table) bool { return t.from != "" }) {
		b.valid = nil
	}
	if !slices.ContainsFunc(tables, func(t *table) bool { return t.available != "" }) {
		b.available, b.first = nil, false
	}
	return b
}

func (b bound) real() query.Bounds {
	at := func(s *stamp) *manifest.Instant {
		if s == nil {
			return nil
		}
		i := manifest.At(time.Unix(0, int64(*s)))
		return &i
	}
	return query.Bounds{AsOf: at(b.asOf), ValidAsOf: at(b.valid), AvailableAsOf: at(b.available), First: b.first}
}

func (w *world) ask(node string, b bound, sql string) (map[string][]string, error) {
	st, err := w.store(node)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := query.Run(bg, st, query.Options{SQL: sql, Bounds: b.real(), Out: &out, Engine: w.engine()}); err != nil {
		return nil, err
	}
	return answer(out.Bytes())
}

// answer turns printed rows into the model's texts, by the table they are of.
func answer(text []byte) (map[string][]string, error) {
	var doc struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	out := map[string][]string{}
	for _, cells := range doc.Rows {
		r, of := row{}, ""
		for i, name := range doc.Columns {
			switch v := cells[i].(type) {
			case json.Number:
				n, err := v.Float64()
				if err != nil {
					return nil, err
				}
				r[name] = n
			case string:
				r[name] = v
				if instants[name] {
					at, err := time.Parse(time.RFC3339Nano, v)
					if err != nil {
						return nil, err
					}
					r[name] = stamp(at.UnixNano())
				}
			}
		}
		if name, ok := r["table of the row"].(string); ok {
			of = name
		}
		maps.DeleteFunc(r, func(name string, _ any) bool { return name[0] == '_' || name == "table of the row" })
		out[of] = append(out[of], r.text())
	}
	for _, rows := range out {
		slices.Sort(rows)
	}
	return out, nil
}

func jsonOf(r row) map[string]any {
	out := map[string]any{}
	for name, v := range r {
		if at, ok := v.(stamp); ok {
			v = at.String()
		}
		out[name] = v
	}
	return out
}
