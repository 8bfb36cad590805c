package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/local"
)

// The attacked project: notes, which callers see and change only if they are their own.
var attacked = map[string]string{
	"schema.stern": `
model Note {
  fields {
    owner Identity  text Text  code Text @unique  tags Text[] @default  shared Boolean @default  scan File?  parts Part[]
  }
  actions {
    create createNote() with (owner.id, text, code, tags?, scan?)
    get getNote(id)
    list listNotes(text?, code?, tags?, owner.id?) { @orderBy(text: desc) @sortable(code) }
    update updateNote(id) with (text?, tags?)
    delete deleteNote(id)
    get getShared(id) { @permission(expression: note.shared || ctx.headers.xKey == "open") }
    update renameNote(id) with (text) { @permission(expression: note.text != text && note.owner == ctx.identity) }
    list allNotes() { @permission(expression: true) }
    read countNotes() returns (Any)
    write pretend(action: Text) returns (Any)
  }
  @permission(expression: note.owner == ctx.identity, actions: [create, get, list, update, delete])
  @permission(expression: true, actions: [read, write])
}
model Part { fields { note Note  name Text } }
`,
	"functions/countNotes.sql": `
create function functions.count_notes() returns jsonb language plpgsql stable as $$
begin
  return to_jsonb((select count(*) from app.note));
end;
$$;
`,
	// It enters another action under a name that it builds at run time, hidden from the
	// compiler, and restores the entered name before any check.
	"functions/pretend.sql": `
create function functions.pretend(action text) returns jsonb language plpgsql volatile as $$
declare
  v_entered text := current_setting('stern' || 'post.action');
  v_counted jsonb;
  v_changed bigint;
begin
  execute format('select set_%s(%L, %L, true)', 'config', 'stern' || 'post.action', action);
  for i in 1..10 loop -- often enough for any plan to be kept
    v_counted := functions.count_notes();
  end loop;
  update app.note set tags = note.tags;
  get diagnostics v_changed = row_count;
  execute format('select set_%s(%L, %L, true)', 'config', 'stern' || 'post.action', v_entered);
  return jsonb_build_array(v_counted, v_changed);
end;
$$;
`,
	// One connection for all: each call finds what an earlier one left behind.
	"sternpost.yaml": "database:\n  poolSize: 1\n  poolWait: 30\n",
}

const attackedData = `
	insert into app.identity (id) values ('ann'), ('ben') on conflict do nothing;
	select platform.file_enter('{AAAAAAAAAAAAAAAAAAAAAA}');
	insert into app.note (id, owner_id, text, code, scan)
	select
	  owner || number, owner, 'secret of ' || owner, owner || number,
	  case when number > 10 then '{"key":"AAAAAAAAAAAAAAAAAAAAAA","filename":"a.txt","contentType":"text/plain","size":1}'::jsonb end
	from unnest('{ann,ben}'::text[]) as owner
	cross join generate_series(1, 20) as number;
`

func authorized(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
}

// fragile panics in one of ten calls of the server's dependencies: before the caller is
// known, between the early decision and the call, and when the answer of the database
// has come.
type fragile struct {
	server.Identifier
	storage.Store
	panics atomic.Int64
}

const broken = "broken on purpose"

func (f *fragile) mayBreak() {
	if rand.IntN(10) == 0 {
		f.panics.Add(1)
		panic(broken)
	}
}

func (f *fragile) Identify(ctx context.Context, authorization []string) (auth.Identity, error) {
	f.mayBreak()
	return f.Identifier.Identify(ctx, authorization)
}

func (f *fragile) Put(ctx context.Context, key, contentType string, contents []byte) error {
	f.mayBreak()
	return f.Store.Put(ctx, key, contentType, contents)
}

func (f *fragile) DownloadURL(_ context.Context, key string, _ storage.Download) (string, error) {
	f.mayBreak()
	return "https://files.example/" + key, nil
}

