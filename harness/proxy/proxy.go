// Package proxy stands between an implementation and the whole internet: a CONNECT proxy with a certificate authority of its
// own. Whatever host is asked for, the answer comes from a fake bucket in this process, and the proxy notes which host it
// was, which region the request was signed for and how the bucket was named. So the endpoint schemes can be asked offline.
//
//	p, err := proxy.Start(dir, "conform")   // the bucket exists at every host
//	env := p.Env()                          // HTTPS_PROXY, SSL_CERT_FILE, AWS_CA_BUNDLE and their like
//	p.Seen()                                // what was asked, in order
//
// It looks at no signature, only at what the signature says of itself: who it stands in for is not there to judge it.
//
// Answers: no clause; it is how store.endpoint.schemes is asked.
package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"contextful/fakes/s3cas"
)

// A Seen is one request that came through.
type Seen struct {
	Scheme string // "https", or "http" for a request that came in the clear
	Host   string // as asked of the proxy, without the scheme's own port
	Method string
	Region string // what the request was signed for; empty where it was not signed
	Bucket string
	Path   bool // the bucket stood in the path, not in the host's name
}

func (s Seen) String() string {
	style := "virtual-hosted"
	if s.Path {
		style = "path"
	}
	return fmt.Sprintf("%s %s://%s (region %q, bucket %q, %s)", s.Method, s.Scheme, s.Host, s.Region, s.Bucket, style)
}

// Proxy is one that listens on a loopback port. Its methods are safe for concurrent use.
type Proxy struct {
	bucket string
	store  *s3cas.Server
	ca     *authority
	front  *http.Server
	inside *http.Server
	tunnel *tunnels
	addr   string
	bundle string

	mu   sync.Mutex
	seen []Seen
}

// Start listens, with the authority's certificate written into dir. The bucket is there, empty, at every host.
func Start(dir, bucket string) (*Proxy, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	p := &Proxy{bucket: bucket, ca: ca, bundle: filepath.Join(dir, "proxy-ca.pem"), tunnel: newTunnels(),
		store: s3cas.New(s3cas.Options{Anonymous: true, Buckets: []string{bucket}})}
	if err := os.WriteFile(p.bundle, ca.pem, 0o644); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.addr = l.Addr().String()
	silent := log.New(io.Discard, "", 0)
	p.front = &http.Server{Handler: http.HandlerFunc(p.outside), ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	p.inside = &http.Server{Handler: http.HandlerFunc(p.through), ReadHeaderTimeout: time.Minute, ErrorLog: silent,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, hostKey{}, hostOf(c))
		}}
	go func() { _ = p.front.Serve(l) }() // both end with ErrServerClosed on Close
	go func() { _ = p.inside.Serve(p.tunnel) }()
	return p, nil
}

// Close stops listening and cuts every tunnel.
func (p *Proxy) Close() error {
	return errors.Join(p.front.Close(), p.inside.Close(), p.store.Close())
}

// Env is what a process needs to go through the proxy and to believe it, in the words of several runtimes.
func (p *Proxy) Env() map[string]string {
	env := map[string]string{"NO_PROXY": "", "no_proxy": ""}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		env[name] = "http://" + p.addr
	}
	for _, name := range []string{"SSL_CERT_FILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
		env[name] = p.bundle
	}
	return env
}

// Seen lists what came through, in order.
func (p *Proxy) Seen() []Seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Seen(nil), p.seen...)
}

// outside answers the proxy's own port: CONNECT opens a tunnel, a request with a whole address is answered in the clear.
func (p *Proxy) outside(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		p.answer(w, r, "http", strings.TrimSuffix(r.Host, ":80"))
		return
	}
	conn, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close() // the asker is gone
		return
	}
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName != "" {
				return p.ca.certify(hello.ServerName)
			}
			return p.ca.certify(name)
		}}
	host := strings.TrimSuffix(r.Host, ":443")
	p.tunnel.add(&tunnel{Conn: tls.Server(&early{conn, rest.Reader}, config), host: host})
}

// early reads first what the hijacked connection's buffer already holds.
type early struct {
	net.Conn
	r *bufio.Reader
}

func (e *early) Read(b []byte) (int, error) { return e.r.Read(b) }

func (p *Proxy) through(w http.ResponseWriter, r *http.Request) {
	host, _ := r.Context().Value(hostKey{}).(string)
	p.answer(w, r, "https", host)
}

// answer notes the request and has the fake bucket answer it, whatever the host.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, scheme, host string) {
	s := Seen{Scheme: scheme, Host: host, Method: r.Method, Region: region(r), Bucket: p.bucket}
	out := r.Clone(r.Context())
	if !strings.HasPrefix(host, p.bucket+".") {
		s.Path = true
		s.Bucket, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	} else {
		out.URL.Path, out.URL.RawPath = "/"+p.bucket+r.URL.Path, ""
	}
	p.mu.Lock()
	p.seen = append(p.seen, s)
	p.mu.Unlock()
	for _, h := range []string{"Authorization", "Proxy-Authorization", "Proxy-Connection"} {
		out.Header.Del(h)
	}
	q := out.URL.Query()
	for k := range q {
		if strings.HasPrefix(strings.ToLower(k), "x-amz-") {
			q.Del(k)
		}
	}
	out.URL.RawQuery = q.Encode()
	p.store.ServeHTTP(w, out)
}

// region is the third part of the credential's scope: <key>/<date>/<region>/s3/aws4_request.
func region(r *http.Request) string {
	scope := r.URL.Query().Get("X-Amz-Credential")
	if _, after, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		scope, _, _ = strings.Cut(after, ",")
	}
	parts := strings.Split(strings.TrimSpace(scope), "/")
	if len(parts) < 5 {
		return ""
	}
	return parts[len(parts)-3]
}
