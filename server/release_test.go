package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sql/release"
)

// runOnce runs a server that is expected to refuse to serve, and returns its error.
func runOnce(t *testing.T, databaseURL string) error {
	t.Helper()
	s, err := New(testConfig(databaseURL, func(c *config.Config) { c.Mode, c.Environ = config.Production, []string{"EMPTY=", "BLANK="} }), Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	err = s.Run(ctx)
	if ctx.Err() != nil {
		t.Fatal("the server serves")
	}
	return err
}

func TestRefusalToServe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		as     func(*testDatabase) string // nil means as a server
		change func(*release.Manifest)
		sql    string
		want   string
	}{
		{name: "a superuser", as: func(d *testDatabase) string { return d.SuperuserURL() }, want: "is a superuser"},
		{name: "the owner", as: func(d *testDatabase) string { return d.OwnerURL() }, want: "may create"},
		{name: "a table without row security", sql: "alter table app.note disable row level security", want: "table app.note has no row security"},
		{name: "a function that is not there", change: func(m *release.Manifest) { m.Actions[0].Function = "gone" },
			want: "action getNote: no function api.gone (jsonb, jsonb) with result text"},
		{name: "a form that is not there", change: func(m *release.Manifest) { m.Actions[4].Foreseen[0].Function = "gone" },
			want: "action listNotes: no function api.gone"},
		{name: "facets that are not there", change: func(m *release.Manifest) { m.Actions[4].Facets = "gone" },
			want: "action listNotes: no function api.gone (jsonb, jsonb) with result text"},
		{name: "facets that may write", change: func(m *release.Manifest) { m.Actions[4].Facets = "lose" },
			want: "action listNotes: function api.lose (jsonb, jsonb) of a list action is volatile"},
		{name: "another signature", sql: "drop function api.get_note; create function api.get_note(input text, context jsonb) returns text language sql return ''",
			want: "action getNote: no function api.get_note"},
		{name: "a reading function that may write", sql: "alter function api.get_note volatile",
			want: "action getNote: function api.get_note (jsonb, jsonb) of a get action is volatile"},
		{name: "no right to execute", sql: "revoke execute on function api.get_note from sternpost_server",
			want: "action getNote: no function api.get_note"},
		{name: "no value for a name", change: func(m *release.Manifest) { m.Environment, m.Secrets = []string{"REGION"}, []string{"PEPPER"} },
			want: "set the environment variable REGION: the schema reads it as ctx.env.REGION\n  set the environment variable PEPPER: the schema reads it as ctx.secrets.PEPPER"},
		{name: "an empty value for a name that is compared", change: func(m *release.Manifest) {
			m.Environment, m.Compared, m.Secrets = []string{"EMPTY", "BLANK"}, []string{"BLANK"}, []string{"EMPTY"}
		},
			want: "  the environment variable BLANK is empty: the schema reads it as ctx.env.BLANK, so give it a value\n  the environment variable EMPTY is empty: the schema reads it as ctx.secrets.EMPTY, so give it a value"},
		{name: "a schema that cannot be checked", change: func(m *release.Manifest) { m.Schemas[1].JSON = []byte(`{"type":"object","oneOf":[]}`) },
			want: "action whoAmI: compile the input schema Empty"},
		{name: "an API with an action that is not there", change: func(m *release.Manifest) { m.APIs[1].Actions = []string{"none"} },
			want: "api Small: unknown action none"},
		{name: "a password", change: func(m *release.Manifest) {
			m.Schemas[1].JSON = []byte(`{"type":"object","properties":{"p":{"type":["string","null"],"format":"password"}}}`)
		}, want: "action whoAmI takes files, passwords or secrets and has no early decision"},
		{name: "secrets without a key", change: func(m *release.Manifest) {
			m.Actions[1].Early = "create_note"
			m.Schemas = append(m.Schemas, release.Schema{Name: "Sealed", JSON: []byte(`{"type":"object","properties":{"s":{"type":"string","x-format":"secret"}}}`)})
			m.Actions[1].Input = "Sealed"
		}, want: "action createNote: encryption.key is required to encrypt secrets: set it in sternpost.yaml, or STERNPOST_ENCRYPTION_KEY in the environment; make one with openssl rand -base64 32"},
		{name: "a text to be encrypted without a key", change: func(m *release.Manifest) {
			m.Actions[1].Sealed = []release.Sealed{{Name: "s", As: release.Secret, Input: "title"}}
		}, want: "action createNote: encryption.key is required to encrypt secrets: set it in sternpost.yaml, or STERNPOST_ENCRYPTION_KEY in the environment; make one with openssl rand -base64 32"},
		{name: "a text to be hashed", change: func(m *release.Manifest) {
			m.Actions[1].Sealed = []release.Sealed{{Name: "p", As: release.Password, Header: "pin"}}
		}, want: "action createNote takes files, passwords or secrets and has no early decision"},
		{name: "a text to be signed", change: func(m *release.Manifest) {
			m.Actions[1].Sealed = []release.Sealed{{Name: "p", As: "signature", Header: "pin"}}
		}, want: "action createNote: p must be sealed as a signature, which this server cannot do"},
		{name: "a file", change: func(m *release.Manifest) {
			m.Schemas[1].JSON = []byte(`{"type":"object","properties":{"f":{"type":"array","items":{"type":"string","x-format":"file"}}}}`)
		}, want: "action whoAmI takes files, passwords or secrets and has no early decision"},
		{name: "an early decision that is not there", change: func(m *release.Manifest) { m.Actions[1].Early = "gone" },
			want: "action createNote: no function api.gone (jsonb, jsonb) with result boolean"},
		{name: "an early decision that decides nothing", change: func(m *release.Manifest) { m.Actions[1].Early = "get_note" },
			want: "action createNote: no function api.get_note (jsonb, jsonb) with result boolean"},
		{name: "files without storage", change: func(m *release.Manifest) {
			m.Actions[0].Result = "Note"
			m.Schemas = append(m.Schemas, release.Schema{Name: "Note", JSON: []byte(`{"properties":{"f":{"$ref":"#/components/schemas/File"}}}`)})
		}, want: "action getNote: storage.s3.bucket is required to store files: set it in sternpost.yaml, or STERNPOST_STORAGE_S3_BUCKET in the environment"},
		{name: "a webhook without address", change: func(m *release.Manifest) { m.Subscribers = []release.Subscriber{{Name: "tellShop"}} },
			want: "subscriber tellShop has no code, so it is a webhook, and has no address: set subscribers.tellShop.url"},
		{name: "mails of code", change: func(m *release.Manifest) { m.Mails = []string{"reminder"} },
			want: "code may send the mail reminder: put mail/reminder.txt of the project beside sternpost.yaml\n  code may send mails (reminder): set mail.smtp.host"},
		{name: "several with files, without storage", change: func(m *release.Manifest) {
			m.Actions[0].Result, m.Actions[1].Result = "Note", "Note"
			m.Schemas = append(m.Schemas, release.Schema{Name: "Note", JSON: []byte(`{"properties":{"f":{"$ref":"#/components/schemas/File"}}}`)})
		}, want: "action getNote and 1 more: storage.s3.bucket is required"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			m := app()
			if test.change != nil {
				test.change(m)
			}
			d.install(t, m)
			if test.sql != "" {
				d.exec(t, test.sql)
			}
			address := d.ServerURL()
			if test.as != nil {
				address = test.as(d)
			}
			if err := runOnce(t, address); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestReadinessOfTheSchema(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	s := start(t, d.ServerURL(), nil)
	s.waitReady(t, "schema")
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 503 || body != unavailableJSON {
		t.Errorf("without release: got %d %s", status, body)
	}
	if resp, _ := s.do(t, "GET", "/nowhere", "", nil); resp.StatusCode != 404 {
		t.Errorf("without release: unknown path: got %d", resp.StatusCode)
	}

	d.install(t, app())
	s.waitReady(t, "")

	// A release that this server does not understand: it continues with the old one.
	newer := app()
	newer.Format = release.Format + 1
	d.install(t, newer)
	s.waitReady(t, "schema")
	if status, _ := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
		t.Errorf("with a newer release in the database: got %d", status)
	}
	if want := "the database is newer than this server"; !strings.Contains(s.log.String(), want) {
		t.Errorf("the log does not say %q", want)
	}

	d.install(t, app())
	s.waitReady(t, "")

	// A release that does not fit the database: likewise.
	unfit := app()
	unfit.Actions[0].Function = "gone"
	d.install(t, unfit)
	s.waitReady(t, "schema")
	if status, _ := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
		t.Errorf("with an unfit release in the database: got %d", status)
	}

	// But the server does not serve a database that has become unsafe.
	d.exec(t, "alter table app.note disable row level security")
	d.install(t, app())
	until(t, "an unsafe database is not served", func() bool {
		status, _ := s.post(t, "getNote", `{"id":"n1"}`)
		return status == 503
	})
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 503 {
		t.Errorf("unsafe: got %d %s", status, body)
	}
	d.exec(t, "alter table app.note enable row level security")
	s.waitReady(t, "")
}

