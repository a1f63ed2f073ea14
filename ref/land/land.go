package land

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// Formats of an input.
const (
	JSONL   = "jsonl"
	CSV     = "csv"
	Parquet = "parquet"
)

// What undeclared objects and arrays become.
const (
	Native = "native"
	AsJSON = "json"
)

// DefaultMemory is how many bytes of typed rows stay in memory before the spool goes to a temporary file.
const DefaultMemory = 64 << 20

// Options say what to land. Table, RunID, SiteID and Input or Inputs are needed.
type Options struct {
	Table     string
	Input     io.Reader
	InputName string // for messages, such as the file's name; "input" if empty
	Format    string // jsonl (default), csv or parquet
	// Inputs are several inputs that land together, one after the other; then Input is not looked at.
	Inputs []Input
	RunID  string
	SiteID string
	// Types are column types of the producer's; they must agree with the declaration's.
	Types map[string]schema.Type
	// Position is where the source stands after these rows, any JSON; it is recorded in the manifest as its cursor.
	Position   json.RawMessage
	PipelineID string
	// BatchSeq numbers the batch within its scope (store.reserve.injected), nil outside one.
	BatchSeq *int32
	// Replace makes the run a replacement frontier even where the table does not declare write_mode = "replace".
	Replace bool
	// Complete says that the rows are all there is: a replacing table without a row is emptied then
	// (store.declare.empty-replacement). Elsewhere an input without a row is refused.
	Complete bool
	// Normalize says what undeclared objects and arrays become (run.normalize.native-store): "json", or "native" for a struct or
	// list inferred over the whole input. "" is json.
	Normalize string
	// TempDir holds the spool of an input larger than MemoryBytes; "" is the system's.
	TempDir     string
	MemoryBytes int64 // DefaultMemory if 0
	// Progress is called on the landing's goroutine with the number of rows read so far.
	Progress func(rows int64)

	partRows int64 // of a part at most, maxPartRows if 0
}

// Input is one of several. Open is called once, when the inputs before it are read.
type Input struct {
	Name      string // for messages
	Format    string // as Options.Format
	FirstLine int64  // the number of its first line, 1 if 0; only JSON Lines count from it
	Open      func() (io.ReadCloser, error)
}

// Report is what happened. Replayed: the same run with the same content was committed before, nothing was written.
//
// Rows are those that were written; Skipped those that a vintage table held already (store.available-time.vintage-scope), and
// Compared is what was looked at for that.
type Report struct {
	RunID     string
	Rows      int64
	Skipped   int64
	Replayed  bool
	Parts     int
	CommitSeq int64
	Compared  Compared
	// Folded, on a replay, is the run's row of the folded-runs index: its manifest is gone, it was folded and reclaimed.
	Folded *store.FoldedRun `json:",omitempty"`
}

// Run lands the whole input as one run, or refuses and leaves the store as it was.
//
// Refusals: StoreTableUnknown, StoreNameInvalid, StoreTypeUnknown, StoreUnsupported (a declaration or a type this build does
// not serve yet), StoreDeclarationInvalid, StoreDeclarationChanged; StoreInputMalformed, StoreInputEmpty,
// StoreReservedColumnName, StoreColumnAmbiguous, StoreSchemaIncompatible, StoreKeyWidened (all naming row and column where there
// is one); StoreRunConflict (the same run id, other content), StoreBusy, StoreWriteFailed; of a vintage table also what
// store.Resolve refuses, and StorePartDamaged where stored vintages of the rows' keys cannot be read.
func Run(ctx context.Context, s *store.Store, o Options) (Report, error) {
	if err := key.ValidRun(o.RunID); err != nil {
		return Report{}, err
	}
	b, err := Read(ctx, s, o)
	if err != nil {
		return Report{}, err
	}
	defer b.Close()
	return b.Commit(ctx, Ending{RunID: o.RunID, Position: o.Position, Complete: o.Complete})
}

// prepare checks everything that can be checked before the input is read.
func prepare(s *store.Store, o *Options) (*store.Table, *schema.Schema, error) {
	if o.InputName == "" {
		o.InputName = "input"
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = DefaultMemory
	}
	t, err := s.Table(o.Table)
	if err != nil {
		return nil, nil, err
	}
	if why := schema.CheckName(o.SiteID); why != "" {
		return nil, nil, fault.New(fault.StoreNameInvalid, o.SiteID, fmt.Sprintf("the site id %q %s", o.SiteID, why)).WithHint(plainName)
	}
	d := t.Declared()
	if o.Normalize != "" && o.Normalize != Native && o.Normalize != AsJSON {
		return nil, nil, fault.New(fault.StoreDeclarationInvalid, "normalize", fmt.Sprintf("there is no normalization %q", o.Normalize)).WithHint("it is native or json")
	}
	if err := checkTypes(d, o.Types); err != nil {
		return nil, nil, err
	}
	stored, err := declared(t)
	return t, stored, err
}

// declared reads the stored schema and refuses a declaration that differs from what the table was written with.
func declared(t *store.Table) (*schema.Schema, error) {
	stored, err := t.Schema()
	if err != nil {
		return nil, err
	}
	var head *manifest.Snapshot
	if stored == nil || stored.Metadata[store.MetaPrimaryKey] == "" {
		p, _, err := t.Pointer()
		if err != nil {
			return nil, err
		}
		if p.SnapshotID != nil {
			if head, err = t.ReadSnapshot(*p.SnapshotID); err != nil {
				return nil, err
			}
		}
	}
	return stored, t.CheckDeclaration(stored, head)
}

