// Package nodetest is for the tests of the verbs that share a bucket: a fake S3 and nodes on it, whose tables hold files that
// only say what they are. No package of the program imports it.
package nodetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextful/fakes/s3cas"
	"contextful/ref/bucket"
	"contextful/ref/bucket/s3bucket"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/manifest"

	"github.com/stretchr/testify/require"
)

// Bucket is the fake's one bucket; the store lies below team/p/ in it.
const Bucket = "bkt"

// World is a fake S3 that ends with its test.
type World struct {
	S3 *s3cas.Server
	t  testing.TB
}

func New(t testing.TB) *World {
	t.Helper()
	s, err := s3cas.New(s3cas.Options{Buckets: []string{Bucket}}).Start()
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return &World{S3: s, t: t}
}

// Node is a machine with an empty disk; its name is the principal of its requests.
func (w *World) Node(name string) *Node {
	w.t.Helper()
	w.S3.AddPrincipal("AK"+name, "SK", name)
	b, err := s3bucket.Open(s3bucket.Options{URL: w.S3.URL(), Region: "us-east-1", PathStyle: true, Bucket: Bucket, AccessKeyID: "AK" + name, SecretAccessKey: "SK"})
	require.NoError(w.t, err)
	return &Node{Name: name, Root: w.t.TempDir() + "/store", Project: &decl.Project{Name: "p"}, Bucket: bucket.Under(b, "team"), Sec: 1000, t: w.t}
}

// Alpha is a node of that name whose store is initialised.
func (w *World) Alpha() *Node {
	w.t.Helper()
	n := w.Node("alpha")
	n.Init()
	return n
}

// Manifest is the bucket's manifest, which must be there.
func (w *World) Manifest() *manifest.Bucket {
	w.t.Helper()
	body, _, ok := w.S3.Get(Bucket, "team/manifest.json")
	if !ok {
		w.t.Fatal("the bucket has no manifest")
	}
	m, err := manifest.DecodeBucket("manifest.json", body)
	require.NoError(w.t, err)
	return m
}

// Plant replaces the bucket's manifest behind everybody's back.
func (w *World) Plant(m *manifest.Bucket) {
	w.t.Helper()
	body, err := manifest.EncodeBucket(m)
	require.NoError(w.t, err)
	w.S3.Put(Bucket, "team/manifest.json", body)
}

// Pointer is the bucket's pointer of a table, nil where there is none.
func (w *World) Pointer(table string) *manifest.Pointer {
	w.t.Helper()
	body, _, ok := w.S3.Get(Bucket, "team/p/tables/"+table+"/_pointer.json")
	if !ok {
		return nil
	}
	p, err := manifest.DecodePointer("pointer", body)
	require.NoError(w.t, err)
	return p
}

// Inject adds the faults that text describes (fakes/s3cas).
func (w *World) Inject(text string) []*s3cas.Injection {
	w.t.Helper()
	in, err := w.S3.InjectText(text)
	require.NoError(w.t, err)
	return in
}

// Misleading are faults that each make the answer to the first write of a key say something else than what became of it. put is
// Put or PutIfMatch.
func Misleading(put, key string) []string {
	of := fmt.Sprintf(`(And %s (Key %q) (OnIndex 0))`, put, key)
	return []string{
		`(ApplyThenDrop ` + of + `)`,
		`(ApplyThen 412 ` + of + `)`,
		`(Drop ` + of + `)`,
		`(Late 1 ` + of + `)`,
		`(Respond 409 "ConditionalRequestConflict" ` + of + `)`,
	}
}

// Puts counts the nodes' uploads of a key, without those of the fake's rival and those that the fake applies late.
func (w *World) Puts(key string) int {
	return len(w.S3.JournalFor(s3cas.Filter{Key: key, Ops: []s3cas.Op{s3cas.OpPut}, Where: func(e s3cas.Entry) bool { return e.Principal != "rival" && !e.Late }}))
}

// NoPause stands for the wait between two attempts.
func NoPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// Refused wants an error of that code whose text names all words.
func Refused(t testing.TB, err error, code fault.Code, words ...string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("%v does not name %q", err, w)
		}
	}
}
