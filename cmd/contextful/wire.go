package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/ref/bucket"
	"contextful/ref/bucket/dirbucket"
	"contextful/ref/bucket/s3bucket"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/lease"
	"contextful/ref/probe"
	"contextful/ref/store"
)

// session is what most commands need: the declaration, the configuration and the open store.
type session struct {
	project *decl.Project
	config  *decl.Config
	store   *store.Store
}

// open finds the project and opens its store.
func (a *app) open(ctx context.Context) (*session, error) {
	project, err := a.loadProject()
	if err != nil {
		return nil, err
	}
	config, err := decl.LoadConfig(nil, project.StoreRoot())
	if err != nil {
		return nil, err
	}
	if err := config.Unserved(); err != nil {
		return nil, err
	}
	options, err := a.storeOptions(config)
	if err != nil {
		return nil, err
	}
	options.Project, options.Root = project, project.StoreRoot()
	s, err := store.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	return &session{project, config, s}, nil
}

// storeOptions resolves node and clock; Project and Root are the caller's.
func (a *app) storeOptions(config *decl.Config) (store.Options, error) {
	node, err := decl.ResolveNode(os.Getenv, config)
	if err != nil {
		return store.Options{}, err
	}
	clock, err := a.clock()
	if err != nil {
		return store.Options{}, err
	}
	if a.lockTimeout < 0 {
		return store.Options{}, usageError{fmt.Errorf("--lock-timeout is %s, but a wait is 0 or longer", a.lockTimeout)}
	}
	return store.Options{
		Config: config, Node: node, Clock: clock, LockTimeout: max(a.lockTimeout, 1), // 0 would be the store's own default
		Log: func(line string) { a.log("%s", line) },
	}, nil
}

// scratch is a directory for files that live only as long as the process, beside the store so that they are on its disk.
func (s *session) scratch() (string, error) {
	dir := filepath.Join(s.store.Root(), ".scratch")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.New(fault.StoreWriteFailed, dir, dir+" could not be made, and temporary files lie there").Wrap(err)
	}
	return dir, nil
}

// remote is the configured bucket, below its prefix, with what its commands need to know of it.
type remote struct {
	sync   *decl.Sync
	bucket bucket.Bucket
}

// connect builds the bucket of config.toml; it sends nothing.
func (s *session) connect() (*remote, error) {
	sync, err := s.config.RequireSync(os.Getenv)
	if err != nil {
		return nil, err
	}
	raw, err := rawBucket(sync)
	if err != nil {
		return nil, err
	}
	if sync.Coordination == decl.CoordinationSingleWriter {
		raw = bucket.SingleWriter(raw)
	}
	return &remote{sync, bucket.Under(raw, sync.Prefix)}, nil
}

// openRemote opens the store and builds its bucket, for the commands that take no table.
func (a *app) openRemote(ctx context.Context) (*session, *remote, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.connect()
	return s, r, err
}

func rawBucket(sync *decl.Sync) (bucket.Bucket, error) {
	if sync.Endpoint.Scheme == "file" {
		return dirbucket.Open(sync.Endpoint.Dir)
	}
	values := make([]string, 3)
	var missing error
	for i, secret := range []decl.Secret{sync.AccessKeyID, sync.SecretAccessKey, sync.SessionToken} {
		value, err := secret.Value(os.Getenv)
		values[i], missing = value, errors.Join(missing, err)
	}
	if missing != nil {
		return nil, missing
	}
	return s3bucket.Open(s3bucket.Options{
		URL: sync.Endpoint.URL, Region: sync.Endpoint.Region, PathStyle: sync.Endpoint.PathStyle, Bucket: sync.Bucket,
		AccessKeyID: values[0], SecretAccessKey: values[1], SessionToken: values[2], Transfers: sync.Transfers,
	})
}

// probe asks the bucket whether it enforces conditions.
func (r *remote) probe(ctx context.Context) (probe.Report, error) {
	addressing := "virtual-hosted"
	switch {
	case r.sync.Endpoint.Scheme == "file":
		addressing = "directory"
	case r.sync.Endpoint.PathStyle:
		addressing = "path"
	}
	return probe.Run(ctx, probe.Options{
		Bucket: r.bucket, Endpoint: endpointOf(r.sync), Region: r.sync.Endpoint.Region, Addressing: addressing,
	})
}

func endpointOf(sync *decl.Sync) string {
	if sync.Endpoint.Scheme == "file" {
		return sync.Endpoint.Text
	}
	return strings.TrimSuffix(sync.Endpoint.URL, "/")
}

// prove is the check before anything is written under coordination "cas"; nil where there is a single writer.
func (r *remote) prove() func(context.Context) error {
	if r.sync.Coordination == decl.CoordinationSingleWriter {
		return nil
	}
	return func(ctx context.Context) error {
		report, err := r.probe(ctx)
		return probe.Require(r.bucket.Name(), report, err)
	}
}

func (s *session) leaseOptions(r *remote) lease.Options {
	return lease.Options{Bucket: r.bucket, Project: s.project.Name, Node: s.store.Node(), Clock: s.store.Clock(), Prove: r.prove()}
}
