// Package s3bucket is a bucket on S3 or anything that speaks it.
//
// Answers: store.endpoint.schemes (s3://, r2://, https://, loopback http://), topology.coordinate.primitive for object storage.
//
// Bodies are sent with a plain PutObject, without trailing checksums or chunked signatures: several services refuse both. A put
// is one request: the SDK's own retries are off for it, because a repeated put would turn the writer's own success into a 412. So
// is a get, whose body may break off too: its callers ask again for both. Other requests repeat a few times. HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and AWS_CA_BUNDLE are honoured, as the SDK's own
// configuration would.
package s3bucket

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"contextful/ref/bucket"
	"contextful/ref/fault"
)

// Options say which bucket, where, and as whom. The credentials are values: the caller has resolved their references.
type Options struct {
	// URL is the service's base address, such as https://s3.eu-west-1.amazonaws.com, Region what requests are signed for.
	URL    string
	Region string
	// PathStyle puts the bucket into the path (https://host/bucket/key) and not into the host's name.
	PathStyle       bool
	Bucket          string
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string
	// CABundle is a PEM file trusted beside the system's roots; "" means what AWS_CA_BUNDLE names, if anything.
	CABundle string
	// Transfers is how many requests run at once, so that their connections are kept (default 16).
	Transfers int
	// Silence is how long an answer, or the next bytes of one, may take (default a minute).
	Silence time.Duration
}

const silence = time.Minute

// Bucket is one S3 bucket. It is safe for concurrent use.
type Bucket struct {
	client *s3.Client
	bucket string
	name   string
	once   func(*s3.Options)
	stall  time.Duration // the longest silence within an answer
}

var _ bucket.Bucket = (*Bucket)(nil)

func unusable(err error) error {
	return fault.New(fault.SyncNotConfigured, "[sync]", "the bucket cannot be used as configured").Wrap(err)
}

// Open prepares the client; it sends nothing. Refusal: SyncNotConfigured.
func Open(o Options) (*Bucket, error) {
	if o.Bucket == "" || strings.ContainsAny(o.Bucket, "/\\ \x00") {
		return nil, unusable(fmt.Errorf("bucket name %q is none", o.Bucket))
	}
	if o.Region == "" || o.URL == "" {
		return nil, unusable(fmt.Errorf("endpoint %q at region %q is incomplete", o.URL, o.Region))
	}
	client, err := httpClient(o)
	if err != nil {
		return nil, unusable(err)
	}
	credentials := aws.Credentials{AccessKeyID: o.AccessKeyID, SecretAccessKey: o.SecretAccessKey, SessionToken: o.SessionToken}
	options := s3.Options{
		BaseEndpoint: &o.URL,
		Region:       o.Region,
		UsePathStyle: o.PathStyle,
		HTTPClient:   client,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		}),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		Retryer: retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = 3
			r.MaxBackoff = 2 * time.Second
		}),
	}
	if o.AccessKeyID == "" {
		options.Credentials = aws.AnonymousCredentials{}
	}
	return &Bucket{
		client: s3.New(options),
		bucket: o.Bucket,
		name:   "s3://" + o.Bucket + " at " + o.URL,
		once:   func(o *s3.Options) { o.Retryer = aws.NopRetryer{} },
		stall:  cmp.Or(o.Silence, silence),
	}, nil
}

func httpClient(o Options) (*awshttp.BuildableClient, error) {
	pem := o.CABundle
	if pem == "" {
		pem = os.Getenv("AWS_CA_BUNDLE")
	}
	var roots *x509.CertPool
	if pem != "" {
		data, err := os.ReadFile(pem)
		if err != nil {
			return nil, fmt.Errorf("certificate bundle: %w", err)
		}
		if roots, err = x509.SystemCertPool(); err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("certificate bundle %s holds no certificate", pem)
		}
	}
	width := max(o.Transfers, 16) + 4
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = 10 * time.Second }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = width
			t.MaxIdleConns = 2 * width
			t.ResponseHeaderTimeout = cmp.Or(o.Silence, silence)
			t.DisableCompression = true
			if roots != nil {
				t.TLSClientConfig.RootCAs = roots
			}
		}), nil
}

// Name says "s3://<bucket> at <address>".
func (b *Bucket) Name() string { return b.name }

// Get opens an object.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, bucket.Object, error) {
	within, cancel := context.WithCancel(ctx)
	out, err := b.client.GetObject(within, &s3.GetObjectInput{Bucket: &b.bucket, Key: &key}, b.once)
	if err != nil {
		cancel()
		return nil, bucket.Object{}, readFailed(ctx, key, err)
	}
	return newBody(out.Body, key, b.stall, cancel), bucket.Object{Key: key, Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag)}, nil
}

// Head describes an object.
func (b *Bucket) Head(ctx context.Context, key string) (bucket.Object, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.bucket, Key: &key})
	if err != nil {
		if status, code := answer(err); status == http.StatusNotFound && code == "NotFound" {
			// The answer to a HEAD has no body that could say what was not found.
			return bucket.Object{}, fmt.Errorf("%s: %w", key, bucket.ErrNotFound)
		}
		return bucket.Object{}, readFailed(ctx, key, err)
	}
	return bucket.Object{Key: key, Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag)}, nil
}

