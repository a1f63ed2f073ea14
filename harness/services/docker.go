package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Labels on every container the kit starts: the first finds them, the second says which process answers for it.
const (
	LabelKit   = "contextful.kit"
	LabelOwner = "contextful.kit.owner"
	labelValue = "services"
)

const (
	user       = "contextful"
	daemonWait = 10 * time.Second // for the daemon to answer at all
	removeWait = 30 * time.Second
)

// prepare makes the settings of testcontainers-go that must stand before its first use in a process; it reads them
// once, so this too is done once per process, whatever the number of Managers.
var prepare = sync.OnceValue(prepareLibrary)

// The reaper's image cannot be pulled everywhere, and the label does its work. Inside a container testcontainers
// would dial the bridge's address, where a port published on loopback never answers. Its own log is a dozen lines for
// each container: what it adds to ours is in the errors.
func prepareLibrary() error {
	tclog.SetDefault(tclog.NewNoopLogger())
	if os.Getenv("TESTCONTAINERS_RYUK_DISABLED") == "" {
		if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
			return err
		}
	}
	if _, err := os.Stat("/.dockerenv"); err == nil && os.Getenv("TESTCONTAINERS_HOST_OVERRIDE") == "" {
		return os.Setenv("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	}
	return nil
}

// inDocker runs start against a daemon that answers and that has the image. A panic of the library (it has some
// where it looks for the daemon) becomes an error.
func (m *Manager) inDocker(ctx context.Context, image string, start func(context.Context, []testcontainers.ContainerCustomizer) (testcontainers.Container, error)) (_ testcontainers.Container, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("testcontainers-go panicked: %v", r)
		}
	}()
	if err := prepare(); err != nil {
		return nil, err
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, fmt.Errorf("no Docker here: %w", err)
	}
	defer func() { _ = provider.Close() }()
	api := provider.Client()

	pingCtx, cancel := context.WithTimeout(ctx, daemonWait)
	_, err = api.Ping(pingCtx, client.PingOptions{})
	cancel()
	if err != nil {
		return nil, fmt.Errorf("the Docker daemon does not answer: %w", err)
	}
	m.swept.Do(func() { m.sweep(ctx, api) })
	if err := m.haveImage(ctx, api, image); err != nil {
		return nil, err
	}

	options := []testcontainers.ContainerCustomizer{
		testcontainers.WithLabels(map[string]string{LabelKit: labelValue, LabelOwner: self()}),
		testcontainers.WithHostConfigModifier(loopbackOnly),
	}
	ctr, err := start(ctx, options)
	if err != nil {
		said := lastWords(ctx, ctr)
		if rm := remove(ctx, ctr); rm != nil {
			err = errors.Join(err, rm)
		}
		return nil, fmt.Errorf("image %s: %w%s", image, err, said)
	}
	return ctr, nil
}

// loopbackOnly publishes the two known ports on 127.0.0.1 at a free port; the library drops what is not exposed.
func loopbackOnly(host *container.HostConfig) {
	host.PortBindings = network.PortMap{}
	for _, port := range []string{"9000/tcp", "5432/tcp"} {
		host.PortBindings[network.MustParsePort(port)] = []network.PortBinding{{HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: "0"}}
	}
}

// haveImage looks for the image here and pulls it otherwise, once: the library would repeat a pull that cannot
// succeed for a quarter of an hour.
func (m *Manager) haveImage(ctx context.Context, api client.APIClient, image string) error {
	_, err := api.ImageInspect(ctx, image)
	if err == nil {
		return nil
	}
	if !errdefs.IsNotFound(err) {
		return fmt.Errorf("image %s: %w", image, err)
	}
	m.logf("image %s is not here; pulling it", image)
	pull, err := api.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = pull.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("image %s is not on this machine and cannot be pulled (build it with .ci/images): %w", image, err)
	}
	return nil
}

