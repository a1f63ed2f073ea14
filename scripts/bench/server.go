package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// The one identity of every server here; they listen on this machine alone.
const (
	accessKey = "benchmark"
	secretKey = "benchmark-secret"
	accessEnv = "BENCH_ACCESS_KEY"
	secretEnv = "BENCH_SECRET_KEY"
	region    = "us-east-1"
)

// errNoPeer says that a program to compare with is not installed.
var errNoPeer = errors.New("not installed")

// A server is an S3 server of our own.
type server struct {
	name, url string
	cmd       *exec.Cmd
	ended     chan struct{}
}

// startMinIO starts one over a directory of the scratch, once.
func (b *bench) startMinIO(ctx context.Context) (*server, error) {
	if b.minio != nil {
		return b.minio, nil
	}
	binary, err := exec.LookPath("minio")
	if err != nil {
		if binary, err = exec.LookPath("build/images/bin/minio"); err != nil {
			return nil, fmt.Errorf("minio is %w (neither in PATH nor in build/images/bin, where .ci/images leaves it)", errNoPeer)
		}
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	data, err := b.scratch("minio")
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, "MinIO", data, []string{"MINIO_ROOT_USER=" + accessKey, "MINIO_ROOT_PASSWORD=" + secretKey, "MINIO_BROWSER=off", "HOME=" + data}, "/minio/health/live",
		func(address string) []string {
			return []string{binary, "server", "--quiet", "--address", address, filepath.Join(data, "data")}
		})
	b.minio = s
	return s, err
}

func (b *bench) startFake(ctx context.Context) (*server, error) {
	return serve(ctx, "s3cas", b.dir, nil, "/", func(address string) []string {
		return []string{b.kit, "s3cas", "--listen", address, "--access-key", accessKey, "--secret-key", secretKey}
	})
}

// serve starts a server on a free port and waits until it answers at path, whatever it says.
func serve(ctx context.Context, name, dir string, env []string, path string, argv func(address string) []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	words := argv(address)
	s := &server{name: name, url: "http://" + address, cmd: exec.Command(words[0], words[1:]...), ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = dir, append(os.Environ(), env...), log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for {
		if resp, err := http.Get(s.url + path); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 500 {
				return s, nil
			}
		}
		select {
		case <-tick.C:
			continue
		case <-s.ended:
			err = errors.New("it ended")
		case <-limit:
			err = errors.New("no answer in a minute")
		case <-ctx.Done():
			err = ctx.Err()
		}
		said, _ := os.ReadFile(log.Name())
		s.stop()
		return nil, fmt.Errorf("start %s: %w\n%s", name, err, tail(string(said)))
	}
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}
