package land

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/store"
)

// Batch is an input that was read to its end: checked, typed, hashed and spooled, with nothing of the store touched. A source
// that tells its position, or whether it was complete, only at its end is read first and committed then. Close frees it.
type Batch struct {
	t *store.Table
	o *Options
	c *collector
}

// Ending is what the end of an input tells of it: the run it becomes, and Options.Position and Complete.
type Ending struct {
	RunID    string
	Position json.RawMessage
	Complete bool
}

// Read takes the input in: the first pass of Run. RunID, Position and Complete of the options are Commit's to be told.
// Refusals are Run's but for StoreInputEmpty, StoreRunConflict and StoreBusy.
func Read(ctx context.Context, s *store.Store, o Options) (*Batch, error) {
	t, stored, err := prepare(s, &o)
	if err != nil {
		return nil, err
	}
	rs := newRules(t.Declared(), stored, o.Types, o.Normalize == Native)
	b := &Batch{t: t, o: &o, c: newCollector(o.InputName, rs, newSpool(o.TempDir, o.MemoryBytes))}
	if o.Inputs == nil {
		err = b.read(ctx, Input{Name: o.InputName, Format: o.Format}, o.Input, rs)
	}
	b.c.many = len(o.Inputs) > 1
	for i := 0; i < len(o.Inputs) && err == nil; i++ {
		err = b.open(ctx, o.Inputs[i], rs)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	b.noteKey(s)
	return b, nil
}

// noteKey says where no row has a column of the key: that is allowed, and mostly a misspelt name or a CSV of other separators, whose
// rows are then all one to a reader.
func (b *Batch) noteKey(s *store.Store) {
	d := b.t.Declared()
	if d == nil || b.c.rows == 0 {
		return
	}
	for _, name := range d.PrimaryKey {
		if _, ok := b.c.at[name]; !ok {
			s.Logf("note: no row of %s has %q, a column of the primary key of table %q: it is null in all of them", b.o.InputName, name, b.t.Name())
		}
	}
}

func (b *Batch) open(ctx context.Context, in Input, rs rules) error {
	from, err := in.Open()
	if err != nil {
		return err
	}
	return errors.Join(b.read(ctx, in, from, rs), from.Close())
}

func (b *Batch) read(ctx context.Context, in Input, from io.Reader, rs rules) error {
	b.c.input, b.c.before = in.Name, b.c.rows
	read, err := b.o.source(from, in, rs)
	if err != nil {
		return err
	}
	return read(ctx, func(blk *block) error {
		if err := b.c.take(blk); err != nil {
			return err
		}
		if b.o.Progress != nil {
			b.o.Progress(b.c.rows)
		}
		return nil
	})
}

func (o *Options) source(from io.Reader, in Input, rs rules) (source, error) {
	switch in.Format {
	case JSONL, "":
		return jsonLinesFrom(from, in.Name, max(in.FirstLine, 1), rs, jsonBlock), nil
	case CSV:
		return csvLines(from, in.Name, rs), nil
	case Parquet:
		return parquetRows(from, in.Name, o.TempDir, rs), nil
	}
	return nil, fault.New(fault.StoreUnsupported, in.Format, fmt.Sprintf("there is no input format %q", in.Format)).WithHint("formats are jsonl, csv and parquet")
}

// Rows is the number of rows read.
func (b *Batch) Rows() int64 { return b.c.rows }

// Digest is the batch_digest of these rows at a position (store.lay-out.run-digest), any JSON or none.
func (b *Batch) Digest(position json.RawMessage) (string, error) {
	canonical, err := canonicalPosition(position)
	if err != nil {
		return "", err
	}
	return b.c.digest(canonical)
}

// Commit is the second pass: the rows become a run of the table. Refusals are Run's.
func (b *Batch) Commit(ctx context.Context, e Ending) (Report, error) {
	o, err := *b.o, key.ValidRun(e.RunID)
	if err != nil {
		return Report{}, err
	}
	o.RunID, o.Complete = e.RunID, e.Complete
	if o.Position, err = canonicalPosition(e.Position); err != nil {
		return Report{}, err
	}
	if b.c.rows == 0 && !(o.Complete && replacing(b.t, &o)) {
		return Report{}, fault.New(fault.StoreInputEmpty, o.InputName, o.InputName+" holds no row").
			WithHint("a table of write_mode \"replace\" is emptied with --complete")
	}
	digest, err := b.c.digest(o.Position)
	if err != nil {
		return Report{}, err
	}
	l, err := b.t.Lock(ctx)
	if err != nil {
		return Report{}, err
	}
	r, err := commit(ctx, b.t, l, &o, b.c, digest)
	return r, errors.Join(err, l.Release())
}

// Close frees the spool.
func (b *Batch) Close() { b.c.spool.close() }

func canonicalPosition(position json.RawMessage) (json.RawMessage, error) {
	if len(position) == 0 {
		return nil, nil
	}
	canonical, err := canonicalJSON(nil, position)
	if err != nil {
		return nil, fault.New(fault.StoreInputMalformed, "position", "the source's position is no JSON").WithHint("a position is any JSON value, such as 17 or \"2026-11-30\"").Wrap(err)
	}
	return canonical, nil
}
