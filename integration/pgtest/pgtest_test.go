package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func value[T any](t *testing.T, conn *pgx.Conn, statement string, args ...any) T {
	t.Helper()
	var got T
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return got
}

func TestRoles(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})

	owner := db.Owner(t)
	if got := value[bool](t, owner, "select rolsuper or rolbypassrls from pg_roles where rolname = session_user"); got {
		t.Error("the owner is a superuser or bypasses row security")
	}
	if got := value[bool](t, owner, "select nspowner = current_user::regrole from pg_namespace where nspname = 'app'"); !got {
		t.Error("schema app is not the owner's")
	}
	if got := value[bool](t, db.Superuser(t), "select rolsuper from pg_roles where rolname = session_user"); !got {
		t.Error("the superuser is none")
	}

	server := db.Server(t)
	rows, err := server.Query(t.Context(), "select * from platform.serving_faults()")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		t.Errorf("a server would refuse to serve this database:\n%s", strings.Join(faults, "\n"))
	}
}

func TestServerHasItsOwnDatabaseOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	other := pgtest.New(t, pgtest.Options{})
	if _, err := other.Superuser(t).Exec(t.Context(), "revoke connect on database "+other.Name()+" from "+
		value[string](t, db.Server(t), "select session_user::text")); err != nil {
		t.Fatal(err)
	}
	_, err := pgx.Connect(t.Context(), other.LoginURL())
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
		t.Errorf("connect without the right to: %v, want SQLSTATE 42501", err)
	}
}

func TestDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			owner := pgtest.New(t, pgtest.Options{}).Owner(t)
			if _, err := owner.Exec(t.Context(), "create table app.thing (id text)"); err != nil {
				t.Fatal(err) // the first one's would be in the way
			}
		})
	}
}

func TestTemplateIsBuiltOnce(t *testing.T) {
	t.Parallel()
	var built atomic.Int32
	template := pgtest.Template{
		Name: t.Name(),
		Build: func(ctx context.Context, owner *pgx.Conn) error {
			built.Add(1)
			_, err := owner.Exec(ctx, "create table app.thing as select 7 as n")
			return err
		},
	}
	t.Run("copies", func(t *testing.T) {
		for range 6 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				owner := pgtest.New(t, pgtest.Options{Template: template}).Owner(t)
				if got := value[int](t, owner, "update app.thing set n = n + 1 returning n"); got != 8 {
					t.Errorf("n = %d, want 8", got)
				}
			})
		}
	})
	if got := built.Load(); got != 1 {
		t.Errorf("built %d times, want once", got)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	if got := value[bool](t, owner, "select to_regnamespace('platform') is null"); !got {
		t.Error("an empty database has the platform")
	}
	if got := value[string](t, owner, "show server_encoding"); got != "UTF8" {
		t.Errorf("server_encoding = %s, want UTF8", got)
	}
}

func TestDatabaseGoesWithItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("test", func(t *testing.T) {
		db := pgtest.New(t, pgtest.Options{})
		name = db.Name()
		db.Server(t)
	})
	superuser := pgtest.New(t, pgtest.Options{Empty: true}).Superuser(t)
	if got := value[bool](t, superuser, "select exists (select from pg_database where datname = $1)", name); got {
		t.Errorf("database %s is still there", name)
	}
}

// The mode of a process of TestProcessesShareAServer.
const sharingMode = "STERNPOST_PGTEST_SHARING"

func TestSharing(t *testing.T) {
	switch os.Getenv(sharingMode) {
	case "":
		t.Skip("runs in processes of its own, started by TestProcessesShareAServer")
	case "exit":
		pgtest.New(t, pgtest.Options{})
		os.Exit(0) // without any clean-up
	default:
		for range 3 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				server := pgtest.New(t, pgtest.Options{}).Server(t)
				if got := value[int](t, server, "select count(number) from platform.release"); got != 0 {
					t.Errorf("%d releases in a new database, want none", got)
				}
			})
		}
	}
}

// Several processes use one given server at once. Nothing is left, except by one that
// ends without Main; the next process removes that.
func TestProcessesShareAServer(t *testing.T) {
	t.Parallel()
	server, err := postgres.Start(t.Context(), postgres.Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	run := func(mode string) error {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSharing$")
		cmd.Env = append(os.Environ(), sharingMode+"="+mode, "STERNPOST_TEST_DATABASE_URL="+server.URL())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("mode %s: %w\n%s", mode, err, out)
		}
		return nil
	}
	left := func() []string {
		conn, err := pgx.Connect(t.Context(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		rows, err := conn.Query(t.Context(), `
			select datname::text from pg_database where starts_with(datname, 'sternpost_test_')
			union all
			select rolname::text from pg_roles where starts_with(rolname, 'sternpost_test_')
		`)
		if err != nil {
			t.Fatal(err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return names
	}

	if err := run("exit"); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) == 0 {
		t.Fatal("a process without clean-up left nothing: the test shows nothing")
	}

	const processes = 3
	results := make(chan error, processes)
	for range processes {
		go func() { results <- run("use") }()
	}
	var errs []error
	for range processes {
		errs = append(errs, <-results)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) > 0 {
		slices.Sort(got)
		t.Errorf("left on the server: %s", strings.Join(got, ", "))
	}
}
