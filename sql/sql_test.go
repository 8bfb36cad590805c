package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sql/role"
)

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	for range 2 {
		if err := sql.Migrate(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := value[int](t, owner, "select version from platform.schema_version"), sql.Version(); got != want {
		t.Errorf("version = %d, want %d", got, want)
	}
	if got, want := value[string](t, owner, "select hash from platform.function_version"), sql.Hash(); got != want {
		t.Errorf("hash = %s, want %s", got, want)
	}
}

func TestMigrateAsSuperuser(t *testing.T) {
	t.Parallel()
	superuser := pgtest.New(t, pgtest.Options{Empty: true}).Superuser(t)
	if err := sql.Migrate(t.Context(), superuser); err != nil {
		t.Fatal(err)
	}
	exec(t, superuser, "set role sternpost_server")
	if got := values[string](t, superuser, "select * from platform.serving_faults()"); len(got) > 0 {
		t.Errorf("faults:\n%s", strings.Join(got, "\n"))
	}
}

// On a server that has never seen Sternpost, by owners that may create roles and databases and are not
// superusers. Their installations can be served, and do not disturb each other.
func TestMigrateNewServer(t *testing.T) {
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
	superuser := connect(t, server.URL())
	exec(t, superuser, "create role owner login createrole")

	const databases = 5
	results := make(chan error, databases)
	var names []string
	for i := range databases {
		name := fmt.Sprintf("shop_%d", i)
		names = append(names, name)
		exec(t, superuser, "create database "+name+" owner owner")
	}
	for _, name := range names {
		go func() {
			conn, err := pgx.Connect(t.Context(), databaseURL(server.URL(), "owner", name))
			if err == nil {
				err = errors.Join(sql.Migrate(t.Context(), conn), conn.Close(context.Background()))
			}
			results <- err
		}()
	}
	for range databases {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}

	exec(t, superuser, "create role shop_server login in role sternpost_server")
	for _, name := range names {
		exec(t, superuser, "grant connect on database "+name+" to shop_server")
		login := connect(t, databaseURL(server.URL(), "shop_server", name))
		if got := values[string](t, login, "select * from platform.serving_faults()"); len(got) > 0 {
			t.Errorf("%s: faults:\n%s", name, strings.Join(got, "\n"))
		}
	}
	for _, name := range role.All() {
		if got := value[string](t, superuser, "select coalesce(shobj_description($1::text::regrole, 'pg_authid'), '')", name); got == "" {
			t.Errorf("role %s has no comment", name)
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// databaseURL changes role and database of the URL of a local server.
func databaseURL(url, role, database string) string {
	return strings.Replace(url, "postgres://postgres@/postgres?", "postgres://"+role+"@/"+database+"?", 1)
}

func TestMigrateByWhoeverDoesNotOwnTheDatabase(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	owner := db.Owner(t)
	// To one role alone: servers beside this test do not serve if theirs may create schemas in any database.
	exec(t, db.Superuser(t), "alter database "+db.Name()+" owner to current_user; grant create on database "+db.Name()+" to "+owner.Config().User)
	err := sql.Migrate(t.Context(), owner)
	if err == nil || !strings.Contains(err.Error(), "does not own database") {
		t.Errorf("Migrate = %v, want an error that says who does not own the database", err)
	}
	if got := value[bool](t, owner, "select to_regnamespace('app') is null"); !got {
		t.Error("a failed migration left schema app behind")
	}
}

func TestMigrateDatabaseInUse(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	exec(t, owner, `
		create table public.invoice (id int);
		insert into public.invoice values (7);
		create function public.one() returns int language sql as 'select 1';
	`)
	if err := sql.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if got := value[int](t, owner, "select id from public.invoice"); got != 7 {
		t.Errorf("what was there before: %d, want 7", got)
	}
}

// A schema of our name by another owner is not taken over.
func TestMigrateWithForeignSchema(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	exec(t, owner, "create schema api")
	err := sql.Migrate(t.Context(), owner)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "42P06" {
		t.Errorf("Migrate = %v, want SQLSTATE 42P06, duplicate schema", err)
	}
}

func TestMigrateNewerPlatform(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	exec(t, owner, "update platform.schema_version set version = version + 1")
	if err := sql.Migrate(t.Context(), owner); !errors.Is(err, sql.ErrNewerPlatform) {
		t.Errorf("Migrate = %v, want %v", err, sql.ErrNewerPlatform)
	}
}

func TestMigrateReplacesChangedFunctions(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	before := dump(t, owner)
	exec(t, owner, `
		update platform.function_version set hash = 'of an older build';
		create or replace function platform.time_zone() returns text language sql as $$ select 'nowhere' $$;
	`)
	if err := sql.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if got := value[string](t, owner, "select platform.time_zone()"); got != "UTC" {
		t.Errorf("time_zone() = %q after the migration, want UTC", got)
	}
	if after := dump(t, owner); after != before {
		t.Errorf("replaying the functions changed the catalog:\n%s", difference(before, after))
	}
}

func TestMigrateWaitsItsTurn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	other := db.Owner(t)
	exec(t, other, "select pg_advisory_lock(9628173550095224)") // what tern's command line takes

	owner := db.Owner(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := sql.Migrate(ctx, owner); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Migrate while another one migrates = %v, want %v", err, context.DeadlineExceeded)
	}

	owner = db.Owner(t) // ctx may have ended the one before
	result := make(chan error)
	go func() { result <- sql.Migrate(t.Context(), owner) }()
	exec(t, other, "select pg_advisory_unlock(9628173550095224)")
	if err := <-result; err != nil {
		t.Errorf("Migrate after the other one: %v", err)
	}
}

func TestMigrateAtTheSameTime(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	const migrators = 4
	results := make(chan error, migrators)
	for range migrators {
		conn := db.Owner(t)
		go func() { results <- sql.Migrate(t.Context(), conn) }()
	}
	for range migrators {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if got, want := dump(t, db.Owner(t)), dump(t, pgtest.New(t, pgtest.Options{}).Owner(t)); got != want {
		t.Errorf("the platform is other than by one migrator:\n%s", difference(want, got))
	}
}

// A migration must not queue behind a long transaction and hold up the others who
// queue behind it.
func TestMigrateGivesUpOnALock(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	reader := db.Owner(t)
	exec(t, reader, "update platform.function_version set hash = 'of an older build'")
	exec(t, reader, "begin; lock table platform.function_version in share row exclusive mode")
	err := sql.Migrate(t.Context(), db.Owner(t))
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "55P03" {
		t.Errorf("Migrate with a locked table = %v, want SQLSTATE 55P03", err)
	}
}

// The script and Migrate leave the same, so that a database that was made by one can
// go on with the other.
func TestScript(t *testing.T) {
	t.Parallel()
	if sql.Script() != sql.Script() {
		t.Fatal("two calls differ")
	}
	scripted := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	exec(t, scripted, "begin;"+sql.Script()+"commit")
	if err := sql.Migrate(t.Context(), scripted); err != nil {
		t.Errorf("Migrate after the script: %v", err)
	}
	migrated := pgtest.New(t, pgtest.Options{}).Owner(t)
	if got, want := dump(t, scripted), dump(t, migrated); got != want {
		t.Errorf("script and migrations differ:\n%s", difference(want, got))
	}
}

// Tern reads migrations as templates, so nothing in them may look like one.
func TestMigrationsAreNoTemplates(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(sql.Migrations(), "*")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != sql.Version() {
		t.Errorf("%d files among the migrations, version %d", len(names), sql.Version())
	}
	for _, name := range names {
		text, err := fs.ReadFile(sql.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "{{") || strings.Contains(string(text), "---- ") {
			t.Errorf("%s holds braces or a marker of tern", name)
		}
	}
}

// Each function has its file, and each file is installed.
func TestFunctionFiles(t *testing.T) {
	t.Parallel()
	install, err := fs.ReadFile(sql.Functions(), "install.sql")
	if err != nil {
		t.Fatal(err)
	}
	var installed []string
	for _, match := range regexp.MustCompile(`\{\{ template "(.*)" \. \}\}`).FindAllStringSubmatch(string(install), -1) {
		installed = append(installed, match[1])
	}
	slices.Sort(installed)

	files, err := fs.Glob(sql.Functions(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return name == "install.sql" })
	if !slices.Equal(installed, files) {
		t.Errorf("install.sql installs %q, the files are %q", installed, files)
	}

	for _, name := range files {
		text, err := fs.ReadFile(sql.Functions(), name)
		if err != nil {
			t.Fatal(err)
		}
		created := regexp.MustCompile(`(?m)^create or replace function platform\.(\w+)\(`).FindAllStringSubmatch(string(text), -1)
		if len(created) != 1 || strings.TrimSuffix(name, ".sql") != created[0][1] && strings.TrimSuffix(name, "_array.sql") != created[0][1] {
			t.Errorf("%s creates %q, want the one function it is named for", name, created)
		}
		if !strings.HasPrefix(string(text), "-- ") {
			t.Errorf("%s does not begin with why it exists", name)
		}
	}
}