// commit is the second half, under the table's lock: no reader sees a higher _commit_seq while a lower one is still to come.
func commit(ctx context.Context, t *store.Table, l *store.Lock, o *Options, c *collector, digest string) (Report, error) {
	node := t.Store().Node()
	have, err := t.ReadRun(o.RunID, node)
	if err != nil {
		return Report{}, err
	}
	if have != nil {
		return replay(o, have, digest)
	}
	folded, err := l.FoldedAs(ctx, o.RunID+"/"+node)
	if err != nil {
		return Report{}, err
	}
	if folded != nil {
		return replayFolded(o, folded, c.rows, digest)
	}
	stored, err := declared(t)
	if err != nil {
		return Report{}, err
	}
	arriving := c.arriving()
	arriving.Columns = append(arriving.Columns, o.injected()...)
	var keys []string
	if d := t.Declared(); d != nil {
		arriving.Metadata = store.DeclarationMetadata(d)
		// What the stored schema says in its own words is the same fact: CheckDeclaration compared them.
		if stored != nil {
			for k := range arriving.Metadata {
				if v, ok := stored.Metadata[k]; ok {
					arriving.Metadata[k] = v
				}
			}
		}
		keys = d.PrimaryKey
	}
	merged, grown, err := l.MergeSchema(arriving, keys)
	if err != nil {
		return Report{}, err
	}
	skip, compared, err := compare(ctx, t, c, merged, replacing(t, o))
	if err != nil {
		return Report{}, err
	}
	next, err := l.NextCommitSeq(ctx)
	if err != nil {
		return Report{}, err
	}
	m := &manifest.Run{
		CommittedAt: next.CommittedAt(t.Store().Clock()), CommitSeq: &next.Seq, BatchDigest: digest, Replacement: replacing(t, o),
		RowCount: c.rows - skip.n, SiteID: o.SiteID, PipelineID: o.PipelineID, Cursor: o.Position,
	}
	if _, err := nanosOf(m.CommittedAt.Unix(), int64(m.CommittedAt.Nanosecond())); err != nil {
		return Report{}, fault.New(fault.StoreInputMalformed, "now", fmt.Sprintf("the commit's instant %s %s", m.CommittedAt, err)).WithHint(giveInstant)
	}
	// A late backfill keeps its fields visible at the horizons that its rows answer (read.horizon.late-columns).
	first := m.CommittedAt
	if c.dated {
		first = manifest.At(time.Unix(0, c.earliest))
	}
	schema.StampFirst(merged, stored, first)
	w, err := l.BeginRun(ctx, o.RunID)
	if err != nil {
		return Report{}, err
	}
	written := false
	if grown {
		w.Last = func() error {
			written = true
			return l.WriteSchema(merged)
		}
	}
	if m.Parts, err = writeParts(ctx, t, w, c, merged, o, m, skip); err == nil {
		err = w.Commit(ctx, m)
	}
	if err != nil {
		// What a failed cleaning leaves is no run: the next landing removes it. It comes first, for the room it makes.
		err = errors.Join(err, w.Abandon())
		if written {
			err = errors.Join(err, l.RestoreSchema(stored))
		}
		return Report{}, err
	}
	return Report{RunID: o.RunID, Rows: m.RowCount, Skipped: skip.n, Parts: len(m.Parts), CommitSeq: next.Seq, Compared: compared}, nil
}

// injected are the engine's columns of this landing, in the order of a part.
func (o *Options) injected() []schema.Column {
	if o.BatchSeq == nil {
		return schema.Injected()
	}
	return append(schema.Injected(), schema.BatchColumn())
}

// replacing tells whether the run is a replacement frontier.
func replacing(t *store.Table, o *Options) bool {
	d := t.Declared()
	return o.Replace || d != nil && d.WriteMode == decl.Replace
}

// replayFolded answers a run that the table's chain has folded and whose manifest is gone (store.lay-out.run-folded-replay):
// landed again it would be read as folded, and its rows would vanish.
func replayFolded(o *Options, have *store.FoldedRun, rows int64, digest string) (Report, error) {
	if have.BatchDigest != digest {
		why := fmt.Sprintf("with other content (batch digest %.12s…, this one is %.12s…)", have.BatchDigest, digest)
		if have.BatchDigest == "" {
			why = "and nothing that is left tells what it held"
		}
		return Report{}, fault.New(fault.StoreRunConflict, have.RunKey, fmt.Sprintf("run %q of table %q was folded into %s %s", o.RunID, o.Table, have.SnapshotID, why)).
			WithHint("give these rows a run id of their own")
	}
	if have.Rows != nil {
		rows = *have.Rows // what was written of them
	}
	r := Report{RunID: o.RunID, Rows: rows, Replayed: true, Folded: have}
	if have.CommitSeq != nil {
		r.CommitSeq = *have.CommitSeq
	}
	return r, nil
}

// replay answers a run that is committed already (store.lay-out.run-digest): with the same content nothing is written.
func replay(o *Options, have *manifest.Run, digest string) (Report, error) {
	if have.BatchDigest != digest {
		return Report{}, fault.New(fault.StoreRunConflict, have.Key(), fmt.Sprintf("run %q of table %q is committed with other content (batch digest %.12s…, this one is %.12s…)", o.RunID, o.Table, have.BatchDigest, digest)).
			WithHint("give these rows a run id of their own")
	}
	r := Report{RunID: o.RunID, Rows: have.RowCount, Replayed: true, Parts: len(have.Parts)}
	if have.CommitSeq != nil {
		r.CommitSeq = *have.CommitSeq
	}
	return r, nil
}
