package lease

import (
	"context"
	"errors"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/manifest"
)

// readPointer gets the table's bucket pointer; nil where there is none.
func (c *client) readPointer(ctx context.Context) (*manifest.Pointer, string, error) {
	k := c.subject.pointer(c.Project)
	data, o, err := commit.Read(ctx, c.Bucket, c.Pause, k, manifest.MaxPointer)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", commit.Failure(c.Bucket.Name(), k, err)
	}
	p, err := manifest.DecodeBucketPointer(k, data)
	return p, o.ETag, err
}

func (c *client) pointerFence(ctx context.Context) (int64, error) {
	p, _, err := c.readPointer(ctx)
	if err != nil || p == nil || p.Fence == nil {
		return 0, err
	}
	return *p.Fence, nil
}

// raise writes the fence into the table's bucket pointer, keeping its snapshot; where there is no pointer it creates one that
// names none, so that even a first publisher who slept through the lease finds its condition broken (store.lease.pointer-fence).
func (c *client) raise(ctx context.Context, fence int64) error {
	k := c.subject.pointer(c.Project)
	for range rounds {
		p, etag, err := c.readPointer(ctx)
		if err != nil {
			return err
		}
		next := manifest.Pointer{Fence: &fence, Writer: c.Node, Nonce: commit.Nonce()}
		cond := bucket.Condition{IfAbsent: true}
		if p != nil {
			if p.Fence != nil && *p.Fence > fence {
				return Fenced(c.key, c.subject.what, fence, *p.Fence)
			}
			if p.Fence != nil && *p.Fence == fence {
				return nil
			}
			next.SnapshotID, cond = p.SnapshotID, bucket.Condition{IfMatch: etag}
		}
		data, err := manifest.EncodePointer(&next)
		if err != nil {
			return err
		}
		r, err := commit.Put(ctx, c.Bucket, c.Pause, k, commit.Bytes(data), cond)
		if err != nil {
			return commit.Failure(c.Bucket.Name(), k, err)
		}
		if r.Outcome == commit.Applied {
			return nil
		}
	}
	return c.restless()
}
