package s3bucket_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"contextful/ref/bucket/s3bucket"
)

// TestMain lets the test binary be a client process of its own: the proxy's variables are read once per process.
func TestMain(m *testing.M) {
	if spec := os.Getenv("S3BUCKET_HEAD"); spec != "" {
		f := strings.Split(spec, " ")
		b, err := s3bucket.Open(s3bucket.Options{URL: f[0], Region: f[1], PathStyle: f[2] == "path", Bucket: "bkt", AccessKeyID: "AK", SecretAccessKey: "SK"})
		if err == nil {
			_, err = b.Head(context.Background(), "k")
		}
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

// authority signs a certificate for whatever host a client asks for.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) (*authority, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}, file
}

func (a *authority) forHost(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), DNSNames: []string{hello.ServerName}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, a.key.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, err
}

// TestThroughAProxy shows to which host, path and signing region each kind of endpoint leads, without leaving the machine.
func TestThroughAProxy(t *testing.T) {
	ca, bundle := newAuthority(t, t.TempDir())
	var mu sync.Mutex
	var saw string
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	serve := func(conn net.Conn) {
		defer conn.Close()
		connect, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil || connect.Method != http.MethodConnect {
			return
		}
		_, _ = fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		inner := tls.Server(conn, &tls.Config{GetCertificate: ca.forHost})
		r, err := http.ReadRequest(bufio.NewReader(inner))
		if err != nil {
			return
		}
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		mu.Lock()
		saw = fmt.Sprintf("%s %s%s %s", connect.Host, r.Host, r.URL.Path, strings.Split(scope, "/")[2])
		mu.Unlock()
		_, _ = fmt.Fprint(inner, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	for spec, want := range map[string]string{
		"https://s3.eu-west-1.amazonaws.com eu-west-1 virtual": "bkt.s3.eu-west-1.amazonaws.com:443 bkt.s3.eu-west-1.amazonaws.com/k eu-west-1",
		"https://0abc.r2.cloudflarestorage.com auto path":      "0abc.r2.cloudflarestorage.com:443 0abc.r2.cloudflarestorage.com/bkt/k auto",
		"https://minio.example us-east-1 path":                 "minio.example:443 minio.example/bkt/k us-east-1",
	} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "S3BUCKET_HEAD="+spec, "HTTPS_PROXY=http://"+l.Addr().String(), "NO_PROXY=", "no_proxy=", "AWS_CA_BUNDLE="+bundle)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "not found") {
			t.Errorf("%s: %v %s", spec, err, out)
		}
		mu.Lock()
		if saw != want {
			t.Errorf("%s: saw %q, want %q", spec, saw, want)
		}
		mu.Unlock()
	}
}
