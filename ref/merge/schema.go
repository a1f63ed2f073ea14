package merge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// PushSchema merges a table's local schema into the bucket's schema.json: read, merge, replace under If-Match, again where
// another came first. It gives the entry of what the bucket holds then, and how many bytes were written (0 where the bucket's
// already covers ours). Refusals: schema.Merge's, with nothing written.
func (r *Remote) PushSchema(ctx context.Context, s *store.Store, table string) (entry manifest.Entry, written int64, err error) {
	rel := key.Schema(table)
	own, err := vfs.ReadFile(s.FS(), s.Path(rel), schema.MaxJSON)
	if err != nil {
		return entry, 0, err
	}
	local, err := schema.Decode(own, rel)
	if err != nil {
		return entry, 0, err
	}
	k := r.Key(rel)
	for range 16 {
		data, o, err := commit.Read(ctx, r.Bucket, r.Pause, k, schema.MaxJSON)
		cond := bucket.Condition{IfMatch: o.ETag}
		body := own
		switch {
		case errors.Is(err, bucket.ErrNotFound):
			cond = bucket.Condition{IfAbsent: true}
		case err != nil:
			return entry, 0, r.failed(k, err)
		default:
			grown, merged, err := joined(k, data, local)
			if err != nil {
				return entry, 0, err
			}
			if !grown {
				return entryOf(data), 0, nil
			}
			body = merged
		}
		result, err := commit.Put(ctx, r.Bucket, r.Pause, k, commit.Bytes(body), cond)
		if err != nil {
			return entry, 0, r.failed(k, err)
		}
		if result.Outcome == commit.Applied {
			return entryOf(body), int64(len(body)), nil
		}
	}
	return entry, 0, fault.New(fault.SyncUnreachable, k, k+" was replaced by others 16 times in a row").WithHint("run the push again")
}

// joined merges ours into the bucket's: grown tells whether that adds anything.
func joined(k string, data []byte, local *schema.Schema) (grown bool, body []byte, err error) {
	stored, err := schema.Decode(data, k)
	if err != nil {
		return false, nil, fault.New(fault.SyncManifestInvalid, k, k+" in the bucket is no schema").Wrap(err)
	}
	merged, err := schema.Merge(stored, local, nil)
	if err != nil || merged.Equal(stored) {
		return false, nil, err
	}
	body, err = schema.Encode(merged)
	return true, body, err
}

func entryOf(body []byte) manifest.Entry {
	sum := sha256.Sum256(body)
	return manifest.Entry{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(body))}
}
