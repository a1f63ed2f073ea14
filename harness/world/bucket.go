package world

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/services"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const bucketName = "conform"

// Prefix of every embedded scenario in its bucket; each scenario has a server of its own.
const fakePrefix = "team"

// A Bucket is what the nodes of a scenario share, as the kit looks at it: past the journal, past every fault. Keys are
// relative to the prefix.
type Bucket interface {
	// Settings are the [sync] lines that reach it: endpoint, bucket, prefix, region.
	Settings() map[string]string
	Get(ctx context.Context, key string) ([]byte, error) // fs.ErrNotExist where there is none
	Put(ctx context.Context, key string, body []byte) error
	Delete(ctx context.Context, key string) error
	Keys(ctx context.Context, prefix string) ([]string, error) // sorted
}

// Bucket is the scenario's.
func (w *World) Bucket() Bucket { return w.bucket }

// Fake is the embedded server, for faults, gates, modes and the journal. A scenario on another bucket has none.
func (w *World) Fake() (*s3cas.Server, error) {
	if w.fake == nil {
		return nil, errors.New("this scenario's bucket is not the embedded fake: it has no journal and takes no faults")
	}
	return w.fake, nil
}

// BucketName and FullKey are how the fake's own predicates and journal name things.
func (w *World) BucketName() string { return bucketName }

// FullKey puts the prefix before a key relative to it.
func (w *World) FullKey(key string) string { return path.Join(fakePrefix, key) }

// Title is the project's name.
func (w *World) Title() string { return w.title }

// StoreKey is the bucket key of a file of the store root, relative to the prefix: "research/tables/…".
func (w *World) StoreKey(rel string) string { return w.title + "/" + rel }

// TableKey is the bucket key of a file below a table's directory.
func (w *World) TableKey(table, rel string) string { return w.StoreKey("tables/" + table + "/" + rel) }

// BucketDoc reads the bucket manifest; fs.ErrNotExist before the first push.
func (w *World) BucketDoc(ctx context.Context) (inspect.BucketDoc, error) {
	text, err := w.bucket.Get(ctx, "manifest.json")
	if err != nil {
		return inspect.BucketDoc{}, err
	}
	return inspect.DecodeBucket("the bucket's manifest.json", text)
}

// BucketPointer reads a table's pointer in the bucket; fs.ErrNotExist where there is none.
func (w *World) BucketPointer(ctx context.Context, table string) (inspect.PointerDoc, error) {
	text, err := w.bucket.Get(ctx, w.TableKey(table, "_pointer.json"))
	if err != nil {
		return inspect.PointerDoc{}, err
	}
	return inspect.DecodePointer("the bucket's pointer of "+table, text)
}

// BucketLease reads a table's compaction lease; fs.ErrNotExist where there is none.
func (w *World) BucketLease(ctx context.Context, table string) (inspect.LeaseDoc, error) {
	text, err := w.bucket.Get(ctx, w.StoreKey("leases/compact/"+table+".json"))
	if err != nil {
		return inspect.LeaseDoc{}, err
	}
	return inspect.DecodeLease("the lease of "+table, text)
}

// BucketState is what the bucket held at one moment: key → hex SHA-256; for a pointer and a lease their text on one line and
// a piece of the digest, so that a difference shows what it was and what it is.
type BucketState map[string]string

// BucketState reads the whole bucket below the prefix.
func (w *World) BucketState(ctx context.Context) (BucketState, error) {
	keys, err := w.bucket.Keys(ctx, "")
	if err != nil {
		return nil, err
	}
	out := BucketState{}
	for _, k := range keys {
		body, err := w.bucket.Get(ctx, k)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		out[k] = hex.EncodeToString(sum[:])
		if strings.HasSuffix(k, "/_pointer.json") || strings.Contains(k, "/leases/") {
			out[k] = fmt.Sprintf("%s (%d bytes, sha256 %.12s)", strings.Join(strings.Fields(string(body)), " "), len(body), out[k])
		}
	}
	return out, nil
}

// BucketBefore is what the bucket held when the latest verb was asked.
func (w *World) BucketBefore() BucketState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.before
}

// Diff lists what changed, one line for each key: "+ key", "- key", "~ key".
func (s BucketState) Diff(after BucketState) []string {
	var out []string
	for k, d := range after {
		if old, had := s[k]; !had {
			out = append(out, "+ "+k)
		} else if old != d {
			line := "~ " + k
			if strings.HasPrefix(d, "{") {
				line += " (" + old + " -> " + d + ")"
			}
			out = append(out, line)
		}
	}
	for k := range s {
		if _, still := after[k]; !still {
			out = append(out, "- "+k)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][2:] < out[j][2:] })
	return out
}

type fakeBucket struct{ s *s3cas.Server }

