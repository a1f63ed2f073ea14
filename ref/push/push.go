// Package push brings a store's own contribution to its bucket: uploads, schemas, the bucket manifest, then the pointers.
// Composite of merge, with the probe run by its caller's Prove.
//
// Answers: store.push.manifest-commit, store.push.pointer-fenced, store.merge.retries, store.merge.exhausted, store.emit.plan,
// store.probe.unproven.
//
// Nothing that is uploaded is visible before manifest.json lists it, and no pointer names a snapshot before that. A push that
// dies between two steps leaves objects that the next one finds and completes.
package push

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// DefaultTransfers is how many objects move at once where nothing is configured.
const DefaultTransfers = 16

// Options: Bucket is below its prefix. Prove refuses where the bucket has not shown conditional writes; nil under coordination
// "single-writer", whose Bucket is a bucket.SingleWriter. Zero values: Transfers 16, Retries 5, Pause commit.Sleep.
type Options struct {
	Bucket    bucket.Bucket
	Prove     func(context.Context) error
	Retries   int
	Transfers int
	Pause     commit.Pause
	Digests   *merge.Digests
	// Progress is told after each uploaded object: how many of total, and the bytes so far. One call at a time.
	Progress func(done, total int, bytes int64)
	// Candidates are snapshots to publish that no local pointer names yet, by table. They publish or the push refuses: with
	// LeaseFenced below the bucket's fence, SyncPointerDiverged beside its branch.
	Candidates merge.Candidates
	// Base is, by table, the ETag of the bucket's pointer that a candidate was made over, "" where there was none: it replaces
	// that pointer and no other, whatever stands there by then (store.fold.pointer-commit).
	Base map[string]string
}

// Report is what `sync push --json` prints. KeptLocal names the tables whose pointer stays local.
type Report struct {
	Generation int64    `json:"generation"`
	Uploaded   int      `json:"uploaded"`
	Bytes      int64    `json:"bytes"`
	KeptLocal  []string `json:"kept_local"`
	Attempts   int      `json:"attempts"`
}