// TestNothingIsCarriedOver sends thousands of requests of two identities and anonymous
// callers over one database connection, with errors, cancelled calls, panics and lost
// connections in between. No caller must ever see another's rows.
func TestNothingIsCarriedOver(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, attacked)
	db := installApp(t, dir)
	files, err := local.Open(local.Options{Directory: t.TempDir(), BaseURL: "http://127.0.0.1", Secret: []byte("of this test")})
	if err != nil {
		t.Fatal(err)
	}
	breaking := &fragile{Store: files}
	a := serveWith(t, db, dir, db.ServerURL(), serving{store: breaking, env: []string{"STERNPOST_STORAGE_CHECK=false"}, identifier: func(tokens *auth.Tokens) server.Identifier {
		breaking.Identifier = tokens
		return breaking
	}})
	owner := a.db.Superuser(t)
	if _, err := owner.Exec(t.Context(), attackedData); err != nil {
		t.Fatal(err)
	}
	headers := map[string]http.Header{"": {"Content-Type": {"application/json"}}}
	for _, who := range []string{"ann", "ben"} {
		headers[who] = authorized(a.token(t, who))
	}

	const workers, each = 8, 400
	var group sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			r := rand.New(rand.NewPCG(uint64(worker), 7))
			for range each {
				who := []string{"ann", "ben", ""}[r.IntN(3)]
				other := map[string]string{"ann": "ben", "ben": "ann", "": "ann"}[who]
				path, body := attack(r, who, other)
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(10) == 0 {
					time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
				}
				response, text, err := a.try(ctx, "POST", path, headers[who].Clone(), body)
				cancel()
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%s %s: %v", path, body, err)
					}
					continue
				}
				if strings.Contains(text, "secret of "+other) || who == "" && strings.Contains(text, "secret") {
					t.Errorf("%q was shown another's row by %s %s: %s", who, path, body, text)
				}
				mu.Lock()
				statuses[response.StatusCode]++
				mu.Unlock()
			}
		}()
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(300 * time.Millisecond): // the connection is lost every now and then
			_, err := owner.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
				where datname = current_database() and usename = $1`, loginOf(t, a.db))
			if err != nil {
				t.Error(err)
			}
		}
	}
	for _, status := range []int{200, 400, 403, 404, 500} {
		if statuses[status] < 20 {
			t.Errorf("%d answers had status %d: this shows little; all: %v", statuses[status], status, statuses)
		}
	}
	panics := int(breaking.panics.Load())
	t.Logf("answers by status: %v; %d panics", statuses, panics)
	if log := a.log.String(); statuses[500] > panics || strings.Count(log, "panic=") != strings.Count(log, `panic="`+broken) {
		t.Errorf("%d answers had status 500 after %d panics that were meant", statuses[500], panics)
	}
	for status := range statuses {
		if status > 500 && status != http.StatusServiceUnavailable {
			t.Errorf("%d answers had status %d", statuses[status], status)
		}
	}
	for _, who := range []string{"ann", "ben"} {
		list := ""
		for response := (*http.Response)(nil); response == nil || response.StatusCode >= 500; {
			response, list = a.send(t, "POST", "/api/json/listNotes", headers[who].Clone(), `{"where":{"text":{"startsWith":"secret"}},"first":100}`)
		}
		if n := strings.Count(list, `"text":"secret of `+who+`"`); n != 20 || strings.Count(list, "secret") != n {
			t.Errorf("in the end %s sees %s", who, list)
		}
	}
}

