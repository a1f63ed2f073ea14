package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Under shows the part of b below prefix: keys go in and come out relative to it. An empty prefix is the whole bucket.
func Under(b Bucket, prefix string) Bucket {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return b
	}
	return &scoped{inner: b, prefix: prefix + "/"}
}

type scoped struct {
	inner  Bucket
	prefix string
}

func (s *scoped) Name() string {
	return s.inner.Name() + ", prefix " + strings.TrimSuffix(s.prefix, "/")
}

func (s *scoped) relative(o Object) Object {
	o.Key = strings.TrimPrefix(o.Key, s.prefix)
	return o
}

func (s *scoped) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	body, o, err := s.inner.Get(ctx, s.prefix+key)
	return body, s.relative(o), err
}

func (s *scoped) Head(ctx context.Context, key string) (Object, error) {
	o, err := s.inner.Head(ctx, s.prefix+key)
	return s.relative(o), err
}

func (s *scoped) List(ctx context.Context, prefix string, visit func(Object) error) error {
	return s.inner.List(ctx, s.prefix+prefix, func(o Object) error { return visit(s.relative(o)) })
}

func (s *scoped) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition) (Object, error) {
	o, err := s.inner.Put(ctx, s.prefix+key, body, size, cond)
	return s.relative(o), err
}

func (s *scoped) Delete(ctx context.Context, key string) error {
	return s.inner.Delete(ctx, s.prefix+key)
}

// SingleWriter turns b into a bucket for a store that declares itself its only writer: a condition is looked at with a HEAD
// and then the object is written plainly, so a storage without conditional writes can serve. Two writers at once would
// overwrite each other; that is what the declaration promises not to happen.
func SingleWriter(b Bucket) Bucket { return &singleWriter{b} }

type singleWriter struct{ Bucket }

func (s *singleWriter) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition) (Object, error) {
	if cond != (Condition{}) {
		o, err := s.Head(ctx, key)
		switch {
		case err != nil && !errors.Is(err, ErrNotFound):
			return Object{}, err
		case cond.IfAbsent && err == nil:
			return Object{}, fmt.Errorf("%s exists: %w", key, ErrCondition)
		case cond.IfMatch != "" && (err != nil || o.ETag != cond.IfMatch):
			return Object{}, fmt.Errorf("%s moved: %w", key, ErrCondition)
		}
	}
	return s.Bucket.Put(ctx, key, body, size, Condition{})
}
