package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
)

// Call is one request a Memory is about to serve: what its hooks see.
type Call struct {
	Op   string // "get", "head", "list", "put" or "delete"
	Key  string // the prefix, for "list"
	Cond Condition
	Body []byte // the bytes a "put" carries
}

// Memory keeps objects in memory and compares conditions under one lock. Its ETag follows the content, as the common S3
// default does, so a body that returns to an older state also returns to its ETag.
//
// Before runs ahead of a request: an error refuses it unapplied, and the hook may itself change the bucket (a rival that comes
// first). After runs once the request was applied: an error hides its answer. Both run without the lock held.
type Memory struct {
	Before func(Call) error
	After  func(Call) error

	mu      sync.Mutex
	objects map[string][]byte
}

var _ Bucket = (*Memory)(nil)

// NewMemory makes an empty bucket.
func NewMemory() *Memory { return &Memory{objects: map[string][]byte{}} }

// Name says "memory".
func (m *Memory) Name() string { return "memory" }

func memoryTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

func (m *Memory) serve(ctx context.Context, call Call, apply func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.Before != nil {
		if err := m.Before(call); err != nil {
			return err
		}
	}
	m.mu.Lock()
	err := apply()
	m.mu.Unlock()
	if err != nil || m.After == nil {
		return err
	}
	return m.After(call)
}

// Get opens an object.
func (m *Memory) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	var body []byte
	err := m.serve(ctx, Call{Op: "get", Key: key}, func() error {
		stored, ok := m.objects[key]
		if !ok {
			return fmt.Errorf("%s: %w", key, ErrNotFound)
		}
		body = stored
		return nil
	})
	if err != nil {
		return nil, Object{}, err
	}
	return io.NopCloser(bytes.NewReader(body)), Object{Key: key, Size: int64(len(body)), ETag: memoryTag(body)}, nil
}

// Head describes an object.
func (m *Memory) Head(ctx context.Context, key string) (Object, error) {
	var o Object
	err := m.serve(ctx, Call{Op: "head", Key: key}, func() error {
		stored, ok := m.objects[key]
		if !ok {
			return fmt.Errorf("%s: %w", key, ErrNotFound)
		}
		o = Object{Key: key, Size: int64(len(stored)), ETag: memoryTag(stored)}
		return nil
	})
	return o, err
}

// List visits the objects under prefix in byte order.
func (m *Memory) List(ctx context.Context, prefix string, visit func(Object) error) error {
	var found []Object
	err := m.serve(ctx, Call{Op: "list", Key: prefix}, func() error {
		for key, body := range m.objects {
			if strings.HasPrefix(key, prefix) {
				found = append(found, Object{Key: key, Size: int64(len(body)), ETag: memoryTag(body)})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	for _, o := range found {
		if err := visit(o); err != nil {
			return err
		}
	}
	return nil
}

// Put stores body where cond holds.
func (m *Memory) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition) (Object, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return Object{}, err
	}
	if int64(len(data)) != size {
		return Object{}, fmt.Errorf("%s: body holds %d bytes, %d were announced", key, len(data), size)
	}
	err = m.serve(ctx, Call{Op: "put", Key: key, Cond: cond, Body: data}, func() error {
		stored, exists := m.objects[key]
		if cond.IfAbsent && exists {
			return fmt.Errorf("%s exists: %w", key, ErrCondition)
		}
		if cond.IfMatch != "" && (!exists || memoryTag(stored) != cond.IfMatch) {
			return fmt.Errorf("%s moved: %w", key, ErrCondition)
		}
		m.objects[key] = data
		return nil
	})
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: size, ETag: memoryTag(data)}, nil
}

// Delete removes an object.
func (m *Memory) Delete(ctx context.Context, key string) error {
	return m.serve(ctx, Call{Op: "delete", Key: key}, func() error {
		delete(m.objects, key)
		return nil
	})
}

// Set stores an object past every hook and condition: what a test plants.
func (m *Memory) Set(key string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = append([]byte(nil), body...)
}

// Peek reads an object past every hook; ok is false where none is.
func (m *Memory) Peek(key string) (body []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, ok = m.objects[key]
	return append([]byte(nil), body...), ok
}

// Keys lists every key in byte order, past every hook.
func (m *Memory) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]string, 0, len(m.objects))
	for key := range m.objects {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
