// Package pull brings a store up to its bucket.
//
// Answers: store.pull.digest-mismatch, store.pull.run-state-torn, store.pull.identity-conflict, store.pull.convergence,
// store.pull.unconverged, store.pull.unconverged-resume, store.pull.transfer-width, store.pull.pointer-last,
// store.pull.run-manifest-last, store.pull.pointer-read, store.pull.pointer-advance, store.pull.schema-merge.
//
// The bucket is not trusted: every key is judged before it is a path, no object is read beyond the size it is listed with, and no
// byte gets its final name before its digest is the listed one. What makes rows visible comes last, in this order:
//
//	manifest.json, store-id      whose bucket is it: a conflict ends the pull here
//	pointers                     read now, so that what is downloaded covers what they name
//	objects                      all that differ but run manifests, up to Transfers at once
//	schemas                      merged into the local ones
//	run manifests                under each table's lock
//	pointers                     all judged first, then written
package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/merge"
	"contextful/ref/store"

	"golang.org/x/sync/errgroup"
)

const (
	// DefaultTransfers is how many objects move at once where nothing is configured.
	DefaultTransfers = 16
	// Attempts is how often a pull reads the manifest while keys move under it.
	Attempts = 3
)

// Options: Bucket is below its prefix. Zero values: Transfers 16, Pause commit.Sleep.
type Options struct {
	Bucket    bucket.Bucket
	Transfers int
	Pause     commit.Pause
	Digests   *merge.Digests
	// Progress is told after each downloaded object: how many of total, and the bytes so far. One call at a time.
	Progress func(done, total int, bytes int64)
}

// Report is what `sync pull --json` prints. Advanced names the tables whose pointer moved.
type Report struct {
	Generation int64    `json:"generation"`
	Downloaded int      `json:"downloaded"`
	Bytes      int64    `json:"bytes"`
	Removed    int      `json:"removed"`
	Advanced   []string `json:"advanced"`
	Attempts   int      `json:"attempts"`
}

// Run pulls. Refusals: StoreIdentityConflict, SyncPrefixEscape, SyncManifestInvalid, SyncObjectDigestMismatch,
// SyncPullDidNotConverge, SyncPointerDiverged, StoreSchemaIncompatible, StoreChainBroken, SyncUnreachable, StoreWriteFailed. What was
// verified before a refusal stays, so the next pull begins there; the report is filled as far as it came.
func Run(ctx context.Context, s *store.Store, o Options) (Report, error) {
	report := Report{Advanced: []string{}}
	r, err := merge.NewRemote(s, o.Bucket, o.Pause)
	if err != nil {
		return report, err
	}
	if o.Transfers <= 0 {
		o.Transfers = DefaultTransfers
	}
	if o.Digests == nil {
		o.Digests = merge.NewDigests()
	}
	lock, err := s.LockPush(ctx)
	if err != nil {
		return report, err
	}
	defer func() { _ = lock.Unlock() }() // it dies with this process at the latest
	p := &puller{s: s, o: o, r: r, report: &report}
	err = p.run(ctx)
	return report, err
}

type puller struct {
	s      *store.Store
	o      Options
	r      *merge.Remote
	report *Report

	mu sync.Mutex // of report and of what the workers gather
}

// scene is the bucket as one attempt sees it: what the manifest lists of this project, by store-relative path, and the pointers of
// its tables.
type scene struct {
	entries  map[string]manifest.Entry
	kinds    map[string]key.Parsed
	pointers map[string]merge.Pointer
}

