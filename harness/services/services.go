// Package services finds or starts the real services some scenarios need: an S3 server (MinIO), a Postgres, and
// strace as the stopper of processes. The kit knows these and no others.
//
// Every service is looked for in a fixed order of ways, chosen by Mode:
//
//	auto    an address in the environment, else Docker (testcontainers-go), else a binary on this machine
//	docker  Docker only
//	local   a binary on this machine only
//	none    nothing is started; every service is unavailable
//
// The environment names a service that somebody else runs: CONFORM_MINIO_ENDPOINT with CONFORM_MINIO_ACCESS_KEY and
// CONFORM_MINIO_SECRET_KEY (and CONFORM_MINIO_REGION, us-east-1 by default), and CONFORM_POSTGRES_URL. An address
// that is given and does not answer makes the service unavailable: falling back to another server would judge
// something the user did not ask about.
//
// A service that cannot be had is an *Unavailable, which lists every way that was tried and what each one said. It
// is never a silence: the kit turns it into the verdict "unavailable".
//
// A Manager starts a service at the first request for it, once, however many scenarios ask at the same time, and
// Close takes everything down. What a killed kit left behind in Docker is removed by the next Manager that starts a
// container: each container names its owner in a label.
//
// Answers: no clause. It is how the kit reaches the servers that store.probe.* and topology.coordinate.* are judged on.
package services

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Mode says in which ways a service may be had. The zero value is not valid: use ParseMode or a constant.
type Mode string

// The four modes of `contextful-conform run --services`.
const (
	Auto   Mode = "auto"
	Docker Mode = "docker"
	Local  Mode = "local"
	None   Mode = "none"
)

// ParseMode reads a mode as the user wrote it; the empty string is Auto.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case "":
		return Auto, nil
	case Auto, Docker, Local, None:
		return m, nil
	}
	return "", fmt.Errorf("services: unknown mode %q; want auto, docker, local or none", text)
}

// Names of the services, as reports print them.
const (
	NameMinIO    = "minio"
	NamePostgres = "postgres"
	NameStrace   = "strace"
)

// Settings that name the container images, and the images asked for without them.
const (
	EnvMinIOImage    = "CONFORM_MINIO_IMAGE"
	EnvPostgresImage = "CONFORM_POSTGRES_IMAGE"

	DefaultMinIOImage    = "quay.io/minio/minio:RELEASE.2025-09-07T16-13-09Z"
	DefaultPostgresImage = "postgres:17-alpine"
)

// Endpoint is an S3 server that answers, to be addressed path-style. URL has no trailing slash
// ("http://127.0.0.1:49153"). The caller creates its buckets.
type Endpoint struct {
	URL       string
	AccessKey string
	SecretKey string
	Region    string
}

// Database is a Postgres that answered `select 1`. URL is a connection URL with user, password and database; the
// user may create schemas and databases.
type Database struct {
	URL string
}

// Unavailable says that a service cannot be had, and why. Reasons holds one sentence for each way that was tried,
// beginning with the way's name ("docker: …").
type Unavailable struct {
	Service string
	Reasons []string
}

func (u *Unavailable) Error() string {
	return fmt.Sprintf("service %s is unavailable: %s", u.Service, strings.Join(u.Reasons, "; "))
}

// State of a service within one Manager.
type State string

// The states a Status can have.
const (
	NotAsked State = "not asked for"
	Starting State = "starting"
	Running  State = "running"
	Failed   State = "unavailable"
)

// Status is one line of Report. How is "environment", "docker" or "local" and Address where the service answers
// (without a password); both are empty unless State is Running. Reasons holds what each way that failed said, also
// for a running service that an earlier way could not give.
type Status struct {
	Service string
	State   State
	How     string
	Address string
	Reasons []string
}

// Options of a Manager. Every field but Mode may be left zero.
type Options struct {
	Mode Mode // "" is Auto
	// Log receives one line per step (no newline at its end). It may be called from several goroutines at once.
	Log func(format string, args ...any)
	// StartTimeout bounds the start of one service in one way; 2 minutes when zero.
	StartTimeout time.Duration
	// Getenv reads the settings; os.Getenv when nil.
	Getenv func(string) string
}

// Manager gives out services. All methods may be called by many goroutines. Make one with New, and Close it.
type Manager struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc

	minio    *slot[Endpoint]
	postgres *slot[Database]

	mu     sync.Mutex // guards closed
	closed bool
	starts sync.WaitGroup
	swept  sync.Once
}

// MinIO returns the S3 server, starting it at the first call. It blocks until the server answers, ctx ends, or every
// way has failed, which is an *Unavailable. Later calls return the same endpoint (or the same refusal) at once.
func (m *Manager) MinIO(ctx context.Context) (*Endpoint, error) {
	return get(ctx, m, m.minio)
}

// Postgres returns the database server, starting it at the first call; otherwise as MinIO.
func (m *Manager) Postgres(ctx context.Context) (*Database, error) {
	return get(ctx, m, m.postgres)
}

// Report says what became of each service, in a fixed order.
func (m *Manager) Report() []Status {
	return []Status{m.minio.status(), m.postgres.status()}
}

// Close ends every start under way, takes down what this Manager started, and waits for that, at most until ctx
// ends. It leaves alone what the environment named. After it every service is unavailable. Closing twice is
// harmless.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.starts.Wait()
	return errors.Join(m.minio.stop(ctx), m.postgres.stop(ctx))
}

// begin reserves one start, or says that the Manager is closed.
func (m *Manager) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.starts.Add(1)
	return true
}

func (m *Manager) logf(format string, args ...any) {
	if m.opts.Log != nil {
		m.opts.Log(format, args...)
	}
}