// Emit gives the bucket manifest that a first push of this store into an empty bucket commits, reading and writing no bucket
// object (store.emit.plan).
func Emit(ctx context.Context, s *store.Store, digests *merge.Digests) (*manifest.Bucket, error) {
	r, err := merge.NewRemote(s, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := identified(s); err != nil {
		return nil, err
	}
	if digests == nil {
		digests = merge.NewDigests()
	}
	local, err := r.Scan(ctx, s, digests, nil)
	if err != nil {
		return nil, err
	}
	m := &manifest.Bucket{Format: 1, Generation: 1, CommittedAt: manifest.At(s.Clock().Now()), CommittedBy: s.Node(),
		Entries: local.Entries, Tombstones: map[string]manifest.Tombstone{}, Pointers: map[string]manifest.Pointer{}}
	for table, p := range local.Pointers {
		m.Pointers[r.Key(key.Pointer(table))] = p
	}
	return m, nil
}

func identified(s *store.Store) error {
	if _, ok := s.Identity(); ok {
		return nil
	}
	return fault.New(fault.StoreIdentityInvalid, s.Path(key.StoreIDName), "this store has no store-id, so nothing says whose bucket it may write").
		WithHint("a clone pulls first and takes the bucket's; a new store runs contextful init")
}

// Run pushes. Refusals: StoreIdentityInvalid, StoreIdentityConflict, SyncCoordinationUnproven, SyncObjectConflict,
// SyncManifestRebaseExhausted naming what was uploaded, SyncUnreachable, and those of reading the store. The report is filled as
// far as it came, also beside an error.
func Run(ctx context.Context, s *store.Store, o Options) (Report, error) {
	report := Report{KeptLocal: []string{}}
	p, err := start(s, o)
	if err != nil {
		return report, err
	}
	lock, err := s.LockPush(ctx)
	if err != nil {
		return report, err
	}
	defer func() { _ = lock.Unlock() }() // it dies with this process at the latest
	err = p.run(ctx)
	report.Uploaded, report.Bytes, report.Attempts = len(p.uploaded), p.bytes, p.attempts
	report.Generation = p.generation
	report.KeptLocal = slices.Sorted(maps.Keys(p.kept))
	if report.KeptLocal == nil {
		report.KeptLocal = []string{}
	}
	return report, p.tell(err)
}

type pusher struct {
	s     *store.Store
	o     Options
	r     *merge.Remote
	local *merge.Local

	mu         sync.Mutex
	uploaded   []string
	bytes      int64
	done       int // objects of the current batch
	confirmed  map[string]manifest.Entry
	state      []byte // this node's run state, as this round lists it
	schemas    map[string]manifest.Entry
	attempts   int
	generation int64
	publish    map[string]bool          // tables whose pointer this push publishes
	seen       map[string]merge.Pointer // the bucket's pointers of those, as they were judged
	kept       map[string]string        // tables whose pointer stays local, and why
}

func start(s *store.Store, o Options) (*pusher, error) {
	r, err := merge.NewRemote(s, o.Bucket, o.Pause)
	if err != nil {
		return nil, err
	}
	if err := identified(s); err != nil {
		return nil, err
	}
	if o.Transfers <= 0 {
		o.Transfers = DefaultTransfers
	}
	if o.Digests == nil {
		o.Digests = merge.NewDigests()
	}
	return &pusher{s: s, o: o, r: r, confirmed: map[string]manifest.Entry{}, schemas: map[string]manifest.Entry{},
		publish: map[string]bool{}, kept: map[string]string{}}, nil
}

func (p *pusher) run(ctx context.Context) error {
	claimed, err := p.identity(ctx)
	if err != nil {
		return err
	}
	state, err := p.r.Manifest(ctx)
	if err != nil {
		return err
	}
	p.generation = state.Manifest.Generation
	if p.local, err = p.r.Scan(ctx, p.s, p.o.Digests, p.o.Candidates); err != nil {
		return err
	}
	if err := p.conflicts(state.Manifest); err != nil {
		return err
	}
	// The first object of all says whose bucket this is: of two stores that begin at once, one stops here.
	if !claimed {
		if err := p.claim(ctx); err != nil {
			return err
		}
	}
	done, err := p.r.Commit(ctx, state, p.o.Retries, p.plan)
	p.attempts, p.generation = done.Attempts, done.State.Manifest.Generation
	if err != nil {
		return err
	}
	if done.CopyErr != nil {
		p.s.Logf("warning: generation %d has no copy yet, the next push writes it: %v", p.generation, done.CopyErr)
	}
	return p.pointers(ctx)
}

// identity compares the stores before anything is written, then asks for the proof. A bucket that cannot even be read is the
// proof's to judge where one is wanted.
func (p *pusher) identity(ctx context.Context) (claimed bool, err error) {
	own, _ := p.s.Identity()
	read := func() (bool, error) {
		remote, ok, err := p.r.Identity(ctx)
		if err != nil || !ok {
			return false, err
		}
		return true, p.r.CheckIdentity(own, remote)
	}
	claimed, err = read()
	if p.o.Prove == nil || err != nil && !errors.Is(err, fault.SyncUnreachable) {
		return claimed, err
	}
	if err := p.o.Prove(ctx); err != nil {
		return false, err
	}
	if err != nil {
		return read()
	}
	return claimed, nil
}

func (p *pusher) claim(ctx context.Context) error {
	k := p.r.Key(key.StoreIDName)
	own, _ := p.s.Identity()
	result, err := commit.Put(ctx, p.o.Bucket, p.r.Pause, k, commit.Bytes(store.IdentityBytes(own)), bucket.Condition{IfAbsent: true})
	if err != nil {
		return commit.Failure(p.o.Bucket.Name(), k, err)
	}
	if result.Outcome == commit.Applied {
		p.count(k, int64(len(store.IdentityBytes(own))))
		return nil
	}
	remote, _, err := p.r.Identity(ctx)
	if err != nil {
		return err
	}
	return p.r.CheckIdentity(own, remote)
}

// mutable tells whether the owner of a key replaces it: everything else is written once.
func mutable(rel string) bool {
	parsed, err := key.Parse(rel)
	return err == nil && (parsed.Kind == key.KindRunState || parsed.Kind == key.KindSchema)
}

// conflicts refuses before any upload where the bucket lists one of our immutable keys with other bytes.
func (p *pusher) conflicts(m *manifest.Bucket) error {
	for _, k := range slices.Sorted(maps.Keys(p.local.Entries)) {
		ours, theirs := p.local.Entries[k], m.Entries[k]
		rel, _ := key.WithoutProject(p.r.Project, k)
		if rel == key.StoreIDName { // claim's to judge: another there is another store, not another object
			continue
		}
		if theirs.SHA256 != "" && theirs.SHA256 != ours.SHA256 && !mutable(rel) {
			return conflict(k, ours, theirs.SHA256)
		}
	}
	return nil
}

func conflict(k string, ours manifest.Entry, theirs string) error {
	return fault.New(fault.SyncObjectConflict, k, fmt.Sprintf(
		"%s is in the bucket with other bytes: here sha256 %s, there %s; it is written once and never replaced", k, ours.SHA256, theirs)).
		WithHint("two machines with one node id, or a damaged file: contextful context check looks at this store")
}

// plan brings to the bucket what the next manifest will list and makes that manifest; nil where the bucket lists it all.
func (p *pusher) plan(ctx context.Context, state *merge.State) (*manifest.Bucket, error) {
	if err := p.conflicts(state.Manifest); err != nil {
		return nil, err
	}
	if err := p.judge(ctx, state.Manifest); err != nil {
		return nil, err
	}
	wanted := p.wanted(state.Manifest)
	if err := p.readState(wanted); err != nil {
		return nil, err
	}
	if err := p.upload(ctx, state.Manifest, wanted); err != nil {
		return nil, err
	}
	if err := p.pushSchemas(ctx, state.Manifest, wanted); err != nil {
		return nil, err
	}
	m := *state.Manifest
	m.Entries, m.Pointers = maps.Clone(m.Entries), maps.Clone(m.Pointers)
	for k, e := range wanted {
		m.Entries[k] = e
	}
	for table := range p.publish {
		m.Pointers[p.r.Key(key.Pointer(table))] = p.local.Pointers[table]
	}
	if maps.Equal(m.Entries, state.Manifest.Entries) && samePointers(m.Pointers, state.Manifest.Pointers) {
		return nil, nil
	}
	m.Format = 1
	if len(m.Collected) > 0 {
		m.Format = 2
	}
	m.CommittedAt, m.CommittedBy = manifest.At(p.s.Clock().Now()), p.s.Node()
	return &m, nil
}

func samePointers(a, b map[string]manifest.Pointer) bool {
	return maps.EqualFunc(a, b, func(x, y manifest.Pointer) bool {
		return equal(x.SnapshotID, y.SnapshotID) && equal(x.Fence, y.Fence)
	})
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// wanted is the contribution as it may be listed: what a collected record names stays away, and of a snapshot chain that stays
// local only what the bucket lists already.
func (p *pusher) wanted(m *manifest.Bucket) map[string]manifest.Entry {
	wanted := make(map[string]manifest.Entry, len(p.local.Entries))
	for k, e := range p.local.Entries {
		if _, collected := m.Collected[k]; collected {
			continue
		}
		rel, _ := key.WithoutProject(p.r.Project, k)
		parsed, err := key.Parse(rel)
		if err == nil && parsed.Snapshot != "" {
			if _, listed := m.Entries[k]; !listed && p.kept[parsed.Table] != "" {
				continue
			}
		}
		wanted[k] = e
	}
	return wanted
}

func (p *pusher) upload(ctx context.Context, m *manifest.Bucket, wanted map[string]manifest.Entry) error {
	var todo []string
	for k, e := range wanted {
		rel, _ := key.WithoutProject(p.r.Project, k)
		if parsed, err := key.Parse(rel); err == nil && (parsed.Kind == key.KindSchema || parsed.Kind == key.KindStoreID) {
			continue
		}
		if listed := m.Entries[k]; listed.SHA256 != e.SHA256 && p.confirmed[k].SHA256 != e.SHA256 {
			todo = append(todo, k)
		}
	}
	slices.Sort(todo)
	p.done = 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.o.Transfers)
	for _, k := range todo {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return p.one(ctx, k, wanted[k], len(todo))
		})
	}
	return group.Wait()
}

