package fold

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

// Attempts is how many passes one Run makes in all before a pointer that keeps moving is refused.
const Attempts = 3

// Options of a pass. Fence is a bucket lease's fence, nil outside one.
type Options struct {
	Table  string
	Fence  *int64
	Engine duck.Options
	// Publish replaces the local publication where it is set: what it returns ends the pass. It calls PublishLocal or
	// Discard itself where that is right.
	Publish func(context.Context, *Staged) error
	// Progress takes one line for a person per step.
	Progress func(line string)
}

// Report is what a pass did. SnapshotID is "" where there was nothing to fold; then Parent is the current snapshot and Rows
// its rows. Runs counts the runs this pass folded.
type Report struct {
	SnapshotID string
	Parent     string
	Rows       int64
	Fence      *int64
	Runs       int
	Parts      int
}

// Run folds one table and publishes the result. Refusals: those of Stage, StorePointerMoved after Attempts lost races,
// LeaseFenced where the local pointer carries a higher fence.
func Run(ctx context.Context, st *store.Store, o Options) (Report, error) {
	for attempt := 1; ; attempt++ {
		staged, err := stageUnmoved(ctx, st, o)
		if fault.CodeOf(err) == fault.StorePointerMoved && attempt < Attempts {
			o.startOver()
			continue
		}
		if err != nil {
			return Report{}, err
		}
		if staged.Nothing() {
			return staged.Report, nil
		}
		if o.Publish != nil {
			return staged.Report, o.Publish(ctx, staged)
		}
		err = staged.PublishLocal(ctx)
		if err == nil {
			staged.retain(ctx, st)
			return staged.Report, nil
		}
		if discarded := staged.Discard(); discarded != nil {
			return Report{}, errors.Join(err, discarded)
		}
		if fault.CodeOf(err) != fault.StorePointerMoved || attempt == Attempts {
			return Report{}, err
		}
		o.startOver()
	}
}

func (o Options) startOver() {
	o.say("the pointer of table %q was replaced meanwhile; starting over", o.Table)
}

// stageUnmoved is Stage which does not take for damage what another pass and its retention did meanwhile: an input that is
// missing after the pointer moved on is StorePointerMoved.
func stageUnmoved(ctx context.Context, st *store.Store, o Options) (*Staged, error) {
	table, err := st.Table(o.Table)
	if err != nil {
		return nil, err
	}
	_, before, err := table.Pointer()
	if err != nil {
		return nil, err
	}
	staged, err := Stage(ctx, st, o)
	if errors.Is(err, fault.StorePartDamaged) || errors.Is(err, fault.StoreChainBroken) {
		if _, after, readErr := table.Pointer(); readErr == nil && after != before {
			return nil, fault.New(fault.StorePointerMoved, o.Table, fmt.Sprintf("the pointer of table %q was replaced, and an input of this pass is gone", o.Table)).Wrap(err)
		}
	}
	return staged, err
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Staged is a sealed snapshot that no pointer names yet. Manifest, Next and ETag are what a publication writes and expects;
// Dir is the snapshot's absolute directory.
type Staged struct {
	Report   Report
	Manifest *manifest.Snapshot
	Next     manifest.Pointer
	ETag     store.ETag
	Dir      string

	table *store.Table
	pass  *store.Pass
	keep  time.Duration // the table's retain_runs
}

// Nothing says that there was no run to fold: nothing was staged.
func (s *Staged) Nothing() bool { return s.Manifest == nil }

// PublishLocal replaces the table's local pointer where it still is the one this pass began with. On StorePointerMoved and
// LeaseFenced nothing has changed, and the caller decides between Discard and, where a bucket names the snapshot already,
// Keep. After success Discard does nothing.
func (s *Staged) PublishLocal(ctx context.Context) error {
	if s.Nothing() {
		return nil
	}
	err := s.table.SwapPointer(ctx, s.ETag, s.Next)
	if err != nil {
		// A failed write may have replaced the pointer all the same: then the snapshot is the table's and must stay.
		if have, _, readErr := s.table.Pointer(); readErr == nil && have.SnapshotID != nil && *have.SnapshotID == s.Manifest.SnapshotID {
			s.pass.Close()
		}
		return err
	}
	s.pass.Close()
	return nil
}

// retain removes what the table's retention no longer keeps. The pass is published: what fails here is the next one's.
func (s *Staged) retain(ctx context.Context, st *store.Store) {
	done, err := s.table.Retain(ctx, st.Clock().Now(), s.keep)
	switch {
	case err != nil:
		st.Logf("note: retention of table %q did not end, the next pass goes on: %v", s.table.Name(), err)
	case done.Snapshots+done.Runs > 0:
		st.Logf("table %q: removed what is older than retain_runs (snapshots: %d, folded runs: %d)", s.table.Name(), done.Snapshots, done.Runs)
	}
}

// Discard removes the snapshot where it was not published.
func (s *Staged) Discard() error {
	if s.pass == nil {
		return nil
	}
	return s.pass.Discard()
}

// Keep leaves the snapshot where it is without a local pointer: for one that a bucket's pointer names, or may still come to
// name. base is the ETag of the bucket's pointer that it was to replace. No later pass here removes it before a pull has seen
// what became of it.
func (s *Staged) Keep(base string) error {
	if s.pass == nil {
		return nil
	}
	return s.pass.Keep(base)
}

// Stage makes a pass up to the sealed snapshot and publishes nothing. Where there is no run to fold, Staged.Nothing is true.
// Refusals before anything is staged: StoreUnsupported (a table that declares indexes
// or masks), StoreKeyWidened, and what store.Resolve refuses. Then
// StorePartDamaged where an input is not what its manifest says, StoreWriteFailed, StorePointerMoved.
func Stage(ctx context.Context, st *store.Store, o Options) (_ *Staged, err error) {
	table, err := st.Table(o.Table)
	if err != nil {
		return nil, err
	}
	view, err := table.Resolve(ctx, store.Bounds{})
	if err != nil {
		return nil, err
	}
	if err := servedHere(view); err != nil {
		return nil, err
	}
	staged := &Staged{table: table, ETag: view.ETag, keep: view.Declaration.RetainRuns, Report: Report{Fence: o.Fence}}
	if view.Pointer.SnapshotID != nil {
		staged.Report.Parent = *view.Pointer.SnapshotID
	}
	if len(view.Runs)+len(view.Superseded) == 0 {
		if view.Head != nil {
			staged.Report.Rows = max(view.Head.RowCount, 0)
		}
		return staged, nil
	}
	// Now, and not when it is written down: by then another pass and its retention may have taken what it is read from.
	if err := view.Folded.Load(ctx); err != nil {
		return nil, err
	}
	// The parts of runs are written once more whatever the plan: they are looked at while the engine starts.
	ofRuns := func(f store.File) bool { return f.Run != nil }
	looks := beside(ctx, func(ctx context.Context) (map[string]*colfile.Glance, error) {
		return intact(ctx, view, only(view.Files, ofRuns))
	})
	defer looks.stop()
	session, err := duck.Open(ctx, o.Engine)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	glances, damage := looks.wait()
	work := &pass{session: session, view: view, options: o, glances: glances}
	if err := work.prepare(ctx); err != nil {
		return nil, err
	}
	if damage != nil {
		return nil, damage // a type that the table does not have says more
	}
	if _, err := intact(ctx, view, only(work.fresh, func(f store.File) bool { return !ofRuns(f) })); err != nil {
		return nil, err
	}
	if err := work.plan(ctx); err != nil {
		return nil, err
	}
	if _, err := intact(ctx, view, work.rewritten()); err != nil {
		return nil, err
	}
	if err := recoverAbandoned(ctx, table); err != nil {
		return nil, err
	}
	m := describe(st, view, o.Fence)
	staged.pass, err = table.BeginPass(ctx, m.CreatedAt, m.Parent)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, staged.Discard())
		}
	}()
	work.dir = staged.pass.Dir()
	if m.Parts, err = work.write(ctx); err != nil {
		return nil, err
	}
	for _, p := range m.Parts {
		m.RowCount += p.Rows
	}
	if m.FoldedRuns, err = staged.pass.WriteFoldedRuns(ctx, view); err != nil {
		return nil, err
	}
	if err := staged.pass.Seal(ctx, m); err != nil {
		return nil, err
	}
	staged.Manifest, staged.Dir = m, staged.pass.Dir()
	staged.Next = manifest.Pointer{SnapshotID: &m.SnapshotID, Fence: o.Fence, Writer: st.Node(), Nonce: m.Nonce}
	staged.Report.SnapshotID, staged.Report.Rows, staged.Report.Parts = m.SnapshotID, m.RowCount, len(m.Parts)
	staged.Report.Runs = len(m.IncludesRuns)
	return staged, nil
}