func (b *fakeBucket) Settings() map[string]string {
	return map[string]string{"endpoint": b.s.URL(), "bucket": bucketName, "prefix": fakePrefix}
}

func (b *fakeBucket) Get(_ context.Context, key string) ([]byte, error) {
	body, _, ok := b.s.Get(bucketName, fakePrefix+"/"+key)
	if !ok {
		return nil, &NoObject{key}
	}
	return body, nil
}

func (b *fakeBucket) Put(_ context.Context, key string, body []byte) error {
	b.s.Put(bucketName, fakePrefix+"/"+key, body)
	return nil
}

func (b *fakeBucket) Delete(_ context.Context, key string) error {
	b.s.Delete(bucketName, fakePrefix+"/"+key)
	return nil
}

func (b *fakeBucket) Keys(_ context.Context, prefix string) ([]string, error) {
	var out []string
	for _, k := range b.s.Keys(bucketName, fakePrefix+"/"+prefix) {
		out = append(out, strings.TrimPrefix(k, fakePrefix+"/"))
	}
	return out, nil
}

// dirBucket is a file:// bucket: the directory is the bucket, its keys are paths.
type dirBucket struct{ dir string }

func (b *dirBucket) Settings() map[string]string {
	return map[string]string{"endpoint": "file://" + b.dir, "bucket": bucketName, "prefix": fakePrefix}
}

func (b *dirBucket) path(key string) string {
	return filepath.Join(b.dir, fakePrefix, filepath.FromSlash(key))
}

func (b *dirBucket) Get(_ context.Context, key string) ([]byte, error) {
	body, err := os.ReadFile(b.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoObject{key}
	}
	return body, err
}

func (b *dirBucket) Put(_ context.Context, key string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(b.path(key)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(b.path(key), body, 0o644)
}

func (b *dirBucket) Delete(_ context.Context, key string) error { return os.Remove(b.path(key)) }

func (b *dirBucket) Keys(_ context.Context, prefix string) ([]string, error) {
	t, err := inspect.Snap(b.path(""))
	if err != nil {
		return nil, err
	}
	return t.Only(func(p string) bool {
		return strings.HasPrefix(p, prefix) && !strings.HasPrefix(p[strings.LastIndexByte(p, '/')+1:], ".")
	}).Paths(), nil
}

// minioBucket is a prefix of a real S3 server.
type minioBucket struct {
	c      *s3.Client
	e      *services.Endpoint
	prefix string
}

func newMinIO(ctx context.Context, o Options) (Bucket, error) {
	if o.Services == nil {
		return nil, &services.Unavailable{Service: services.NameMinIO, Reasons: []string{"none: services are switched off"}}
	}
	e, err := o.Services.MinIO(ctx)
	if err != nil {
		return nil, err
	}
	b := &minioBucket{e: e, prefix: "s-" + filepath.Base(o.Dir)}
	b.c = s3.New(s3.Options{Region: e.Region, BaseEndpoint: aws.String(e.URL), UsePathStyle: true,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey}, nil
		}),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired})
	_, err = b.c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucketName)})
	var owned *types.BucketAlreadyOwnedByYou
	var exists *types.BucketAlreadyExists
	if err != nil && !errors.As(err, &owned) && !errors.As(err, &exists) {
		return nil, fmt.Errorf("the bucket cannot be made in MinIO: %w", err)
	}
	return b, nil
}

func (b *minioBucket) Settings() map[string]string {
	return map[string]string{"endpoint": b.e.URL, "bucket": bucketName, "prefix": b.prefix, "region": b.e.Region}
}

func (b *minioBucket) Get(ctx context.Context, key string) ([]byte, error) {
	out, err := b.c.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucketName), Key: aws.String(b.prefix + "/" + key)})
	var none *types.NoSuchKey
	if errors.As(err, &none) {
		return nil, &NoObject{key}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Body.Close() }()
	return io.ReadAll(out.Body)
}

func (b *minioBucket) Put(ctx context.Context, key string, body []byte) error {
	_, err := b.c.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String(b.prefix + "/" + key), Body: strings.NewReader(string(body))})
	return err
}

func (b *minioBucket) Delete(ctx context.Context, key string) error {
	_, err := b.c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucketName), Key: aws.String(b.prefix + "/" + key)})
	return err
}

func (b *minioBucket) Keys(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	pages := s3.NewListObjectsV2Paginator(b.c, &s3.ListObjectsV2Input{Bucket: aws.String(bucketName), Prefix: aws.String(b.prefix + "/" + prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			out = append(out, strings.TrimPrefix(aws.ToString(o.Key), b.prefix+"/"))
		}
	}
	sort.Strings(out)
	return out, nil
}
