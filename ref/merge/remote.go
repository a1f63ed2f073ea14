// Package merge is what push and pull know together: how a bucket is read, what a store contributes to it, how both become one
// bucket manifest, which way two table pointers lie, and the loop that commits the manifest.
//
// Answers: store.merge.retries, store.merge.round-ceiling, store.merge.exhausted, store.merge.ownership (through key.Owner),
// store.push.manifest-commit, store.push.pointer-fenced, store.pull.pointer-read.
//
//	<prefix>/manifest.json                 the bucket manifest: replaced under If-Match on the ETag it was merged from
//	<prefix>/manifests/gen-<N>.json        its copy, one per generation, never replaced
//	<prefix>/<project>/tables/<t>/_pointer.json   never among the manifest's entries; read by key, replaced by its own ETag
package merge

import (
	"context"
	"errors"
	"fmt"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

// Remote reads one project's part of a bucket. Bucket is below its prefix; Pause nil is commit.Sleep.
type Remote struct {
	Bucket  bucket.Bucket
	Project string
	Pause   commit.Pause
}

// NewRemote takes the project's name from the store's declaration; without one it refuses with ProjectNotFound.
func NewRemote(s *store.Store, b bucket.Bucket, pause commit.Pause) (*Remote, error) {
	if s.Project() == nil || s.Project().Name == "" {
		return nil, fault.New(fault.ProjectNotFound, s.Root(), "a sync needs the project's declaration: its name is part of every key")
	}
	if pause == nil {
		pause = commit.Sleep
	}
	return &Remote{Bucket: b, Project: s.Project().Name, Pause: pause}, nil
}

// Key puts a store-relative path under the project.
func (r *Remote) Key(rel string) string { return key.InProject(r.Project, rel) }

// State is the bucket manifest as it was read: ETag "" and generation 0 where there is none yet.
type State struct {
	Manifest *manifest.Bucket
	ETag     string
	Body     []byte
}

// Manifest reads manifest.json. Refusals: SyncManifestInvalid, SyncPrefixEscape, SyncUnreachable.
func (r *Remote) Manifest(ctx context.Context) (*State, error) {
	data, o, err := commit.Read(ctx, r.Bucket, r.Pause, key.BucketManifest, manifest.MaxBucket)
	if errors.Is(err, bucket.ErrNotFound) {
		empty, err := manifest.DecodeBucket(key.BucketManifest, []byte("{}"))
		return &State{Manifest: empty}, err
	}
	if err != nil {
		return nil, r.failed(key.BucketManifest, err)
	}
	m, err := manifest.DecodeBucket(key.BucketManifest, data)
	return &State{Manifest: m, ETag: o.ETag, Body: data}, err
}

func (r *Remote) failed(k string, err error) error { return commit.Failure(r.Bucket.Name(), k, err) }

// Identity reads the project's store-id; ok is false where the bucket has none. Refusals: StoreIdentityInvalid naming the key.
func (r *Remote) Identity(ctx context.Context) (id string, ok bool, err error) {
	k := r.Key(key.StoreIDName)
	data, _, err := commit.Read(ctx, r.Bucket, r.Pause, k, 1<<10)
	if errors.Is(err, bucket.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, r.failed(k, err)
	}
	id, err = store.ParseIdentity(k, data)
	return id, err == nil, err
}

// CheckIdentity refuses with StoreIdentityConflict where the bucket belongs to another store than id.
func (r *Remote) CheckIdentity(id, remote string) error {
	if id == remote {
		return nil
	}
	return fault.New(fault.StoreIdentityConflict, r.Key(key.StoreIDName), fmt.Sprintf(
		"this store is %s and project %s in %s is %s: they are two stores, and nothing is copied between them", id, r.Project, r.Bucket.Name(), remote)).
		WithHint("to work on the bucket's store use a clone: the same declaration and config.toml, and no store-id before its first pull")
}

// Pointer is a table's bucket pointer with its ETag, "" where there is none.
type Pointer struct {
	manifest.Pointer
	ETag string
}

// Pointer reads a table's pointer by its key (store.pull.pointer-read).
func (r *Remote) Pointer(ctx context.Context, table string) (Pointer, error) {
	k := r.Key(key.Pointer(table))
	data, o, err := commit.Read(ctx, r.Bucket, r.Pause, k, manifest.MaxPointer)
	if errors.Is(err, bucket.ErrNotFound) {
		return Pointer{}, nil
	}
	if err != nil {
		return Pointer{}, r.failed(k, err)
	}
	p, err := manifest.DecodeBucketPointer(k, data)
	if err != nil {
		return Pointer{}, err
	}
	return Pointer{Pointer: *p, ETag: o.ETag}, nil
}

// Snapshot reads a snapshot's manifest from the bucket; nil where there is none.
func (r *Remote) Snapshot(ctx context.Context, table, id string) (*manifest.Snapshot, error) {
	rel := key.SnapshotManifest(table, id)
	data, _, err := commit.Read(ctx, r.Bucket, r.Pause, r.Key(rel), manifest.MaxSnapshot)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, r.failed(r.Key(rel), err)
	}
	return manifest.DecodeSnapshot(rel, data)
}

// Tables names the tables of the project that the manifest lists anything of, sorted by the caller's range over a set.
func (r *Remote) Tables(m *manifest.Bucket) map[string]bool {
	tables := map[string]bool{}
	note := func(k string) {
		if rel, ok := key.WithoutProject(r.Project, k); ok {
			if p, err := key.Parse(rel); err == nil && p.Table != "" {
				tables[p.Table] = true
			}
		}
	}
	for k := range m.Entries {
		note(k)
	}
	for k := range m.Pointers {
		note(k)
	}
	return tables
}

// KeepGeneration writes the copy of a generation where it is not there yet. body is the manifest as it stands in the bucket.
func (r *Remote) KeepGeneration(ctx context.Context, generation int64, body []byte) error {
	k := key.Generation(generation)
	_, err := r.Bucket.Head(ctx, k)
	if err == nil {
		return nil
	}
	// Whoever committed the generation wrote the same bytes: another object there is no other generation.
	_, err = commit.Put(ctx, r.Bucket, r.Pause, k, commit.Bytes(body), bucket.Condition{IfAbsent: true})
	return r.failed(k, err)
}