// loginOf is the role that the server logs in as.
func loginOf(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	config, err := pgx.ParseConfig(db.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	return config.User
}

// attack returns a random request.
func attack(r *rand.Rand, who, other string) (path, body string) {
	own := fmt.Sprint(who, 1+r.IntN(20))
	foreign := fmt.Sprint(other, 1+r.IntN(20))
	switch r.IntN(14) {
	case 0:
		return "/api/json/getNote", `{"id":"` + own + `"}`
	case 1:
		return "/api/json/getNote", `{"id":"` + foreign + `"}`
	case 2:
		return "/api/json/listNotes", `{}`
	case 3:
		return "/api/json/listNotes", `{"where":{"owner":{"id":{"equals":"` + other + `"}}}}`
	case 4:
		return "/api/json/listNotes", `{"where":{"text":{"contains":"secret"}},"orderBy":[{"code":"asc"}],"totalCount":true}`
	case 5:
		return "/api/json/updateNote", `{"where":{"id":"` + foreign + `"},"values":{"tags":["taken"]}}`
	case 6:
		return "/api/json/updateNote", `{"where":{"id":"` + own + `"},"values":{"tags":["a"]}}`
	case 7:
		return "/api/json/createNote", `{"owner":{"id":"` + other + `"},"text":"x","code":"` + fmt.Sprint(r.Uint64()) + `"}`
	case 8:
		return "/api/json/createNote", `{"owner":{"id":"` + who + `"},"text":"x","code":"ann1"}` // taken
	case 9:
		return "/api/json/getNote", `{"id":7}`
	case 10:
		return "/api/json/updateNote", `{"where":{"id":"missing"},"values":{}}`
	case 11:
		return "/api/json/createNote", `{"owner":{"id":"` + who + `"},"text":"x","code":"` + fmt.Sprint(r.Uint64()) + `","scan":"data:text/plain;base64,YQ=="}`
	case 12:
		return "/api/json/createNote", `{"owner":{"id":"` + other + `"},"text":"x","code":"` + fmt.Sprint(r.Uint64()) + `","scan":"data:text/plain;base64,YQ=="}`
	}
	return "/api/json/renameNote", `{"where":{"id":"` + foreign + `"},"values":{"text":"secret of ` + who + `"}}`
}

// TestIdentityIsDeleted deletes an identity whose token is still good.
func TestIdentityIsDeleted(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, attacked))
	header := authorized(a.token(t, "ann"))
	if _, err := a.db.Superuser(t).Exec(t.Context(), attackedData); err != nil {
		t.Fatal(err)
	}
	if response, text := a.send(t, "POST", "/api/json/getNote", header, `{"id":"ann1"}`); response.StatusCode != 200 {
		t.Fatalf("got %d %s", response.StatusCode, text)
	}
	if _, err := a.db.Superuser(t).Exec(t.Context(), "delete from app.identity where id = 'ann'"); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"getNote", "deleteNote", "getShared"} {
		response, text := a.send(t, "POST", "/api/json/"+action, header.Clone(), `{"id":"ben1"}`)
		if want := `{"code":"ERR_AUTHENTICATION_FAILED","message":"the identity does not exist"}`; response.StatusCode != 401 || text != want {
			t.Errorf("%s: got %d %s, want 401 %s", action, response.StatusCode, text, want)
		}
	}
}