// TestReleaseWithoutNotifications serves a database without LISTEN: the server still finds a new
// release.
func TestReleaseWithoutNotifications(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	proxy := pgtest.NewProxy(t, d.ServerURL())
	proxy.Refuse("^listen")
	s := start(t, proxy.URL(), nil)
	s.waitReady(t, "")
	d.install(t, app())
	s.waitLog(t, `"serving release","release":2`)
}

// TestAdvice checks that a server which serves logs what its database advises, once for each release.
func TestAdvice(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	if _, err := d.Server(t).Exec(t.Context(), "select lo_create(0)"); err != nil {
		t.Fatal(err)
	}
	s := start(t, d.ServerURL(), nil)
	for releases := 1; releases <= 2; releases++ {
		s.waitReady(t, "")
		until(t, fmt.Sprintf("the advice is logged %d times", releases), func() bool {
			return strings.Count(s.log.String(), "which is not part of the application") == releases
		})
		d.install(t, app())
	}
}

func TestDatabaseWithoutPlatform(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t, pgtest.Options{Empty: true})
	s := start(t, d.OwnerURL(), nil)
	s.waitReady(t, "schema")
}

// In development the login owns everything, and a role removes these rights on each connection.
func TestRole(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	for _, address := range []string{d.OwnerURL(), d.SuperuserURL()} {
		s, err := New(testConfig(address, nil), Options{Role: "sternpost_server", Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		ts := &testServer{Server: s, url: "http://" + s.Addr().String()}
		ts.waitReady(t, "")
		if status, body := ts.post(t, "getNote", `{"id":"n1"}`); status != 200 {
			t.Errorf("got %d %s", status, body)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Releases are installed while requests run; none fails. Each release has another
// name for the function, drops the one before, and changes the input schema.
func TestReleaseSwapUnderLoad(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	var done atomic.Bool
	var calls atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for !done.Load() {
				status, body := s.post(t, "getNote", `{"id":"n1"}`)
				if status != 200 || body != `{"id":"n1","title":"Knots","slug":"knots"}` {
					t.Errorf("getNote: got %d %s", status, body)
					return
				}
				calls.Add(1)
			}
		})
	}

	previous := "get_note"
	conn := d.Owner(t)
	for i := range 20 {
		name := fmt.Sprintf("get_note_%d", i)
		m := app()
		m.Actions[0].Function = name
		m.APIs[1].Actions = append(m.APIs[1].Actions, "whoAmI")
		manifest, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"alter function api." + previous + " rename to " + name,
			"create or replace function api." + name + `(input jsonb, context jsonb) returns text
			language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
			begin
				perform platform.enter('getNote', context);
				return (select row_to_json(record)::text from (select note.id, note.title, note.slug from app.note where note.id = input->>'id') as record);
			end; $$`,
			"select platform.install_release('', '" + strings.ReplaceAll(string(manifest), "'", "''") + "', '{}')",
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := calls.Load()
		for calls.Load() < before+20 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		previous = name
	}
	done.Store(true)
	wg.Wait()
	s.waitReady(t, "")
	if got := s.current.Load().number; got != 21 {
		t.Errorf("release: got %d, want 21", got)
	}

	// An action that a newer release does not have is not found, even before the server has noticed the
	// release.
	m := app()
	m.APIs[0].Actions = []string{"whoAmI"}
	m.APIs = m.APIs[:1]
	m.Actions = m.Actions[6:7]
	d.exec(t, "drop function api."+previous)
	d.install(t, m)
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 404 || body != actionNotFoundBody {
		t.Errorf("a dropped action: got %d %s", status, body)
	}
}

// A function that is missing without a newer release is a mistake of Sternpost, not of the caller.
func TestMissingFunctionWithoutRelease(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	d.exec(t, "drop function api.get_note")
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 500 || body != internalBody {
		t.Errorf("got %d %s, want 500", status, body)
	}
}

// TestOvertakenToTheEnd replaces each release while it is called. The call ends with its last error,
// and not without one.
func TestOvertakenToTheEnd(t *testing.T) {
	t.Parallel()
	apis := map[string]*api{"api": {}}
	s := &Server{}
	s.current.Store(&served{number: 1, apis: apis})
	app := fiber.New()
	overtaken := &pgconn.PgError{Code: "42883"}
	app.Get("/:api", func(c *fiber.Ctx) error {
		err := s.onNewest(c, s.current.Load(), apis["api"], func(r *served, _ *api) error {
			s.current.Store(&served{number: r.number + 1, apis: apis})
			return overtaken
		})
		if err != overtaken {
			t.Errorf("got %v, want %v", err, overtaken)
		}
		return nil
	})
	if _, err := app.Test(httptest.NewRequest("GET", "/api", nil)); err != nil {
		t.Fatal(err)
	}
	if got := s.current.Load().number; got != 1+maxReleases {
		t.Errorf("it was tried on %d releases, want %d", got-1, maxReleases)
	}
}