func (p *puller) run(ctx context.Context) error {
	var moving string // a key that was not there, or not yet
	for p.report.Attempts < Attempts {
		if p.report.Attempts > 0 {
			if err := p.r.Pause(ctx, commit.Backoff(p.report.Attempts)); err != nil {
				return err
			}
		}
		p.report.Attempts++
		sc, err := p.look(ctx)
		if err != nil {
			return err
		}
		var final bool
		moving, final, err = p.attempt(ctx, sc)
		if err != nil && (final || p.report.Attempts == Attempts) {
			return err
		}
		if moving == "" && err == nil {
			return p.advance(ctx, sc)
		}
	}
	return fault.New(fault.SyncPullDidNotConverge, moving, fmt.Sprintf(
		"the pull did not converge in %d attempts: %s is listed and was not there", Attempts, moving)).
		WithHint("run the pull again: what was verified is kept, and only the rest is downloaded")
}

// look reads the manifest, settles whose store this is, and reads the pointers. Nothing of the bucket is on disk after it but a
// clone's new store-id.
func (p *puller) look(ctx context.Context) (*scene, error) {
	state, err := p.r.Manifest(ctx)
	if err != nil {
		return nil, err
	}
	p.report.Generation = state.Manifest.Generation
	remote, ok, err := p.r.Identity(ctx)
	if err != nil {
		return nil, err
	}
	if own, has := p.s.Identity(); ok && has {
		if err := p.r.CheckIdentity(own, remote); err != nil {
			return nil, err
		}
	}
	sc, err := p.scene(state.Manifest)
	if err != nil {
		return nil, err
	}
	if !ok && len(sc.entries) > 0 {
		return nil, fault.New(fault.SyncManifestInvalid, p.r.Key(key.StoreIDName), fmt.Sprintf(
			"%s lists objects of project %s, and the bucket has no %s that says whose they are", key.BucketManifest, p.r.Project, p.r.Key(key.StoreIDName)))
	}
	if err := p.links(ctx, sc); err != nil {
		return nil, err
	}
	if ok {
		if err := p.identity(sc, remote); err != nil {
			return nil, err
		}
	}
	return sc, p.pointers(ctx, sc, state.Manifest)
}

// links refuses where a symbolic link lies on the way to a listed file, before anything of the bucket is written
// (store.pull.prefix-escape).
func (p *puller) links(ctx context.Context, sc *scene) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for rel := range sc.entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return merge.NoSymlink(p.s, rel)
		})
	}
	return group.Wait()
}

// identity takes the bucket's where the store has none. store-id is not among what is downloaded: it is never replaced, so it need
// only be what the manifest lists.
func (p *puller) identity(sc *scene, remote string) error {
	if e, listed := sc.entries[key.StoreIDName]; listed {
		sum := sha256.Sum256(store.IdentityBytes(remote))
		if e.SHA256 != hex.EncodeToString(sum[:]) {
			k := p.r.Key(key.StoreIDName)
			return fault.New(fault.SyncObjectDigestMismatch, k, k+" is not what the bucket manifest lists")
		}
		delete(sc.entries, key.StoreIDName)
	}
	return p.s.AdoptIdentity(remote)
}

// scene takes the project's part of the manifest. A key that would leave the store root ends the pull before anything is
// fetched; one that names nothing that syncs is left alone.
func (p *puller) scene(m *manifest.Bucket) (*scene, error) {
	sc := &scene{entries: map[string]manifest.Entry{}, kinds: map[string]key.Parsed{}, pointers: map[string]merge.Pointer{}}
	strangers := 0
	for k, e := range m.Entries {
		rel, ok := key.WithoutProject(p.r.Project, k)
		if !ok {
			continue
		}
		parsed, err := key.Parse(rel)
		switch {
		case errors.Is(err, fault.SyncPrefixEscape):
			return nil, err
		case err != nil || parsed.Kind == key.KindPointer || parsed.Kind == key.KindControl:
			strangers++
		default:
			sc.entries[rel], sc.kinds[rel] = e, parsed
		}
	}
	if strangers > 0 {
		p.s.Logf("%d keys of the bucket manifest name nothing that a pull takes: they are left alone", strangers)
	}
	// Two keys that want the same path as a file and as a folder cannot both be files.
	for rel := range sc.entries {
		for i := range rel {
			if rel[i] == '/' {
				if _, both := sc.entries[rel[:i]]; both {
					return nil, fault.New(fault.SyncManifestInvalid, p.r.Key(rel), fmt.Sprintf("the bucket manifest lists both %s and %s", rel[:i], rel))
				}
			}
		}
	}
	return sc, nil
}