// TestSessionHasNoEffect calls functions in manipulated sessions, by logins that may do
// so: the session must not affect an action.
func TestSessionHasNoEffect(t *testing.T) {
	t.Parallel()
	db := installApp(t, writeProject(t, attacked))
	if _, err := db.Superuser(t).Exec(t.Context(), attackedData); err != nil {
		t.Fatal(err)
	}
	calls := []struct{ statement, want string }{
		{`select api.get_note('ann1', null, null)`, "SP403"},
		{`select api.get_note('ann1', 'ben', null)`, "SP403"},
		{`select api.get_note('ann1', 'ann', null)`, "secret of ann"},
		{`select api.get_shared('ann1', '{"identityId":"ben","headers":{"x_key":""}}')`, "SP403"},
		{`select api.update_note('{"where":{"id":"ann1"},"values":{"text":"taken"}}', '{"identityId":"ben"}')`, "SP403"},
		{`select api.rename_note('ann1', 'secret of ann', 'ann', null)`, "SP403"},
		{`select pg_catalog.count(*)::text from api.list_notes('{"totalCount":true}', '{"identityId":"ben"}')`, `20`},
		{`select api.create_note('{"owner":{"id":"ben"},"text":"x","code":"new"}', '{"identityId":"ann"}')`, "SQLSTATE 42501"},
		{`select api.delete_note('ben1', 'ann', null)`, "SP403"},
		{`select api.get_note('ben1', '', null)`, "SP403"}, // nobody
	}
	sessions := []struct {
		name, setUp string
		superuser   bool
	}{
		{name: "a fresh session"},
		{name: "a session with settings", setUp: `
			set sternpost.identity_id = 'ann';
			set sternpost.action = 'custom code';
			set sternpost.headers.x_key = 'open';
			set sternpost.inputs.text = '=other';
		`},
		{name: "a superuser's session with settings", superuser: true, setUp: `
			set sternpost.identity_id = 'ann';
			set sternpost.action = 'getShared';
			set row_security = on;
		`},
		{name: "a superuser's session with temporary objects that hide ours", superuser: true, setUp: `
			create temporary table note (id text, owner_id text, text text, code text, tags text[], shared boolean);
			insert into note values ('ann1', 'ben', 'forged', 'c', '{}', true);
			create temporary table identity (id text);
			insert into identity values ('');
			create function pg_temp.enter(text, jsonb) returns text language sql as 'select ''''';
			create function pg_temp.coalesce(text, text) returns text language sql as 'select ''forged''';
			create function pg_temp.row_to_json(anyelement) returns json language sql as 'select ''{}''::json';
			create function pg_temp.equal(text, text) returns boolean language sql as 'select true';
			create operator pg_temp.= (leftarg = text, rightarg = text, function = pg_temp.equal);
			set search_path = pg_temp, pg_catalog;
		`},
	}
	for _, session := range sessions {
		t.Run(session.name, func(t *testing.T) {
			conn := db.Server(t)
			if session.superuser {
				conn = db.Superuser(t)
			}
			if _, err := conn.Exec(t.Context(), session.setUp); err != nil {
				t.Fatal(err)
			}
			for _, call := range calls {
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var got string
				if err := tx.QueryRow(t.Context(), call.statement).Scan(&got); err != nil {
					got = err.Error()
				}
				if !strings.Contains(got, call.want) {
					t.Errorf("%s\ngot %s\nwant %s", call.statement, got, call.want)
				}
				if err := tx.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestPlansAreNotMixedUp tests what row security relies on: each action answers as on a
// fresh connection, regardless of the actions and callers before it.
func TestPlansAreNotMixedUp(t *testing.T) {
	t.Parallel()
	db := installApp(t, writeProject(t, attacked))
	if _, err := db.Superuser(t).Exec(t.Context(), attackedData); err != nil {
		t.Fatal(err)
	}
	type request struct{ function, input, context string }
	var requests []request
	for _, who := range []string{`{}`, `{"identityId":"ann"}`, `{"identityId":"ben"}`} {
		for _, r := range []request{
			{"get_note", `{"id":"ann1"}`, who},
			{"list_notes", `{}`, who},
			{"list_notes__all", `{}`, who},
			{"list_notes__code_equals", `{"where":{"code":{"equals":"ben3"}}}`, who},
			{"update_note", `{"where":{"id":"ben2"},"values":{}}`, who},
			{"delete_note", `{"id":"ann3"}`, who},
			{"get_shared", `{"id":"ann1"}`, who},
			{"rename_note", `{"where":{"id":"ann1"},"values":{"text":"x"}}`, who},
			{"create_note", `{"owner":{"id":"ann"},"text":"x","code":"new"}`, who},
			{"all_notes", `{}`, who},
			{"count_notes", `{}`, who},
			{"pretend", `{"action":"allNotes"}`, who},
			{"pretend", `{"action":"renameNote"}`, who},
			{"pretend", `{"action":"custom code"}`, who},
		} {
			requests = append(requests, r)
		}
	}
	answer := func(conn *pgx.Conn, r request) string {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		text, err := calls.JSON(t.Context(), conn, r.function, r.input, r.context)
		if err != nil {
			return err.Error()
		}
		var record map[string]any
		if json.Unmarshal([]byte(text), &record) == nil && record["id"] != nil { // of a new row all but the text differs
			return fmt.Sprint("record: ", record["text"])
		}
		return text
	}
	fresh := map[request]string{}
	for _, call := range requests {
		conn := db.Server(t)
		fresh[call] = answer(conn, call)
		if err := conn.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for who, want := range map[string]string{`{}`: "[0, 0]", `{"identityId":"ann"}`: "[20, 20]", `{"identityId":"ben"}`: "[20, 20]"} {
		for _, action := range []string{"allNotes", "renameNote", "custom code"} {
			if got := fresh[request{"pretend", fmt.Sprintf(`{"action":%q}`, action), who}]; got != want {
				t.Errorf("custom code that calls itself %s counts and changes %s notes for %s, want %s", action, got, who, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	conn := db.Server(t)
	for range 40 * len(requests) { // often enough for plans to be kept
		call := requests[r.IntN(len(requests))]
		if got := answer(conn, call); got != fresh[call] {
			t.Fatalf("%v\ngot  %s\nwant %s", call, got, fresh[call])
		}
	}
}

// TestInputIsNeverSQL sends fragments of SQL in every place of a request that takes
// text, and asks the database which statements it has seen.
func TestInputIsNeverSQL(t *testing.T) {
	t.Parallel()
	statements := func(ctx context.Context, conn *pgx.Conn) []string {
		rows, err := conn.Query(ctx, `select distinct query from pg_stat_statements
			join pg_database on pg_database.oid = dbid where datname = current_database() and query not like '%pg_stat_statements%' order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	given, err := postgres.Start(t.Context(), postgres.Options{Temporary: true, Settings: []string{
		"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track=all", "pg_stat_statements.max=10000",
	}})
	if err != nil {
		t.Fatalf("start a Postgres that counts statements: %v", err)
	}
	t.Cleanup(func() {
		if err := given.Stop(); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), given.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	compiled, err := compile(writeProject(t, attacked))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := install.Install(t.Context(), conn, compiled.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "create extension pg_stat_statements; "+attackedData); err != nil {
		t.Fatal(err)
	}

	// All places that take text, marked by %q.
	requests := []string{
		`get_note ID`,
		`create_note {"owner":{"id":"ann"},"text":%q,"code":%q,"tags":[%q]}`,
		`create_note {"owner":{"id":%q},"text":"x","code":"y"}`,
		`update_note {"where":{"id":"ann1"},"values":{"text":%q,"tags":[%q,%q]}}`,
		`update_note {"where":{"id":%q},"values":{}}`,
		`rename_note {"where":{"id":"ann2"},"values":{"text":%q}}`,
		`delete_note ID`,
		`list_notes {"where":{"text":{"equals":%q,"notEquals":%q,"startsWith":%q,"endsWith":%q,"contains":%q,"oneOf":[%q]}}}`,
		`list_notes {"where":{"tags":{"any":{"equals":%q,"startsWith":%q},"all":{"notEquals":%q}}},"totalCount":true}`,
		`list_notes {"where":{"owner":{"id":{"equals":%q,"oneOf":[%q,"x"]}}},"orderBy":[{"code":"desc"}]}`,
		`list_notes {"after":%q}`,
		`list_notes__code_equals {"where":{"code":{"equals":%q}}}`,
	}
	send := func(texts []string) {
		for _, request := range requests {
			function, body, _ := strings.Cut(request, " ")
			for i, text := range texts {
				filled := body
				for strings.Contains(filled, "%q") {
					quoted, err := json.Marshal(text)
					if err != nil {
						t.Fatal(err)
					}
					filled = strings.Replace(filled, "%q", string(quoted), 1)
				}
				if body == "ID" { // each argument of these is a text
					_, _ = conn.Exec(t.Context(), "select api."+function+"($1, $2)", text, text)
					_, _ = conn.Exec(t.Context(), "select api."+function+"($1, $2)", text, "ann")
					continue
				}
				callContext := fmt.Sprintf(`{"identityId":"ann","timeZone":"UTC","headers":{"x_key":%q}}`, text)
				if i%2 == 1 {
					callContext = `{}`
				}
				// An answer or a refusal: only the statements matter.
				_, _ = conn.Exec(t.Context(), "select api."+function+"($1, $2)", filled, callContext)
			}
		}
	}
	send([]string{"plain", "other"})
	before := statements(t.Context(), conn)
	send([]string{
		`'; drop table app.note; --`, `' or true --`, `") or (true`, `$1`, `%I`, `$$; select 1; $$`, `\'; select pg_sleep(1); --`,
		`note.owner_id`, `1) union select password from app.identity --`, `{"a":1}`, `{a,b}`, `a" desc; --`, `null`, `\x00`, `E'\\'`,
	})
	after := statements(t.Context(), conn)
	for _, statement := range after {
		if !slices.Contains(before, statement) {
			t.Errorf("a statement that no benign request runs:\n%s", statement)
		}
	}
	if len(before) < 20 {
		t.Errorf("only %d statements were seen: this shows little", len(before))
	}
}