func (m *Manager) dockerMinIO(ctx context.Context) (running[Endpoint], error) {
	image := m.opts.Getenv(EnvMinIOImage)
	if image == "" {
		image = DefaultMinIOImage
	}
	e := Endpoint{AccessKey: user, SecretKey: secret(), Region: region}
	ctr, err := m.inDocker(ctx, image, func(ctx context.Context, options []testcontainers.ContainerCustomizer) (testcontainers.Container, error) {
		options = append(options,
			testcontainers.WithEnv(map[string]string{"MINIO_ROOT_USER": e.AccessKey, "MINIO_ROOT_PASSWORD": e.SecretKey}),
			testcontainers.WithExposedPorts("9000/tcp"),
			testcontainers.WithCmd("server", "/data"),
			testcontainers.WithWaitStrategyAndDeadline(m.opts.StartTimeout, wait.ForHTTP(liveness).WithPort("9000/tcp").WithStartupTimeout(m.opts.StartTimeout)))
		c, err := testcontainers.Run(ctx, image, options...)
		if c == nil { // a nil *DockerContainer must not become a non-nil interface
			return nil, err
		}
		return c, err
	})
	if err != nil {
		return running[Endpoint]{}, err
	}
	address, err := ctr.PortEndpoint(ctx, "9000/tcp", "http")
	if err != nil {
		return running[Endpoint]{}, errors.Join(err, remove(ctx, ctr))
	}
	e.URL = address
	return running[Endpoint]{value: e, address: e.URL, stop: func(ctx context.Context) error { return remove(ctx, ctr) }}, nil
}

func (m *Manager) dockerPostgres(ctx context.Context) (running[Database], error) {
	image := m.opts.Getenv(EnvPostgresImage)
	if image == "" {
		image = DefaultPostgresImage
	}
	password := secret()
	ctr, err := m.inDocker(ctx, image, func(ctx context.Context, options []testcontainers.ContainerCustomizer) (testcontainers.Container, error) {
		options = append(options,
			postgres.WithUsername(user), postgres.WithPassword(password), postgres.WithDatabase(user),
			// Twice: the first start, on the socket alone, creates the database.
			testcontainers.WithWaitStrategyAndDeadline(m.opts.StartTimeout,
				wait.ForLog("database system is ready to accept connections").WithOccurrence(2).WithStartupTimeout(m.opts.StartTimeout)))
		c, err := postgres.Run(ctx, image, options...)
		if c == nil {
			return nil, err
		}
		return c.Container, err
	})
	if err != nil {
		return running[Database]{}, err
	}
	host, err := ctr.PortEndpoint(ctx, "5432/tcp", "")
	if err == nil {
		address := postgresURL(user, password, host, user)
		if err = poll(ctx, nil, func(ctx context.Context) error { return selectOne(ctx, address) }); err == nil {
			return running[Database]{
				value:   Database{URL: address},
				address: withoutPassword(address),
				stop:    func(ctx context.Context) error { return remove(ctx, ctr) },
			}, nil
		}
		err = fmt.Errorf("image %s: %w%s", image, err, lastWords(ctx, ctr))
	}
	return running[Database]{}, errors.Join(err, remove(ctx, ctr))
}

// remove stops and deletes the container with its anonymous volumes, also when ctx has ended: what the kit started it
// takes away.
func remove(ctx context.Context, ctr testcontainers.Container) error {
	if ctr == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWait)
	defer cancel()
	err := testcontainers.TerminateContainer(ctr, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	if err != nil {
		return fmt.Errorf("container %s stays behind: %w", ctr.GetContainerID(), err)
	}
	return nil
}

// lastWords is the end of the container's output, as a clause of an error, or nothing.
func lastWords(ctx context.Context, ctr testcontainers.Container) string {
	if ctr == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), daemonWait)
	defer cancel()
	logs, err := ctr.Logs(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = logs.Close() }()
	text, _ := io.ReadAll(io.LimitReader(logs, 1<<20))
	return quoteTail(text)
}

func quoteTail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, nil))), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return " (it said nothing)"
	}
	return fmt.Sprintf(" (its last words: %q)", strings.Join(lines[max(0, len(lines)-5):], "\n"))
}

// sweep removes containers of kits that are gone. It touches only what carries the kit's label and names an owner
// whose end this process can see; failing to look is no reason not to start.
func (m *Manager) sweep(ctx context.Context, api client.APIClient) {
	ctx, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", LabelKit+"="+labelValue)})
	if err != nil {
		m.logf("looking for containers left behind: %v", err)
		return
	}
	for _, c := range list.Items {
		if !ownerGone(c.Labels[LabelOwner]) {
			continue
		}
		m.logf("removing container %.12s (%s): its kit is gone", c.ID, c.Image)
		if _, err := api.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			m.logf("removing container %.12s: %v", c.ID, err)
		}
	}
}
