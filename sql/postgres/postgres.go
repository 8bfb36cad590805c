// Package postgres finds or starts the Postgres for development and tests, so that
// neither needs any set-up.
//
// Its input is a database URL or nothing; its output is a URL that answers. Without a URL
// it starts the binaries that are installed on this machine, as a child process on a
// private socket. It ends the child with this process, however this process ends. It
// installs nothing and does not depend on the content of a database.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// MinMajor is the oldest major version of Postgres that Sternpost works with.
const MinMajor = 15

// Options configure which Postgres to use, and how.
type Options struct {
	// URL is a database to use instead of starting one. Start only checks that it answers
	// and is new enough.
	URL string

	// Dir is the directory for data that is kept between runs, in its subdirectory
	// "postgres". A missing one is made. Dir may be empty only with Temporary.
	Dir string

	// Temporary is for tests: the data is in a directory for temporary files, is written
	// without protection against crashes, and is removed with the server.
	Temporary bool

	// Settings are further settings of the server, each "name=value".
	Settings []string

	// Log receives the log of the server. Nil discards it; the error of a failed start
	// contains its log in any case.
	Log io.Writer
}

// Server is a Postgres that answers.
type Server struct {
	url      string
	describe string
	dataDir  string // empty if the server was given
	stop     func() error
	exited   <-chan struct{} // nil if the server was given
	ending   func() error    // how it ended, once it has exited
}

// URL returns the URL to connect: as superuser if the server was started here, otherwise
// as given.
func (s *Server) URL() string { return s.url }

// Describe returns a short description of the Postgres and the place of its data. It
// contains no password.
func (s *Server) Describe() string { return s.describe }

// DataDir returns the data directory of a server that was started here, otherwise "".
func (s *Server) DataDir() string { return s.dataDir }

// Stop ends the server if it was started here, and returns when it has ended. Later calls
// do nothing.
func (s *Server) Stop() error { return s.stop() }

// Exited is closed when a server that was started here has ended, by Stop or by itself.
// It is nil for a given server.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Err returns how a server that was started here has ended, with the end of its log. It
// is for a server that has exited without Stop, and nil before.
func (s *Server) Err() error {
	select {
	case <-s.exited:
		return s.ending()
	default:
		return nil
	}
}

// Start finds or starts a Postgres and returns when it answers. ctx limits only the
// start.
//
// At most one process at a time can use one Dir: for a second one Start returns an
// *InUseError. Without any Postgres on the machine it returns a *NotFoundError.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.URL != "" {
		return use(ctx, opts.URL)
	}
	return launch(ctx, opts)
}

// Remove removes the data that Start keeps under a directory, with all its content. It
// returns an *InUseError if its server runs.
func Remove(ctx context.Context, dir string) error { return remove(ctx, dir) }

// use checks that a given database answers.
func use(ctx context.Context, databaseURL string) (*Server, error) {
	config, err := ParseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	version, err := ask(ctx, &config.Config, "show server_version_num")
	if err != nil {
		return nil, fmt.Errorf("use the given database: %w", err)
	}
	number, err := strconv.Atoi(version)
	if err != nil {
		return nil, fmt.Errorf("read the version of the given database: %w", err)
	}
	if major := number / 10000; major < MinMajor {
		return nil, fmt.Errorf("the given database runs on PostgreSQL %d: use a database on %d or later", major, MinMajor)
	}
	return &Server{
		url: databaseURL,
		describe: fmt.Sprintf("PostgreSQL %d at %s, database %s, as %s",
			number/10000, config.Host, config.Database, config.User),
		stop: func() error { return nil },
	}, nil
}

// ask runs one statement on a connection of its own and returns its only value.
func ask(ctx context.Context, config *pgconn.Config, statement string) (string, error) {
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	results, err := conn.Exec(ctx, statement).ReadAll()
	if err != nil {
		return "", err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return "", fmt.Errorf("%s: the answer is not one row", statement)
	}
	return string(results[0].Rows[0][0]), nil
}

// startTimeout is for a server that runs and does not answer. It allows for recovery from
// a crash.
const startTimeout = 2 * time.Minute

// awaitAnswer waits until the server takes connections, has exited, or ctx ends.
func awaitAnswer(ctx context.Context, serverURL string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	config, err := pgconn.ParseConfig(serverURL)
	if err != nil {
		return fmt.Errorf("read our own URL: %w", err)
	}
	for {
		_, err := ask(ctx, config, "select 1")
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return errors.New("the server exited")
		case <-ctx.Done():
			return fmt.Errorf("%w (the last attempt: %w)", ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// socketPort is part of the socket's name; the directory distinguishes two servers.
const socketPort = "5432"

func socketURL(dir string) string {
	// A plus sign is literal here, so spaces need the other encoding.
	host := strings.ReplaceAll(url.QueryEscape(dir), "+", "%20")
	return "postgres://" + superuser + "@/postgres?host=" + host + "&port=" + socketPort + "&sslmode=disable"
}

// superuser is the role that initdb makes.
const superuser = "postgres"
