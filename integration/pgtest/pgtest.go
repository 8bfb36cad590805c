// Package pgtest gives each test a Postgres database of its own.
//
// Databases are copies of a template, so that one costs some tens of milliseconds
// regardless of its content, and all are on one server per process: the one that
// STERNPOST_TEST_DATABASE_URL names; else a container, if a package prefers one and an
// engine answers (image STERNPOST_TEST_POSTGRES_IMAGE, default postgres:17); else the one
// that a run of all packages shares; else the Postgres installed on this machine. The
// choice is printed once. Tests may run in parallel, and so may
// processes, also on one given server.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		db := pgtest.New(t, pgtest.Options{})
//		_, err := db.Owner(t).Exec(t.Context(), "create table app.thing (id text)")
//		…
//	}
//
// Main ends the server and removes its content. A process that ends otherwise leaves a
// container to testcontainers' reaper, and anything else to the next process that uses
// this package.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say what a database holds before the test begins.
type Options struct {
	// Empty makes a database without the platform.
	Empty bool

	// Template is installed besides the platform. It is built once per process.
	Template Template
}

// Template is a database to copy. The zero value is the platform alone.
type Template struct {
	// Name tells templates apart within a process. Templates of one name count as equal.
	Name string

	// Build fills a database in which the platform is installed. The connection is the
	// owner's.
	Build func(ctx context.Context, owner *pgx.Conn) error
}

// DB is the database of one test. It is removed when the test ends, and its methods'
// connections are closed.
type DB struct {
	name    string
	cluster *cluster
}

// New makes a database for a test, and fails the test if it cannot.
func New(t testing.TB, opts Options) *DB {
	t.Helper()
	c, err := running()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	db := c.newDB(t, opts)
	t.Cleanup(func() {
		if err := c.drop(db.name); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return db
}

// newDB makes a database.
func (c *cluster) newDB(t testing.TB, opts Options) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	template := ""
	if !opts.Empty {
		var err error
		if template, err = c.template(ctx, opts.Template); err != nil {
			t.Fatalf("pgtest: %v", err)
		}
	} else if opts.Template.Name != "" {
		t.Fatal("pgtest: an empty database has no template")
	}
	name, err := c.create(ctx, template)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return &DB{name: name, cluster: c}
}

// MainInContainer is Main for packages whose tests run in a container if an engine answers: those whose SQL shall meet
// another version of Postgres than that of the machine.
func MainInContainer(m *testing.M) int {
	process.inContainer = true
	return Main(m)
}

// Main runs the tests of a package, then ends the server. It returns the code to
// exit with.
func Main(m *testing.M) int {
	code := m.Run()
	if err := shutdown(); err != nil {
		fmt.Fprintf(os.Stderr, "pgtest: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Name is the database's name.
func (db *DB) Name() string { return db.name }

// OwnerURL connects as the role that owns the database and its content. The role may
// create roles and is not a superuser.
func (db *DB) OwnerURL() string {
	return db.cluster.url(db.name, url.UserPassword(db.cluster.owner(), db.cluster.password))
}

// ServerURL connects as a Sternpost server does: as a role whose only rights are to be a
// member of sternpost_server and to connect to this database. It needs the platform. It
// leads through a pooler if STERNPOST_TEST_POOLER asks for one.
func (db *DB) ServerURL() string {
	if db.cluster.pooler != nil {
		return db.cluster.pooler.Of(db.LoginURL())
	}
	return db.LoginURL()
}

// LoginURL is ServerURL without a pooler.
func (db *DB) LoginURL() string {
	return db.cluster.url(db.name, url.UserPassword(db.cluster.login(), db.cluster.password))
}

// SuperuserURL connects as a superuser, who bypasses row security.
func (db *DB) SuperuserURL() string {
	return db.cluster.url(db.name, db.cluster.super.User)
}

// Owner connects as OwnerURL says, until the test ends.
func (db *DB) Owner(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, db.OwnerURL())
}

// Server connects as ServerURL says, until the test ends, but never through a pooler.
func (db *DB) Server(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, db.LoginURL())
}

// Superuser connects as SuperuserURL says, until the test ends.
func (db *DB) Superuser(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, db.SuperuserURL())
}

func connect(t testing.TB, databaseURL string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatalf("pgtest: connect: %v", err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Errorf("pgtest: close the connection: %v", err)
		}
	})
	return conn
}
