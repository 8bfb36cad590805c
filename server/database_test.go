package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/canary"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/release"
)

// watch checks every response and log for passwords and secrets.
var watch canary.Watch

func TestMain(m *testing.M) {
	http.DefaultClient.Transport = watch.Transport(http.DefaultTransport)
	os.Exit(watch.Exit(os.Stdout, pgtest.Main(m)))
}

//go:embed testdata/app.sql
var appSQL string

// testDatabase is a database for one test.
type testDatabase struct {
	*pgtest.DB
}

// newDatabase makes a database with the application of testdata, and no release.
func newDatabase(t testing.TB) *testDatabase {
	t.Helper()
	return &testDatabase{pgtest.New(t, withApp)}
}

var withApp = pgtest.Options{Template: pgtest.Template{
	Name: "server app",
	Build: func(ctx context.Context, owner *pgx.Conn) error {
		_, err := owner.Exec(ctx, appSQL)
		return err
	},
}}

// exec runs SQL as the owner.
func (d *testDatabase) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := d.Owner(t).Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// install makes a manifest the newest release.
func (d *testDatabase) install(t testing.TB, m *release.Manifest) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Owner(t).Exec(context.Background(), "select platform.install_release('', $1, '{}')", string(raw)); err != nil {
		t.Fatal(err)
	}
}

// waitSleeping waits until the given number of statements sleep in the database.
func (d *testDatabase) waitSleeping(t *testing.T, want int) {
	t.Helper()
	d.waitSessions(t, "wait_event = 'PgSleep'", want)
}

// waitSessions waits until the given number of sessions of the database meet a condition.
func (d *testDatabase) waitSessions(t *testing.T, condition string, want int) {
	t.Helper()
	conn := d.Superuser(t)
	until(t, fmt.Sprintf("%d sessions have %s", want, condition), func() bool {
		var got int
		if err := conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and "+condition).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got == want
	})
}

// letWake makes a sleeping function of an action, or of custom code, answer as usual once it is woken, so that a test
// controls how long it sleeps.
func (d *testDatabase) letWake(t *testing.T, function, volatility, action string) {
	t.Helper()
	d.exec(t, `create or replace function api.`+function+`(input jsonb, context jsonb) returns text
		language plpgsql `+volatility+` security definer set search_path = pg_catalog, pg_temp as $$
		begin
			perform platform.enter('`+action+`', context);
			begin
				perform pg_sleep((input->>'seconds')::float);
			exception when query_canceled then null;
			end;
			return '"woken"';
		end;
		$$`)
}

// wake ends the sleep of all sleeping statements in the database. Those without letWake end with an error.
func (d *testDatabase) wake(t *testing.T) {
	t.Helper()
	_, err := d.Superuser(t).Exec(t.Context(), "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'")
	if err != nil {
		t.Fatal(err)
	}
}

// address returns the address of the database.
func (d *testDatabase) address(t *testing.T) (network, address string) {
	t.Helper()
	config, err := pgconn.ParseConfig(d.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	return pgconn.NetworkAddress(config.Host, config.Port)
}

// through returns the URL of the database with another address.
func (d *testDatabase) through(t *testing.T, address string) string {
	t.Helper()
	config, err := pgconn.ParseConfig(d.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", url.UserPassword(config.User, config.Password), address, config.Database)
}

// serverLogin returns the role that servers log in as.
func (d *testDatabase) serverLogin(t *testing.T) string {
	t.Helper()
	config, err := pgconn.ParseConfig(d.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	return config.User
}