// List visits the objects under prefix. A service that says "there is more" without saying where, repeats a token or lists
// backwards fails the listing: an incomplete one must never pass for the whole.
func (b *Bucket) List(ctx context.Context, prefix string, visit func(bucket.Object) error) error {
	var token *string
	last := ""
	for {
		out, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: &prefix, ContinuationToken: token})
		if err != nil {
			return readFailed(ctx, prefix, err)
		}
		for _, o := range out.Contents {
			key := aws.ToString(o.Key)
			if !strings.HasPrefix(key, prefix) || key <= last && last != "" {
				return fmt.Errorf("%w: the listing of %q is out of order at %q", bucket.ErrTransport, prefix, key)
			}
			last = key
			if err := visit(bucket.Object{Key: key, Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag)}); err != nil {
				return err
			}
		}
		next := aws.ToString(out.NextContinuationToken)
		if !aws.ToBool(out.IsTruncated) {
			return nil
		}
		if next == "" || token != nil && next == *token {
			return fmt.Errorf("%w: the listing of %q breaks off after %q", bucket.ErrTransport, prefix, last)
		}
		token = &next
	}
}

// Put sends one request.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond bucket.Condition) (bucket.Object, error) {
	in := &s3.PutObjectInput{Bucket: &b.bucket, Key: &key, Body: body, ContentLength: &size}
	if cond.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	if cond.IfMatch != "" {
		in.IfMatch = &cond.IfMatch
	}
	out, err := b.client.PutObject(ctx, in, b.once)
	if err != nil {
		return bucket.Object{}, putFailed(ctx, key, cond, err)
	}
	return bucket.Object{Key: key, Size: size, ETag: aws.ToString(out.ETag)}, nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &key})
	if err == nil {
		return nil
	}
	if err = readFailed(ctx, key, err); errors.Is(err, bucket.ErrNotFound) {
		return nil
	}
	return err
}

// errThrottled is both: nothing applied, and worth a pause.
var errThrottled = fmt.Errorf("%w: %w", bucket.ErrTransport, bucket.ErrThrottled)

// answer gives the HTTP status and the service's own code; 0 where there was no answer.
func answer(err error) (status int, code string) {
	var r *awshttp.ResponseError
	if errors.As(err, &r) && r.Response != nil {
		status = r.HTTPStatusCode()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	return status, code
}

// answered is what an answer means whatever was asked, in the port's words; nil for any other.
func answered(status int, code string) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return bucket.ErrForbidden
	case status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed:
		return bucket.ErrUnsupported
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && code == "SlowDown":
		return errThrottled
	}
	return nil
}

func readFailed(ctx context.Context, key string, err error) error {
	// The caller's end, and not a timeout of ours that calls itself one.
	if over := ctx.Err(); over != nil {
		return fmt.Errorf("%s: %w", key, over)
	}
	status, code := answer(err)
	kind := answered(status, code)
	switch {
	case status == http.StatusNotFound && code == "NoSuchKey":
		// Any other 404 is somebody else's page: taken for an absent manifest, it would be an empty bucket.
		kind = bucket.ErrNotFound
	case kind == nil:
		kind = bucket.ErrTransport
	}
	return fmt.Errorf("%s: %w%s", key, kind, detail(status, code, err))
}

// putFailed turns an answer to a put into the port's words. Whatever may have been applied is ErrUnknownOutcome.
func putFailed(ctx context.Context, key string, cond bucket.Condition, err error) error {
	status, code := answer(err)
	kind := answered(status, code)
	conditional := cond != (bucket.Condition{})
	switch {
	case conditional && (status == http.StatusPreconditionFailed || status == http.StatusConflict):
		kind = bucket.ErrCondition
	case cond.IfMatch != "" && status == http.StatusNotFound && code == "NoSuchKey":
		kind = bucket.ErrCondition
	case kind != nil:
	case status >= 300 && status < 500, status == 0 && neverSent(err):
		kind = bucket.ErrTransport
	default:
		kind = bucket.ErrUnknownOutcome
	}
	if over := ctx.Err(); over != nil {
		return fmt.Errorf("%s: %w: %w", key, kind, over)
	}
	return fmt.Errorf("%s: %w%s", key, kind, detail(status, code, err))
}

// neverSent: the connection was not made, so no byte of the request left.
func neverSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var cert *x509.UnknownAuthorityError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &dns) || errors.As(err, &cert)
}

// detail prints what the service said, or the innermost cause: the SDK's own chain is long and repeats itself.
func detail(status int, code string, err error) string {
	if status != 0 {
		return fmt.Sprintf(" (%d %s)", status, code)
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return fmt.Sprintf(" (%v)", err)
		}
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			return fmt.Sprintf(" (%v)", op)
		}
		err = next
	}
}
