package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	urlVariable    = "STERNPOST_TEST_DATABASE_URL"
	sharedVariable = "STERNPOST_TEST_SHARED_URL" // of what Share has started
	imageVariable  = "STERNPOST_TEST_POSTGRES_IMAGE"
	majorVariable  = "STERNPOST_TEST_POSTGRES_MAJOR" // the wanted version of an installed Postgres, such as 18
	defaultImage   = "postgres:17"
)

// server is the server of this process's databases.
type server struct {
	url      string // as superuser
	describe string
	isShared bool // with other processes
	stop     func() error
}

// Dump is the path of the pg_dump of a server, given a URL of a superuser: the one beside it, or another of its version.
// It skips the test without one, and says the consequence.
func Dump(t testing.TB, url, consequence string) string {
	t.Helper()
	var dir, major string
	err := connect(t, url).QueryRow(t.Context(), `
		select setting, (current_setting('server_version_num')::int / 10000)::text
		from pg_config
		where name = 'BINDIR'`).Scan(&dir, &major)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	for _, path := range []string{filepath.Join(dir, "pg_dump"), "/usr/lib/postgresql/" + major + "/bin/pg_dump", program.FindPostgres("pg_dump")} {
		if out, err := exec.CommandContext(t.Context(), path, "--version").Output(); err == nil && strings.Contains(string(out), "(PostgreSQL) "+major+".") {
			return path
		}
	}
	t.Skipf("SKIPPED: %s: it needs pg_dump of PostgreSQL %s, the version of the server, which is not on this machine (Debian: apt-get install postgresql-client-%s)",
		consequence, major, major)
	return ""
}

// settings suit data that is not needed after a crash, and many tests at once.
func settings() []string {
	return []string{
		"fsync=off",
		"synchronous_commit=off",
		"full_page_writes=off",
		"autovacuum=off",
		"max_connections=1000",
	}
}

// startServer decides where tests run, and prefers a container if asked to.
func startServer(ctx context.Context, inContainer bool) (*server, error) {
	if os.Getenv(urlVariable) != "" {
		return given(ctx, urlVariable)
	}
	remark, major := "", os.Getenv(majorVariable)
	if inContainer && major == "" || os.Getenv(imageVariable) != "" {
		container, err := tryContainer(ctx)
		if container != nil {
			return container, nil
		}
		if err != nil && os.Getenv(imageVariable) != "" {
			return nil, err
		}
		if err != nil {
			remark = fmt.Sprintf(" (a container engine answers, but: %v)", err)
		}
	}
	if os.Getenv(sharedVariable) != "" {
		return given(ctx, sharedVariable)
	}
	local, err := postgres.Start(ctx, postgres.Options{Temporary: true, Settings: settings()})
	var missing *postgres.NotFoundError
	if errors.As(err, &missing) {
		if container, failed := tryContainer(ctx); container != nil || failed != nil {
			return container, failed
		}
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(local.Describe(), "PostgreSQL "+major) {
		return nil, errors.Join(fmt.Errorf("%s is %s, and the newest here is %s", majorVariable, major, local.Describe()), local.Stop())
	}
	return &server{url: local.URL(), describe: local.Describe() + remark, stop: local.Stop}, nil
}

// given uses the server that a variable names.
func given(ctx context.Context, variable string) (*server, error) {
	s, err := postgres.Start(ctx, postgres.Options{URL: os.Getenv(variable)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return &server{url: os.Getenv(variable), describe: s.Describe() + ", from " + variable, isShared: true, stop: s.Stop}, nil
}

// tryContainer runs a container, if an engine answers.
func tryContainer(ctx context.Context) (*server, error) {
	if !engineAnswers(ctx) {
		return nil, nil
	}
	return startContainer(ctx)
}

// Share starts a server for the tests of many packages, and returns the setting of the environment that leads them to it.
func Share(ctx context.Context) (setting string, stop func() error, err error) {
	s, err := startServer(ctx, false)
	if err != nil {
		return "", nil, err
	}
	return sharedVariable + "=" + s.url, s.stop, nil
}
