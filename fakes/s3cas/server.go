package s3cas

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a server. The zero value is AWS on the wall clock, with no bucket and nobody who may ask.
type Options struct {
	// Now is the clock of Last-Modified, of the journal and of the modes that speak of time. Default: the wall clock.
	Now func() time.Time
	// Sleep waits for the Delay action and the toctou_window mode. Default: real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// Buckets exist from the start.
	Buckets []string
	// Principals may ask from the start.
	Principals []Principal
	// Anonymous accepts requests without a signature, as the principal "anonymous". A signature that is there is still checked.
	Anonymous bool
	// Region, if set, is the only one that signatures may name. Empty: any.
	Region string
	// AutoCreateBuckets makes a bucket the first time it is written to.
	AutoCreateBuckets bool
	// JournalLimit bounds the journal's entries, dropping the oldest in blocks. 0: keep all.
	JournalLimit int
	// MinPartSize is the least size in bytes of a multipart part that is not the last. 0: 5 MiB, as AWS.
	MinPartSize int64
	// Admin serves the administration endpoint under AdminPath.
	Admin bool
}

// Principal is who asks: an access key with its secret, and the name that faults and the journal use.
type Principal struct {
	AccessKey string `json:"access_key"`
	Secret    string `json:"secret"`
	Name      string `json:"name"`
}

// Server is the fake bucket server. It is an http.Handler; Start puts it on a loopback port. All methods may be called at any time
// from any goroutine.
type Server struct {
	opts    Options
	events  atomic.Uint64 // one order for arrivals, applications and answers
	serial  atomic.Uint64 // opaque ETags and upload ids
	journal journal
	ctx     context.Context
	cancel  context.CancelFunc

	bucketMu sync.RWMutex
	buckets  map[string]*bucket

	modeMu sync.Mutex
	own    []Mode
	modes  atomic.Pointer[modeSet]

	authMu     sync.RWMutex
	principals map[string]Principal
	signing    sync.Map // signing keys by access key, date, region and service

	faultMu    sync.Mutex
	nextFault  int
	injections atomic.Pointer[[]*Injection]

	gateMu sync.Mutex
	gates  map[string]*Gate

	hookMu  sync.Mutex
	signals map[string]func(Signal)
	calls   map[string]func(*Call)

	later later
	admin *http.ServeMux // nil without Options.Admin

	netMu   sync.Mutex
	http    []*http.Server
	url     string
	dialect string
}

// New makes a server that does not listen yet.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = wallNow
	}
	if o.Sleep == nil {
		o.Sleep = wallSleep
	}
	if o.MinPartSize == 0 {
		o.MinPartSize = 5 << 20
	}
	s := &Server{
		opts: o, buckets: map[string]*bucket{}, principals: map[string]Principal{}, gates: map[string]*Gate{},
		signals: map[string]func(Signal){}, calls: map[string]func(*Call){}, dialect: "aws",
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.journal.limit = o.JournalLimit
	s.modes.Store(newModeSet())
	s.injections.Store(&[]*Injection{})
	if o.Admin {
		s.admin = s.adminMux()
	}
	for _, b := range o.Buckets {
		s.ensureBucket(b)
	}
	for _, p := range o.Principals {
		s.principals[p.AccessKey] = p
	}
	return s
}

// Start listens on a free port of 127.0.0.1 and serves in the background until Close. It returns the server itself, so that
// s, err := s3cas.New(o).Start() reads well.
func (s *Server) Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return s, err
	}
	s.background(l)
	return s, nil
}

func (s *Server) background(l net.Listener) {
	srv := s.newHTTP(l)
	go func() { _ = srv.Serve(l) }() // ends with ErrServerClosed on Close
}

func (s *Server) newHTTP(l net.Listener) *http.Server {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	s.netMu.Lock()
	defer s.netMu.Unlock()
	s.http = append(s.http, srv)
	if s.url == "" {
		s.url = "http://" + l.Addr().String()
	}
	return srv
}

