package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextful/harness/stopper"
)

// tour holds the states that copies are made of:
//
//	first    alpha with the runs index-0 to index-2, folded
//	landed   first, and the runs index-3 and updates on top
//	folded   landed, folded again
type tour struct {
	bin, dir, bucket string
	files            []string
	rows             int
	first            *node
	landed           *node
	folded           *node
	old, all         string   // what first and landed read as
	whole            []string // every state of whole runs between them, both included
	copies           int
}

func (t *tour) where() string {
	if t.bucket == "file" {
		return "a directory"
	}
	return t.bucket
}

func (t *tour) land(ctx context.Context, n *node, i int) error {
	_, err := n.do(ctx, t.landing(i)...)
	return err
}

func (t *tour) landing(i int) []string {
	run := fmt.Sprintf("index-%d", i)
	if i == 4 {
		run = "updates"
	}
	return []string{"context", "land", table, "--rows", t.files[i], "--run-id", run, "--site-id", "here"}
}

func (t *tour) states(ctx context.Context) (err error) {
	t.first = &node{t: t, id: "alpha", dir: filepath.Join(t.dir, "first")}
	if err := os.MkdirAll(t.first.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.first.dir, "contextful.toml"), []byte(declaration), 0o644); err != nil {
		return err
	}
	if _, err := t.first.do(ctx, "init", project); err != nil {
		return err
	}
	for i := range 3 {
		if err := t.land(ctx, t.first, i); err != nil {
			return err
		}
	}
	if _, err := t.first.do(ctx, "context", "compact", table); err != nil {
		return err
	}
	if t.old, err = t.first.read(ctx); err != nil {
		return err
	}
	t.whole = []string{t.old}
	for _, more := range [][]int{{3}, {4}, {3, 4}} {
		n, err := t.copyOf(t.first, fmt.Sprintf("whole-%d", len(more)*10+more[0]))
		if err != nil {
			return err
		}
		for _, i := range more {
			if err := t.land(ctx, n, i); err != nil {
				return err
			}
		}
		if t.all, err = n.read(ctx); err != nil {
			return err
		}
		t.whole = append(t.whole, t.all)
		t.landed = n
	}
	if t.folded, err = t.copyOf(t.landed, "folded"); err != nil {
		return err
	}
	_, err = t.folded.do(ctx, "context", "compact", table)
	return err
}

func (t *tour) copyOf(n *node, name string) (*node, error) {
	dir := filepath.Join(t.dir, name)
	return &node{t: t, id: n.id, dir: dir}, os.CopyFS(dir, os.DirFS(n.dir))
}

// A trial is one copy of the store with a bucket of its own.
type trial struct {
	t    *tour
	dir  string
	sync string // its config.toml
}

// trial makes a directory for copies, and a bucket: a directory in it, or a prefix of its own in the S3 bucket.
func (t *tour) trial() (*trial, error) {
	t.copies++
	tr := &trial{t: t, dir: filepath.Join(t.dir, fmt.Sprintf("copy-%d", t.copies))}
	bucket := filepath.Join(tr.dir, "bucket")
	if err := os.MkdirAll(bucket, 0o755); err != nil {
		return nil, err
	}
	if t.bucket == "file" {
		tr.sync = fmt.Sprintf("[sync]\nendpoint = \"file://%s\"\nprefix = \"team\"\n", bucket)
	} else {
		tr.sync = fmt.Sprintf("[sync]\nendpoint = %q\nbucket = \"tour\"\nprefix = \"kill/%s/%d\"\naccess_key_id = \"env://TOUR_ACCESS_KEY\"\nsecret_access_key = \"env://TOUR_SECRET_KEY\"\n",
			t.bucket, filepath.Base(t.dir), t.copies)
	}
	return tr, nil
}

// node copies a state into the trial, or, where from is nil, makes a clone that has not pulled yet.
func (tr *trial) node(name, id string, from *node) (*node, error) {
	n := &node{t: tr.t, id: id, dir: filepath.Join(tr.dir, name)}
	root := filepath.Join(n.dir, ".contextful", "context", project)
	if from != nil {
		if err := os.CopyFS(n.dir, os.DirFS(from.dir)); err != nil {
			return nil, err
		}
	} else if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(n.dir, "contextful.toml"), []byte(declaration), 0o644); err != nil {
		return nil, err
	}
	return n, os.WriteFile(filepath.Join(root, "config.toml"), []byte(tr.sync), 0o644)
}

