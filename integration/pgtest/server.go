package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	urlVariable   = "STERNPOST_TEST_DATABASE_URL"
	imageVariable = "STERNPOST_TEST_POSTGRES_IMAGE"
	defaultImage  = "postgres:17"
)

// server is where the databases of this process stand.
type server struct {
	url      string // as superuser
	describe string
	isShared bool // with other processes
	stop     func() error
}

// settings suit data that nobody needs after a crash, and many tests at once.
func settings() []string {
	return []string{
		"fsync=off",
		"synchronous_commit=off",
		"full_page_writes=off",
		"max_connections=300",
	}
}

// startServer decides where tests run.
func startServer(ctx context.Context) (*server, error) {
	if url := os.Getenv(urlVariable); url != "" {
		given, err := postgres.Start(ctx, postgres.Options{URL: url})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", urlVariable, err)
		}
		return &server{url: url, describe: given.Describe() + ", from " + urlVariable, isShared: true, stop: given.Stop}, nil
	}

	remark := ""
	if engineAnswers(ctx) {
		container, err := startContainer(ctx)
		if err == nil {
			return container, nil
		}
		if os.Getenv(imageVariable) != "" {
			return nil, err
		}
		remark = fmt.Sprintf(" (a container engine answers, but: %v)", err)
	}

	local, err := postgres.Start(ctx, postgres.Options{Temporary: true, Settings: settings()})
	if err != nil {
		return nil, err
	}
	return &server{url: local.URL(), describe: local.Describe() + remark, stop: local.Stop}, nil
}

// engineAnswers tells whether there is a container engine, without waiting for one
// that hangs.
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

// startContainer runs the image. Its password is no secret: it is published on the
// loopback interface of a machine that runs tests.
func startContainer(ctx context.Context) (*server, error) {
	image := os.Getenv(imageVariable)
	if image == "" {
		image = defaultImage
	}
	command := []string{"postgres"}
	for _, setting := range settings() {
		command = append(command, "-c", setting)
	}
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithLogger(log.NewNoopLogger()),
		testcontainers.WithEnv(map[string]string{
			"POSTGRES_PASSWORD":    "postgres",
			"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --locale=C.UTF-8 --no-sync",
		}),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithCmd(command...),
		testcontainers.WithWaitStrategyAndDeadline(2*time.Minute,
			// Once for the server that sets the data up, once for the one to use.
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