func (p *pusher) count(k string, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uploaded = append(p.uploaded, k)
	p.bytes += size
}

func (p *pusher) pushSchemas(ctx context.Context, m *manifest.Bucket, wanted map[string]manifest.Entry) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.o.Transfers)
	for _, table := range p.local.Schemas {
		k := p.r.Key(key.Schema(table))
		p.mu.Lock()
		known := p.schemas[table]
		p.mu.Unlock()
		// What we left in the bucket stands as long as nobody lists another: each round looks again where somebody does.
		if known.SHA256 != "" && m.Entries[k].SHA256 == known.SHA256 {
			continue
		}
		group.Go(func() error {
			entry, written, err := p.r.PushSchema(ctx, p.s, table)
			if err != nil {
				return err
			}
			if written > 0 {
				p.count(k, written)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.schemas[table] = entry
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for table, entry := range p.schemas {
		wanted[p.r.Key(key.Schema(table))] = entry
	}
	return nil
}

// tell adds to a refusal of the manifest what is in the bucket all the same (store.merge.exhausted).
func (p *pusher) tell(err error) error {
	var e *fault.Error
	if err == nil || len(p.uploaded) == 0 || !errors.As(err, &e) || e.Code != fault.SyncManifestRebaseExhausted {
		return err
	}
	slices.Sort(p.uploaded)
	told := *e
	told.Message += fmt.Sprintf("; %d uploaded objects are in the bucket and not yet listed: %s", len(p.uploaded), strings.Join(p.uploaded, ", "))
	return &told
}
