package services

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	defaultStartTimeout = 2 * time.Minute
	// What a given address gets to answer in: it should be up already.
	givenTimeout = 10 * time.Second
	pollEvery    = 100 * time.Millisecond
	region       = "us-east-1" // MinIO's own when none is configured
	liveness     = "/minio/health/live"
)

// New makes a Manager. Nothing is started before the first request for a service.
func New(opts Options) *Manager {
	if opts.Mode == "" {
		opts.Mode = Auto
	}
	if opts.StartTimeout <= 0 {
		opts.StartTimeout = defaultStartTimeout
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	m := &Manager{opts: opts}
	m.ctx, m.cancel = context.WithCancel(context.Background())

	s3 := pick(opts.Mode,
		way[Endpoint]{"environment", m.givenMinIO},
		way[Endpoint]{"docker", m.dockerMinIO},
		way[Endpoint]{"local", m.localMinIO})
	db := pick(opts.Mode,
		way[Database]{"environment", m.givenPostgres},
		way[Database]{"docker", m.dockerPostgres},
		way[Database]{"local", m.localPostgres})
	m.minio, m.postgres = newSlot(NameMinIO, s3), newSlot(NamePostgres, db)
	return m
}

func pick[T any](mode Mode, given, docker, local way[T]) []way[T] {
	switch mode {
	case Auto:
		return []way[T]{given, docker, local}
	case Docker:
		return []way[T]{docker}
	case Local:
		return []way[T]{local}
	case None:
		return nil
	}
	unknown := way[T]{"mode", func(context.Context) (running[T], error) {
		return running[T]{}, fmt.Errorf("unknown mode %q; want auto, docker, local or none", mode)
	}}
	return []way[T]{unknown}
}

// givenMinIO takes the S3 server that the environment names.
func (m *Manager) givenMinIO(ctx context.Context) (running[Endpoint], error) {
	address := m.opts.Getenv("CONFORM_MINIO_ENDPOINT")
	if address == "" {
		return running[Endpoint]{}, errors.New("CONFORM_MINIO_ENDPOINT is not set")
	}
	fail := func(but error) (running[Endpoint], error) {
		return running[Endpoint]{}, finalError{fmt.Errorf("CONFORM_MINIO_ENDPOINT is set to %s, but %w", withoutPassword(address), but)}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fail(errors.New("that is not an http or https URL"))
	}
	e := Endpoint{
		URL:       u.Scheme + "://" + u.Host,
		AccessKey: m.opts.Getenv("CONFORM_MINIO_ACCESS_KEY"),
		SecretKey: m.opts.Getenv("CONFORM_MINIO_SECRET_KEY"),
		Region:    m.opts.Getenv("CONFORM_MINIO_REGION"),
	}
	if e.AccessKey == "" || e.SecretKey == "" {
		return fail(errors.New("CONFORM_MINIO_ACCESS_KEY or CONFORM_MINIO_SECRET_KEY is not set"))
	}
	if e.Region == "" {
		e.Region = region
	}
	ctx, cancel := context.WithTimeout(ctx, givenTimeout)
	defer cancel()
	// Any answer will do: the server need not be MinIO, and what it refuses is the scenario's business.
	if err := answers(ctx, e.URL+"/", func(int) bool { return true }); err != nil {
		return fail(fmt.Errorf("it does not answer: %w", err))
	}
	return running[Endpoint]{value: e, address: e.URL}, nil
}

// givenPostgres takes the database that the environment names.
func (m *Manager) givenPostgres(ctx context.Context) (running[Database], error) {
	address := m.opts.Getenv("CONFORM_POSTGRES_URL")
	if address == "" {
		return running[Database]{}, errors.New("CONFORM_POSTGRES_URL is not set")
	}
	shown := withoutPassword(address)
	ctx, cancel := context.WithTimeout(ctx, givenTimeout)
	defer cancel()
	if err := selectOne(ctx, address); err != nil {
		return running[Database]{}, finalError{fmt.Errorf("CONFORM_POSTGRES_URL is set to %s, but it does not answer: %w", shown, err)}
	}
	return running[Database]{value: Database{URL: address}, address: shown}, nil
}

// answers makes one GET and judges the status.
func answers(ctx context.Context, address string, ok func(status int) bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)); err != nil {
		return err
	}
	if !ok(resp.StatusCode) {
		return fmt.Errorf("GET %s answers %s", address, resp.Status)
	}
	return nil
}

// selectOne connects, asks the one question and hangs up.
func selectOne(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var one int
	return conn.QueryRow(ctx, "select 1").Scan(&one)
}

// poll repeats ask until it succeeds, ctx ends or gone is closed, and returns what was last wrong.
func poll(ctx context.Context, gone <-chan struct{}, ask func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-gone:
			return fmt.Errorf("it ended before it answered (%w)", err)
		case <-ctx.Done():
			return fmt.Errorf("it did not answer in time (%w)", err)
		}
	}
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "(an address that is not a URL)"
	}
	return u.Redacted()
}

func postgresURL(user, password, host, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: host, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// secret returns a password for a server this process starts and takes down.
func secret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}
