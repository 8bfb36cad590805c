package server

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/database"
)

// TestPreparedStatements has each choice on each way to the database. Statements are
// prepared where that was asked for and holds, and a server that cannot keep to its
// configuration ends and says why.
func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	direct := func(*testing.T) string { return d.LoginURL() }
	pooled := func(prepared bool) func(*testing.T) string {
		return func(t *testing.T) string {
			return pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 2}).Of(d.LoginURL())
		}
	}
	for _, c := range []struct {
		way      string
		url      func(*testing.T) string
		choice   config.PreparedStatements
		isNamed  bool
		isPooled bool
		refused  bool
	}{
		{way: "direct", url: direct, choice: config.PreparedAuto, isNamed: true},
		{way: "direct", url: direct, choice: config.PreparedOn, isNamed: true},
		{way: "direct", url: direct, choice: config.PreparedOff},
		{way: "pooler without", url: pooled(false), choice: config.PreparedAuto, isPooled: true},
		{way: "pooler without", url: pooled(false), choice: config.PreparedOn, refused: true},
		{way: "pooler without", url: pooled(false), choice: config.PreparedOff, isPooled: true},
		{way: "pooler with", url: pooled(true), choice: config.PreparedAuto, isPooled: true, isNamed: true},
		{way: "pooler with", url: pooled(true), choice: config.PreparedOn, isPooled: true, isNamed: true},
		{way: "pooler with", url: pooled(true), choice: config.PreparedOff, isPooled: true},
	} {
		t.Run(c.way+" "+string(c.choice), func(t *testing.T) {
			t.Parallel()
			url := c.url(t)
			if c.refused {
				s, err := New(testConfig(url, func(settings *config.Config) { settings.PreparedStatements = c.choice }),
					Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "database.preparedStatements is on") {
					t.Errorf("Run: got %v, want the refusal", err)
				}
				return
			}
			s := start(t, url, func(settings *config.Config) { settings.PreparedStatements = c.choice })
			s.waitReady(t, "")
			for range 3 {
				if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
					t.Errorf("getNote: got %d %s", status, body)
				}
			}
			conn, err := s.db.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			if got := database.SessionOf(conn.PgConn()); got.IsNamed != c.isNamed || got.IsPooled() != c.isPooled {
				t.Errorf("got %+v, want named %t, pooled %t", got, c.isNamed, c.isPooled)
			}
		})
	}
}

// TestRoleBehindPooler has a login that owns everything serve in a role that may not, for
// each transaction anew: the next one on the connection is the owner's again.
func TestRoleBehindPooler(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	url := pgtest.NewPooler(t, pgtest.PoolerOptions{Size: 1}).Of(d.OwnerURL())
	s, err := New(testConfig(url, nil), Options{Role: "sternpost_server", Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	ts := &testServer{Server: s, url: "http://" + s.Addr().String()}
	ts.waitReady(t, "") // serving_faults would prevent this for the owner
	settings, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	settings.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	stranger, err := pgx.ConnectConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close(t.Context())
	for range 3 {
		if status, body := ts.post(t, "getNote", `{"id":"n1"}`); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
		var own string
		if err := s.db.QueryRow("select current_user::text", nil, &own); err != nil || own != "sternpost_server" {
			t.Errorf("a statement of the server runs as %s (%v)", own, err)
		}
		var role string
		if err := stranger.QueryRow(t.Context(), "select current_setting('role')").Scan(&role); err != nil || role != "none" {
			t.Errorf("the next one on the connection has the role %s (%v)", role, err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
