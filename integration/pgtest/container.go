package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/sternpost/sternpost/sql/postgres"
)

// engineAnswers tells whether a container engine answers, without waiting for a hanging
// one.
func engineAnswers(ctx context.Context) bool {
	answer := make(chan bool, 1)
	go func() {
		defer func() {
			if recover() != nil { // how testcontainers says that it finds no engine
				answer <- false
			}
		}()
		provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
		answer <- err == nil && provider.Health(ctx) == nil
	}()
	select {
	case is := <-answer:
		return is
	case <-time.After(3 * time.Second):
		return false
	}
}

// containerData is the data directory in a container.
const containerData = "/var/lib/postgresql/data"

// startContainer runs the image. Its password is not a secret: it is published on the
// loopback interface of a machine that runs tests.
func startContainer(ctx context.Context) (*server, error) {
	image := os.Getenv(imageVariable)
	if image == "" {
		image = defaultImage
	}
	if err := sweepContainers(ctx); err != nil {
		return nil, err
	}
	labels, err := ownLabels()
	if err != nil {
		return nil, err
	}
	command := []string{"postgres"}
	for _, setting := range settings() {
		command = append(command, "-c", setting)
	}
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithLogger(log.NewNoopLogger()),
		testcontainers.WithLabels(labels),
		testcontainers.WithEnv(map[string]string{
			"PGDATA":               containerData, // from 18 on it would be elsewhere
			"POSTGRES_PASSWORD":    "postgres",
			"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --locale=C.UTF-8 --no-sync",
		}),
		testcontainers.WithExposedPorts("5432/tcp"),
		// The data is in memory. An image runs Postgres as this user, or gives the folder to its own user.
		testcontainers.WithTmpfs(map[string]string{containerData: "rw,uid=999,gid=999,mode=0700"}),
		testcontainers.WithCmd(command...),
		testcontainers.WithWaitStrategyAndDeadline(2*time.Minute,
			// Once for the server that initialises the data, once for the one to use.
			wait.ForLog("database system is ready to accept connections").WithOccurrence(2),
			wait.ForListeningPort("5432/tcp"),
		),
	)
	stop := func() error {
		if err := testcontainers.TerminateContainer(container); err != nil {
			return fmt.Errorf("end the container: %w", err)
		}
		return nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run a container of %s: %w", image, err), stop())
	}
	endpoint, err := container.PortEndpoint(ctx, "5432/tcp", "")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("find the container's port: %w", err), stop())
	}
	url := "postgres://postgres:postgres@" + endpoint + "/postgres?sslmode=disable"
	if _, err := postgres.Start(ctx, postgres.Options{URL: url}); err != nil {
		return nil, errors.Join(err, stop())
	}
	return &server{url: url, describe: "a container of " + image, stop: stop}, nil
}

// The labels of a container name the process that started it.
const (
	hostLabel = "com.sternpost.pgtest.host"
	pidLabel  = "com.sternpost.pgtest.pid"
)

func ownLabels() (map[string]string, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this machine: %w", err)
	}
	return map[string]string{hostLabel: host, pidLabel: strconv.Itoa(os.Getpid())}, nil
}

// sweepContainers removes the containers of dead processes of this machine.
// Testcontainers' reaper does that sooner, but not every engine lets it run.
func sweepContainers(ctx context.Context) error {
	own, err := ownLabels()
	if err != nil {
		return err
	}
	engine, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return fmt.Errorf("connect to the container engine: %w", err)
	}
	defer engine.Close()
	left, err := engine.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", hostLabel+"="+own[hostLabel]),
	})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	for _, container := range left.Items {
		pid, err := strconv.Atoi(container.Labels[pidLabel])
		if err != nil || isRunning(pid) {
			continue
		}
		// Another process may do so as well, so a failure does not matter.
		_, _ = engine.ContainerRemove(ctx, container.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
	return nil
}

func isRunning(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
