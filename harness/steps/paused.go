package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// The paused holder: a fold under a lease whose process is stopped at one of its writes, with the write held in the bucket,
// so that it arrives when the successor is long done.
func registerPaused(s *Suite) {
	s.Step(`^(\w+) starts to fold "([^"]*)" under the lease and is paused (before|after) (the snapshot's manifest is uploaded|the bucket's manifest is replaced|the bucket's pointer is replaced)$`, startsAndIsPaused)
	s.Step(`^(\w+) is resumed$`, resumed)
	s.Step(`^nobody reads a file of the snapshot that (\w+) was refused$`, nobodyReadsRefused)
	s.Step(`^the bucket has refused (\w+)'s latest replacement of the pointer of "([^"]*)"$`, pointerRefused)
}

const uploadGate, pauseGate = "paused: upload", "paused"

// snapshotUpload is the condition of the last object of a snapshot to go up.
func snapshotUpload(w *world.World, table string) string {
	return w.Key(w.TableKey(table, "data/snapshots/*/_manifest.json"))
}

// heldAtUpload starts a fold under the lease and returns when its snapshot's manifest waits at uploadGate.
func heldAtUpload(ctx context.Context, n *world.Node, table string) (*world.Task, error) {
	w := world.From(ctx)
	if err := w.Hold(uploadGate, "before", "Put", world.Who(n, string(sut.SyncCompact)), snapshotUpload(w, table)); err != nil {
		return nil, err
	}
	t, err := w.Start(ctx, n, sut.SyncCompact, foldArgs(table, ""))
	if err != nil {
		return nil, err
	}
	return t, w.Held(ctx, uploadGate, 1)
}

// startsAndIsPaused stops the process at its write and holds the write. The pointer is written twice under a lease, once to
// raise its fence before the work and once to publish: only what comes after the upload is the publication.
func startsAndIsPaused(ctx context.Context, node, table, phase, which string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if p, err := w.BucketPointer(ctx, table); err == nil {
		w.Values["lease.pointer."+table] = p.SnapshotID
	}
	upload := snapshotUpload(w, table)
	key := map[string]string{"the snapshot's manifest is uploaded": upload, "the bucket's manifest is replaced": w.Key("manifest.json"),
		"the bucket's pointer is replaced": w.Key(w.TableKey(table, "_pointer.json"))}[which]
	t, err := heldAtUpload(ctx, n, table)
	if err != nil {
		return err
	}
	if key == upload {
		return t.Stop()
	}
	if err := w.Hold(pauseGate, phase, "Put", world.Who(n, string(sut.SyncCompact)), key, "(OnIndex 0)"); err != nil {
		return err
	}
	if err := w.Release(uploadGate); err != nil {
		return err
	}
	if err := w.Held(ctx, pauseGate, 1); err != nil {
		return err
	}
	if err := t.Stop(); err != nil || phase == "before" {
		return err
	}
	return w.Release(pauseGate) // the answer waits at a process that does not look
}

// resumed lets the held write arrive, and then the process go on.
func resumed(ctx context.Context, node string) error {
	w := world.From(ctx)
	t, err := w.Node(node).Task()
	if err != nil {
		return err
	}
	if t.Ended() {
		return fmt.Errorf("%s had ended before it was resumed", node)
	}
	for _, gate := range []string{uploadGate, pauseGate} {
		if err := w.Release(gate); err != nil {
			return err
		}
	}
	return t.Cont()
}

// refusedSnapshots are the ids under which a node's latest leased fold wrote into the bucket.
func refusedSnapshots(ctx context.Context, node string) ([]string, error) {
	w := world.From(ctx)
	puts, err := w.Requests(w.Node(node), sut.SyncCompact, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: "*/data/snapshots/*"})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, e := range puts {
		_, after, _ := strings.Cut(e.Key, "/data/snapshots/")
		id, _, _ := strings.Cut(after, "/")
		seen[id] = true
	}
	var out []string
	for id := range seen {
		out = append(out, id)
	}
	sort.Strings(out)
	if len(out) == 0 {
		return nil, verify.Fail(node+"'s leased fold writes a snapshot into the bucket", "objects of a snapshot", "none")
	}
	return out, nil
}

// nobodyReadsRefused looks at every node's own pointer and at the files that its reads would open, and at the bucket's
// pointers with what their snapshots come from.
func nobodyReadsRefused(ctx context.Context, node string) error {
	w := world.From(ctx)
	ids, err := refusedSnapshots(ctx, node)
	if err != nil {
		return err
	}
	var found []string
	note := func(where, text string) {
		for _, id := range ids {
			if strings.Contains(text, id) {
				found = append(found, where+": "+text)
			}
		}
	}
	for _, n := range w.Nodes() {
		if n.Bare {
			continue
		}
		for _, table := range []string{"events"} {
			p, err := inspect.Pointer(n.Root(), table)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			note(n.Name+"'s pointer", p.SnapshotID)
			files, err := filesRead(ctx, n, table)
			if err != nil {
				return err
			}
			for _, f := range files {
				note(n.Name+" reads", f)
			}
		}
	}
	p, err := w.BucketPointer(ctx, "events")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	note("the bucket's pointer", p.SnapshotID)
	return verify.Nothing("what still reads the snapshot that "+node+" was refused", found)
}

// filesRead lists the files that a read of the table would open.
func filesRead(ctx context.Context, n *world.Node, table string) ([]string, error) {
	c, err := world.From(ctx).Answer(ctx, n, sut.Files, sut.A("table", table))
	if err != nil {
		return nil, err
	}
	var doc struct{ Files []string }
	if err := json.Unmarshal([]byte(c.Stdout), &doc); err != nil {
		return nil, verify.Fail(n.Name+" lists its files", `{"files": […]}`, c.Stdout)
	}
	return doc.Files, nil
}

func pointerRefused(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	puts, err := w.Requests(w.Node(node), sut.SyncCompact, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: w.FullKey(w.TableKey(table, "_pointer.json"))})
	if err != nil {
		return err
	}
	if len(puts) == 0 {
		return fmt.Errorf("%s has not asked to replace the pointer of %s", node, table)
	}
	last := puts[len(puts)-1]
	return verify.That(last.Status == 412 || last.Status == 409 || last.Status == 404, "the bucket refuses "+node+"'s replacement of the pointer", "a failed condition", last.String())
}