// A verb is what is killed: who does it, prepared how, and what the nodes may read right after.
type verb struct {
	name  string
	local bool // no bucket is involved
	argv  func(*tour) []string
	ready func(context.Context, *trial) (*node, error) // gives the node that is killed
	// reader gives the node whose answer counts right after the kill; nil is the killed one itself.
	reader func(context.Context, *trial) (*node, error)
	may    func(*tour) []string // answers that are whole
	was    func(*tour) string   // the answer before
	folds  bool                 // changes no answer: whether it has happened shows in the number of snapshots alone
}

func words(argv ...string) func(*tour) []string { return func(*tour) []string { return argv } }

func old(t *tour) string     { return t.old }
func all(t *tour) string     { return t.all }
func only(t *tour) []string  { return []string{t.all} }
func whole(t *tour) []string { return t.whole }

func verbs() []verb {
	// pushed fills the trial's bucket from a state.
	pushed := func(ctx context.Context, tr *trial, name string, from *node) (*node, error) {
		n, err := tr.node(name, "alpha", from)
		if err != nil {
			return nil, err
		}
		_, err = n.do(ctx, "sync", "push")
		return n, err
	}
	clone := func(ctx context.Context, tr *trial) (*node, error) {
		n, err := tr.node("reader", "beta", nil)
		if err != nil {
			return nil, err
		}
		_, err = n.do(ctx, "sync", "pull")
		return n, err
	}
	return []verb{
		{name: "land", local: true, argv: func(t *tour) []string { return t.landing(3) }, was: old, may: func(t *tour) []string { return t.whole[:2] },
			ready: func(_ context.Context, tr *trial) (*node, error) { return tr.node("alpha", "alpha", tr.t.first) }},
		{name: "compact", local: true, argv: words("context", "compact", table), was: all, may: only, folds: true,
			ready: func(_ context.Context, tr *trial) (*node, error) { return tr.node("alpha", "alpha", tr.t.landed) }},
		{name: "push", argv: words("sync", "push"), was: old, may: whole, reader: clone,
			ready: func(ctx context.Context, tr *trial) (*node, error) {
				if _, err := pushed(ctx, tr, "before", tr.t.first); err != nil {
					return nil, err
				}
				return tr.node("alpha", "alpha", tr.t.folded)
			}},
		{name: "pull", argv: words("sync", "pull"), was: old, may: whole,
			ready: func(ctx context.Context, tr *trial) (*node, error) {
				if _, err := pushed(ctx, tr, "before", tr.t.first); err != nil {
					return nil, err
				}
				beta, err := tr.node("beta", "beta", nil)
				if err != nil {
					return nil, err
				}
				if _, err := beta.do(ctx, "sync", "pull"); err != nil {
					return nil, err
				}
				_, err = pushed(ctx, tr, "alpha", tr.t.folded)
				return beta, err
			}},
		{name: "sync compact", argv: words("sync", "compact", table), was: all, may: only, folds: true, reader: clone,
			ready: func(ctx context.Context, tr *trial) (*node, error) { return pushed(ctx, tr, "alpha", tr.t.landed) }},
	}
}

// enumerate counts a verb's calls, then kills a copy after each.
func (t *tour) enumerate(ctx context.Context, v verb, set []string, most int) (*tally, error) {
	tal := &tally{verb: v.name, calls: map[string]int{}}
	tr, _, calls, _, err := t.traced(ctx, v, set, 0)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		tal.calls[c.Name]++
	}
	tal.total = len(calls)
	if err := os.RemoveAll(tr.dir); err != nil {
		return nil, err
	}
	for _, k := range spread(len(calls), most) {
		if err := t.point(ctx, v, set, k, tal); err != nil {
			return nil, err
		}
	}
	return tal, nil
}

// traced makes a copy ready and runs the verb in it under strace; where strace gives up, another copy is tried.
func (t *tour) traced(ctx context.Context, v verb, set []string, k int) (tr *trial, n *node, calls []stopper.Call, dead bool, err error) {
	for range 5 {
		if tr, err = t.trial(); err != nil {
			return nil, nil, nil, false, err
		}
		if n, err = v.ready(ctx, tr); err != nil {
			return nil, nil, nil, false, err
		}
		if calls, dead, err = n.killed(ctx, set, tr.dir, k, v.argv(t)...); !errors.Is(err, errTracer) {
			return tr, n, calls, dead, err
		}
		if err := os.RemoveAll(tr.dir); err != nil {
			return nil, nil, nil, false, err
		}
	}
	return nil, nil, nil, false, err
}