// Serve answers on l until ctx ends or Close is called; it then returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := s.newHTTP(l)
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ListenAndServe listens on addr ("host:port") and answers until ctx ends. ready, if not nil, is told the URL once it listens.
func (s *Server) ListenAndServe(ctx context.Context, addr string, ready func(url string)) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	if ready != nil {
		ready("http://" + l.Addr().String())
	}
	return s.Serve(ctx, l)
}

// URL is the endpoint, http://127.0.0.1:port; empty before the server listens.
func (s *Server) URL() string {
	s.netMu.Lock()
	defer s.netMu.Unlock()
	return s.url
}

// Close stops listening, lets every held request go (unapplied, its connection closed) and closes all connections.
func (s *Server) Close() error {
	s.cancel()
	s.netMu.Lock()
	servers := s.http
	s.http = nil
	s.netMu.Unlock()
	var err error
	for _, srv := range servers {
		err = errors.Join(err, srv.Close())
	}
	return err
}

// AddPrincipal lets an access key in. The name is what faults and the journal call it; several keys may share a name.
func (s *Server) AddPrincipal(accessKey, secret, name string) {
	s.authMu.Lock()
	defer s.authMu.Unlock()
	s.principals[accessKey] = Principal{AccessKey: accessKey, Secret: secret, Name: name}
	s.signing.Clear()
}

// RemovePrincipal shuts an access key out: its requests are 403 InvalidAccessKeyId from now on.
func (s *Server) RemovePrincipal(accessKey string) {
	s.authMu.Lock()
	defer s.authMu.Unlock()
	delete(s.principals, accessKey)
	s.signing.Clear()
}

// CreateBucket makes an empty bucket; one that exists stays as it is.
func (s *Server) CreateBucket(name string) { s.ensureBucket(name) }

func (s *Server) bucket(name string) *bucket {
	s.bucketMu.RLock()
	defer s.bucketMu.RUnlock()
	return s.buckets[name]
}

func (s *Server) allBuckets() []*bucket {
	s.bucketMu.RLock()
	defer s.bucketMu.RUnlock()
	out := make([]*bucket, 0, len(s.buckets))
	for _, b := range s.buckets {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *bucket) int { return strings.Compare(a.name, b.name) })
	return out
}

func (s *Server) ensureBucket(name string) *bucket {
	if b := s.bucket(name); b != nil {
		return b
	}
	s.modeMu.Lock() // before bucketMu everywhere: a new bucket has the modes of this moment
	defer s.modeMu.Unlock()
	s.bucketMu.Lock()
	b := s.buckets[name]
	if b == nil {
		b = newBucket(name, s.opts.Now())
		s.spreadToLocked(b)
		s.buckets[name] = b
	}
	s.bucketMu.Unlock()
	return b
}

// Put stores body without a request: no journal entry, no fault, no condition. It creates the bucket if need be and returns the
// ETag without quotes. The server keeps body; the caller must not change it.
func (s *Server) Put(bucket, key string, body []byte) (etag string) {
	b := s.ensureBucket(bucket)
	o := s.build(body, b.modes.Load())
	b.set(key, o, &s.events, s.opts.Now())
	return o.etag
}

// Get returns what key holds; ok is false where there is nothing. The caller must not change body.
func (s *Server) Get(bucket, key string) (body []byte, etag string, ok bool) {
	b := s.bucket(bucket)
	if b == nil {
		return nil, "", false
	}
	o := b.get(key)
	if o == nil {
		return nil, "", false
	}
	return o.body, o.etag, true
}

// Delete removes key and reports whether there was anything.
func (s *Server) Delete(bucket, key string) bool {
	b := s.bucket(bucket)
	return b != nil && b.set(key, nil, &s.events, s.opts.Now()) != nil
}

// Keys lists the keys of a bucket with a prefix, in byte order.
func (s *Server) Keys(bucket, prefix string) []string {
	b := s.bucket(bucket)
	if b == nil {
		return nil
	}
	var out []string
	keys := b.index.keys()
	i, _ := slices.BinarySearch(keys, prefix)
	for _, k := range keys[i:] {
		if !strings.HasPrefix(k, prefix) {
			break
		}
		if b.get(k) != nil {
			out = append(out, k)
		}
	}
	return out
}
