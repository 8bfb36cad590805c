package pgtest

import (
	"context"
	"fmt"
	"os"

	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	urlVariable   = "STERNPOST_TEST_DATABASE_URL"
	imageVariable = "STERNPOST_TEST_POSTGRES_IMAGE"
	defaultImage  = "postgres:17"
)

// server is the server of this process's databases.
type server struct {
	url      string // as superuser
	describe string
	isShared bool // with other processes
	stop     func() error
}

// settings suit data that is not needed after a crash, and many tests at once.
func settings() []string {
	return []string{
		"fsync=off",
		"synchronous_commit=off",
		"full_page_writes=off",
		"autovacuum=off",
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
	if engine := program.Engine(ctx); engine != "" {
		container, err := startContainer(ctx, engine)
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