func spread(n, most int) []int {
	var out []int
	if most <= 1 || n <= most {
		for k := range n {
			out = append(out, k+1)
		}
		return out
	}
	for i := range most {
		out = append(out, 1+i*(n-1)/(most-1))
	}
	return out
}

// point is one copy, killed after its kth call. What the implementation did wrong goes to the tally; an error is of this program.
func (t *tour) point(ctx context.Context, v verb, set []string, k int, tal *tally) error {
	tr, n, calls, dead, err := t.traced(ctx, v, set, k)
	if err != nil {
		return err
	}
	if !dead {
		tal.late++
		return os.RemoveAll(tr.dir)
	}
	tal.killed++
	if err := t.judge(ctx, v, tr, n, tal); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tal.bad = append(tal.bad, fmt.Sprintf("%s killed after call %d of %d, %s: %v\n  left in %s", v.name, k, tal.total, last(calls), err, tr.dir))
		return nil
	}
	return os.RemoveAll(tr.dir)
}

func last(calls []stopper.Call) string {
	if len(calls) == 0 {
		return "(no call seen)"
	}
	return calls[len(calls)-1].Line
}

// judge looks at what the kill left, does the same again, and compares.
func (t *tour) judge(ctx context.Context, v verb, tr *trial, n *node, tal *tally) error {
	if _, err := n.do(ctx, "context", "check"); err != nil {
		return fmt.Errorf("right after: %w", err)
	}
	read, err := n.read(ctx)
	if err != nil {
		return fmt.Errorf("right after: %w", err)
	}
	own := v.may(t)
	if v.reader != nil {
		own = []string{t.all} // what a writer reads of its own store does not depend on what the bucket got
	}
	if !slices.Contains(own, read) {
		return fmt.Errorf("right after, %s reads %s, which is no state of whole runs", n.id, read)
	}
	looked := n
	if v.reader != nil {
		other, err := v.reader(ctx, tr)
		if err != nil {
			return fmt.Errorf("right after, the other node: %w", err)
		}
		looked = other
		if read, err = other.read(ctx); err != nil {
			return fmt.Errorf("right after, the other node: %w", err)
		}
		if !slices.Contains(v.may(t), read) {
			return fmt.Errorf("right after, the other node reads %s, which is no state of whole runs", read)
		}
	}
	count := &tal.during
	switch {
	case v.folds:
		out, err := looked.do(ctx, "context", "snapshots", table)
		if err != nil {
			return fmt.Errorf("right after: %w", err)
		}
		if count = &tal.before; strings.Count(out, "\n") > 1 { // every state here was folded once before
			count = &tal.after
		}
	case read == t.final(v):
		count = &tal.after
	case read == v.was(t):
		count = &tal.before
	}
	if err := t.again(ctx, v, n, tal); err != nil {
		return fmt.Errorf("again: %w", err)
	}
	if err := t.settled(ctx, v, tr, n); err != nil {
		return err
	}
	*count++
	return nil
}

// again does what was killed once more. A pass killed under its lease left the lease held, by this very node: until it expires nobody may take
// it, and its holder goes on with --held and gives it back.
func (t *tour) again(ctx context.Context, v verb, n *node, tal *tally) error {
	_, err := n.do(ctx, v.argv(t)...)
	if err == nil || !strings.Contains(err.Error(), "LeaseHeld") {
		return err
	}
	tal.held++
	if _, err := n.do(ctx, append(v.argv(t), "--held")...); err != nil {
		return err
	}
	_, err = n.do(ctx, "sync", "lease", "release", table)
	return err
}

// final is what everyone reads when the verb has succeeded.
func (t *tour) final(v verb) string {
	if v.name == "land" {
		return t.whole[1]
	}
	return t.all
}

// settled holds every node to the final state.
func (t *tour) settled(ctx context.Context, v verb, tr *trial, n *node) error {
	nodes := []*node{n}
	if v.reader != nil {
		other := &node{t: t, id: "beta", dir: filepath.Join(tr.dir, "reader")}
		if _, err := other.do(ctx, "sync", "pull"); err != nil {
			return fmt.Errorf("after the retry, the other node: %w", err)
		}
		nodes = append(nodes, other)
	}
	for _, m := range nodes {
		if _, err := m.do(ctx, "context", "check"); err != nil {
			return fmt.Errorf("after the retry: %w", err)
		}
		read, err := m.read(ctx)
		if err != nil {
			return fmt.Errorf("after the retry: %w", err)
		}
		if read != t.final(v) {
			return fmt.Errorf("after the retry %s reads %s instead of %s", m.id, read, t.final(v))
		}
	}
	return nil
}