func (p *puller) pointers(ctx context.Context, sc *scene, m *manifest.Bucket) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.o.Transfers)
	for table := range p.r.Tables(m) {
		group.Go(func() error {
			pointer, err := p.r.Pointer(ctx, table)
			if err != nil {
				return err
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			sc.pointers[table] = pointer
			return nil
		})
	}
	return group.Wait()
}

// attempt brings home what the scene lists. moving names a key that was not there: the manifest is worth another look. An error
// that is not final is so too, as long as there are attempts.
func (p *puller) attempt(ctx context.Context, sc *scene) (moving string, final bool, err error) {
	// The manifest is committed before a pointer: one that names a snapshot the manifest does not list is younger than it.
	for _, table := range slices.Sorted(maps.Keys(sc.pointers)) {
		if id := sc.pointers[table].SnapshotID; id != nil {
			if rel := key.SnapshotManifest(table, *id); sc.entries[rel].SHA256 == "" {
				moving = p.r.Key(rel)
			}
		}
	}
	late, early, err := p.shortfall(ctx, sc)
	if err != nil {
		return "", true, err
	}
	b := p.batch(sc, len(early)+len(late))
	b.sweep(early)
	b.sweep(late)
	gone, err := b.fetch(ctx, early)
	if err != nil {
		return gone, b.final, err
	}
	if gone != "" {
		return gone, false, nil
	}
	if err := b.mergeSchemas(ctx); err != nil {
		return "", true, err
	}
	gone, err = b.runManifests(ctx, late)
	if err != nil || gone != "" {
		return gone, b.final, err
	}
	return moving, false, nil
}

// shortfall lists what differs from the scene: run manifests (late) and all else (early), sorted. A file of this node's own that
// is here is never replaced by the bucket's: this disk is where it was written.
func (p *puller) shortfall(ctx context.Context, sc *scene) (late, early []string, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for rel, e := range sc.entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			same, here, err := p.have(ctx, rel, e)
			if err != nil || same {
				return err
			}
			parsed := sc.kinds[rel]
			if here && parsed.Node == p.s.Node() {
				if parsed.Kind != key.KindRunState {
					p.s.Logf("warning: %s differs from the bucket's: it is this node's own and stays", rel)
				}
				return nil
			}
			if here && parsed.Kind == key.KindSnapshotManifest {
				if err := p.another(parsed); err != nil {
					return err
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if parsed.Kind == key.KindRunManifest {
				late = append(late, rel)
			} else {
				early = append(early, rel)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	slices.Sort(late)
	slices.Sort(early)
	return late, early, nil
}

// another refuses where a snapshot of the same id lies here that this store made itself: two passes at one instant. A manifest that
// cannot be read is damage, which a download repairs.
func (p *puller) another(at key.Parsed) error {
	t, err := p.s.TableAt(at.Table)
	if err != nil {
		return err
	}
	if m, err := t.ReadSnapshot(at.Snapshot); err != nil || m == nil {
		return nil
	}
	rel := key.SnapshotManifest(at.Table, at.Snapshot)
	return fault.New(fault.SyncObjectConflict, p.r.Key(rel), fmt.Sprintf(
		"snapshot %s of table %q is here and in the bucket with different content: two folds made it at the same instant", at.Snapshot, at.Table))
}

// have tells whether a file is here, and whether it holds the listed bytes.
func (p *puller) have(ctx context.Context, rel string, e manifest.Entry) (same, here bool, err error) {
	info, err := p.s.FS().Stat(p.s.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil || info.Size() != e.Size {
		return false, true, err
	}
	sum, _, err := p.o.Digests.Of(ctx, p.s, rel)
	return sum == e.SHA256, true, err
}