// servedHere refuses what this build would fold wrongly.
func servedHere(view *store.View) error {
	d := view.Declaration
	key := d.Unserved()
	if key == "" && len(d.Indexes) > 0 {
		key = "indexes"
	}
	if key != "" {
		return fault.New(fault.StoreUnsupported, d.Name, fmt.Sprintf("table %q declares %s, and this build does not fold such tables yet", d.Name, key)).
			WithHint("queries read its runs unfolded")
	}
	return nil
}

// recoverAbandoned clears what killed passes and landings left, under the table's lock for that moment.
func recoverAbandoned(ctx context.Context, table *store.Table) error {
	lock, err := table.Lock(ctx)
	if err != nil {
		return err
	}
	_, err = lock.Recover(ctx)
	return errors.Join(err, lock.Release())
}

// describe is the snapshot's manifest without its parts. created_at is the clock's instant, but never before a run it
// includes, and after its parent.
func describe(st *store.Store, view *store.View, fence *int64) *manifest.Snapshot {
	m := &manifest.Snapshot{Parent: view.Pointer.SnapshotID, PrimaryKey: view.Declaration.PrimaryKey, Fence: fence, Replacement: view.Frontier,
		Nonce: nonce(), CreatedAt: manifest.At(st.Clock().Now())}
	m.ValidTime, m.AvailableTime = store.RecordedValidTime(view.Declaration), store.RecordedAvailableTime(view.Declaration)
	if view.Declaration.Keyed() {
		m.OrderBy = view.Declaration.OrderBy
	}
	if view.Head != nil {
		m.CommitSeq = view.Head.CommitSeq
		if after := view.Head.CreatedAt.Add(time.Nanosecond); after.After(m.CreatedAt.Time) {
			m.CreatedAt = manifest.At(after)
		}
	}
	for _, run := range slices.Concat(view.Runs, view.Superseded) {
		m.IncludesRuns = append(m.IncludesRuns, run.Key())
		if run.CommittedAt.After(m.CreatedAt.Time) {
			m.CreatedAt = run.CommittedAt
		}
		if run.CommitSeq != nil && (m.CommitSeq == nil || *m.CommitSeq < *run.CommitSeq) {
			m.CommitSeq = run.CommitSeq
		}
	}
	slices.Sort(m.IncludesRuns)
	return m
}

// nonce makes a document recognisable as this pass's own. rand.Read does not fail.
func nonce() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
