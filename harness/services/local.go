package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// A port found free may be taken before the server binds it: so many servers are started before giving up.
const portTries = 3

// localMinIO runs the binary `minio` of PATH in a directory of its own.
func (m *Manager) localMinIO(ctx context.Context) (running[Endpoint], error) {
	binary, err := exec.LookPath("minio")
	if err != nil {
		return running[Endpoint]{}, errors.New("no binary minio in PATH (.ci/images leaves one in build/images/bin)")
	}
	dir, err := os.MkdirTemp("", "conform-minio-")
	if err != nil {
		return running[Endpoint]{}, err
	}
	e := Endpoint{AccessKey: user, SecretKey: secret(), Region: region}
	p, port, err := onFreePort(ctx, func(port string) command {
		return command{
			argv: []string{binary, "server", "--address", "127.0.0.1:" + port, filepath.Join(dir, "data")},
			env: []string{
				"MINIO_ROOT_USER=" + e.AccessKey, "MINIO_ROOT_PASSWORD=" + e.SecretKey, "MINIO_BROWSER=off",
				"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
			},
			dir:     dir,
			onDeath: syscall.SIGKILL,
		}
	}, func(ctx context.Context, port string) error {
		return answers(ctx, "http://127.0.0.1:"+port+liveness, func(status int) bool { return status == 200 })
	})
	if err != nil {
		return running[Endpoint]{}, errors.Join(err, os.RemoveAll(dir))
	}
	e.URL = "http://127.0.0.1:" + port
	return running[Endpoint]{value: e, address: e.URL, stop: func(ctx context.Context) error {
		return errors.Join(p.stop(ctx, syscall.SIGTERM), os.RemoveAll(dir))
	}}, nil
}

// localPostgres makes a cluster in a directory of its own and runs it there. Postgres refuses to run as root, so
// root runs it as the user postgres, or nobody.
func (m *Manager) localPostgres(ctx context.Context) (_ running[Database], err error) {
	bin, err := postgresBinaries()
	if err != nil {
		return running[Database]{}, err
	}
	dir, err := os.MkdirTemp("", "conform-postgres-")
	if err != nil {
		return running[Database]{}, err
	}
	var p *process
	defer func() {
		if err != nil {
			if p != nil {
				err = errors.Join(err, p.stop(context.WithoutCancel(ctx), syscall.SIGQUIT))
			}
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	as, err := unprivileged(dir)
	if err != nil {
		return running[Database]{}, err
	}
	password, data, secretFile := secret(), filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(secretFile, []byte(password+"\n"), 0o600); err != nil {
		return running[Database]{}, err
	}
	if as != nil {
		if err := os.Chown(secretFile, int(as.Uid), int(as.Gid)); err != nil {
			return running[Database]{}, err
		}
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	init, err := start(command{as: as, dir: dir, env: env, onDeath: syscall.SIGKILL, argv: []string{
		filepath.Join(bin, "initdb"), "--pgdata=" + data, "--username=" + user, "--pwfile=" + secretFile,
		"--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", "--no-sync",
	}})
	if err != nil {
		return running[Database]{}, err
	}
	if err := init.wait(ctx); err != nil {
		return running[Database]{}, fmt.Errorf("initdb: %w%s", err, quoteTail(init.output()))
	}
	var port string
	p, port, err = onFreePort(ctx, func(port string) command {
		return command{as: as, dir: dir, env: env, onDeath: syscall.SIGQUIT, argv: []string{
			filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=", "-c", "fsync=off",
		}}
	}, func(ctx context.Context, port string) error {
		return selectOne(ctx, postgresURL(user, password, "127.0.0.1:"+port, "postgres"))
	})
	if err != nil {
		return running[Database]{}, err
	}
	if err := createDatabase(ctx, postgresURL(user, password, "127.0.0.1:"+port, "postgres")); err != nil {
		return running[Database]{}, err
	}
	address := postgresURL(user, password, "127.0.0.1:"+port, user)
	return running[Database]{value: Database{URL: address}, address: withoutPassword(address), stop: func(ctx context.Context) error {
		return errors.Join(p.stop(ctx, syscall.SIGINT), os.RemoveAll(dir))
	}}, nil
}

func createDatabase(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, "create database "+user)
	return err
}

// postgresBinaries is the directory with both initdb and postgres: PATH's, else the newest of Debian's.
func postgresBinaries() (string, error) {
	var dirs []string
	if found, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil {
			found = real
		}
		dirs = append(dirs, filepath.Dir(found))
	}
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	sort.Slice(debian, func(i, j int) bool { return major(debian[i]) > major(debian[j]) })
	for _, dir := range append(dirs, debian...) {
		_, noInit := exec.LookPath(filepath.Join(dir, "initdb"))
		_, noServer := exec.LookPath(filepath.Join(dir, "postgres"))
		if noInit == nil && noServer == nil {
			return dir, nil
		}
	}
	return "", errors.New("no binaries initdb and postgres in PATH or /usr/lib/postgresql/*/bin (Debian: apt-get install postgresql)")
}

func major(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // an odd name sorts last
	return n
}

// unprivileged hands dir to the account a server started by root runs as; nil when this process is not root.
func unprivileged(dir string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	var u *osuser.User
	var err error
	for _, name := range []string{"postgres", "nobody"} {
		if u, err = osuser.Lookup(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("postgres does not run as root, and there is no user postgres or nobody: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &account{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}

// onFreePort starts the command on a free port and waits until ask succeeds. A server that ends early is tried again
// on another port, in case the port was taken meanwhile.
func onFreePort(ctx context.Context, cmd func(port string) command, ask func(context.Context, string) error) (*process, string, error) {
	var last error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return nil, "", err
		}
		p, err := start(cmd(port))
		if err != nil {
			return nil, "", err
		}
		err = poll(ctx, p.done, func(ctx context.Context) error { return ask(ctx, port) })
		if err == nil {
			return p, port, nil
		}
		ended := p.ended()
		last = errors.Join(fmt.Errorf("%s: %w%s", filepath.Base(p.argv[0]), err, quoteTail(p.output())),
			p.stop(context.WithoutCancel(ctx), syscall.SIGKILL))
		if !ended || ctx.Err() != nil {
			break
		}
	}
	return nil, "", last
}

// freePort asks the system for a loopback port that is free now. Another process may take it before it is used: the
// caller tries again.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
