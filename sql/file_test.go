package sql_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/role"
)

// withAlbum makes tables whose rows hold files, as the compiler prints them.
func withAlbum(t *testing.T) (*pgtest.DB, *pgx.Conn) {
	t.Helper()
	database := pgtest.New(t, pgtest.Options{})
	owner := database.Owner(t)
	exec(t, owner, `
		create table app.album (id text primary key);
		create table app.photo (
			id text primary key,
			album_id text references app.album on delete cascade,
			"Odd name" jsonb,
			more jsonb[]
		);
		create trigger _200_files after insert or update or delete on app.photo
			for each row execute function platform.tg_files('Odd name', 'more');
		select platform.file_enter('{a,b,c,d}');
		insert into app.album values ('one');
	`)
	return database, owner
}

func stored(key string) string {
	return fmt.Sprintf(`{"key":%q,"filename":"a","contentType":"image/png","size":1}`, key)
}

// state shows all files: key, holders, and * for files without holders.
func state(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return strings.Join(values[string](t, conn, `
		select key || holders || case when released_at is not null then '*' else '' end from platform.file order by key`), " ")
}

func TestFilesAreHeld(t *testing.T) {
	t.Parallel()
	_, owner := withAlbum(t)
	for _, step := range []struct {
		name, statement, want string
		arguments             []any
	}{
		{"entered", `select 1`, "a0 b0 c0 d0", nil},
		{"insert", `insert into app.photo values ('p', 'one', $1, array[$2::jsonb, $3::jsonb])`, "a1 b1 c1 d0",
			[]any{stored("a"), stored("b"), stored("c")}},
		{"another row with the same files", `insert into app.photo select 'q', null, "Odd name", more from app.photo`, "a2 b2 c2 d0", nil},
		{"the same file twice in one array", `update app.photo set more = more || more[1] where id = 'q'`, "a2 b3 c2 d0", nil},
		{"another order", `update app.photo set more = array[more[2], more[1], more[1]] where id = 'q'`, "a2 b3 c2 d0", nil},
		{"another column", `update app.photo set id = 'r' where id = 'q'`, "a2 b3 c2 d0", nil},
		{"replace", `update app.photo set "Odd name" = $1 where id = 'r'`, "a1 b3 c2 d1", []any{stored("d")}},
		{"null", `update app.photo set "Odd name" = null, more = null where id = 'r'`, "a1 b1 c1 d0*", nil},
		{"held again", `update app.photo set "Odd name" = $1 where id = 'r'`, "a1 b1 c1 d1", []any{stored("d")}},
		{"empty array", `update app.photo set more = '{}' where id = 'p'`, "a1 b0* c0* d1", nil},
		{"upsert", `insert into app.photo values ('r', null, $1) on conflict (id) do update set "Odd name" = excluded."Odd name"`,
			"a1 b1 c0* d0*", []any{stored("b")}},
		{"cascade", `delete from app.album`, "a0* b1 c0* d0*", nil},
		{"delete", `delete from app.photo`, "a0* b0* c0* d0*", nil},
	} {
		if _, err := owner.Exec(t.Context(), step.statement, step.arguments...); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := state(t, owner); got != step.want {
			t.Fatalf("%s\n got %s\nwant %s", step.name, got, step.want)
		}
	}
}

func TestFileThatIsNotStored(t *testing.T) {
	t.Parallel()
	_, owner := withAlbum(t)
	exec(t, owner, `select platform.file_discard('{a}'); select platform.file_forget('{a}')`)
	for _, key := range []string{"a", "never"} {
		_, err := owner.Exec(t.Context(), `insert into app.photo values ('p', null, $1)`, stored(key))
		if err == nil || !strings.Contains(err.Error(), "there is no stored file with the key "+key) {
			t.Errorf("insert of file %s: %v; want a refusal", key, err)
		}
	}
}

func TestFilesDue(t *testing.T) {
	t.Parallel()
	database, owner := withAlbum(t)
	exec(t, owner, `
		insert into app.photo values ('p', null, '`+stored("a")+`');
		select platform.file_enter('{e,f,g}');
		update platform.file set created_at = now() - interval '25 hours' where key in ('a', 'b', 'e');
		update platform.file set released_at = now() - interval '59 minutes' where key in ('e', 'f');
		update platform.file set released_at = now() - interval '61 minutes' where key = 'g';
	`)
	due := func(delay string) []string {
		return values[string](t, owner, `select key from platform.file where (select is_due from platform.file_due(key, $1)) order by 1`, delay)
	}
	// Entered and never held: b. Released long enough: g.
	if got, want := due("1 hour"), []string{"b", "g"}; !slices.Equal(got, want) {
		t.Errorf("due: got %q, want %q", got, want)
	}
	if got, want := due("2 days"), []string{"b"}; !slices.Equal(got, want) {
		t.Errorf("due after two days: got %q, want %q", got, want)
	}
	// Who has a task about f too early, is told to wait; who has one about a, which is held, has nothing to do.
	if got, want := values[string](t, owner, `select key || coalesce(extract(minutes from wait + interval '30 seconds')::text, '') from platform.file,
		platform.file_due(key, '1 hour') where key in ('a', 'f') order by 1`), []string{"a", "f1"}; !slices.Equal(got, want) {
		t.Errorf("the wait of f and a: got %q, want %q", got, want)
	}

	// Who would hold a file that a server is deleting waits and is refused.
	tx, err := owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := due("1 hour"); len(got) != 2 {
		t.Fatalf("due: got %q", got)
	}
	other := database.Owner(t)
	held := make(chan error, 1)
	go func() {
		_, err := other.Exec(t.Context(), `insert into app.photo values ('q', null, $1)`, stored("g"))
		held <- err
	}()
	if _, err := tx.Exec(t.Context(), `select platform.file_forget('{b,g}')`); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err == nil {
		t.Error("a row holds a file that has been deleted")
	}
	if got, want := state(t, owner), "a1 c0 d0 e0* f0*"; got != want {
		t.Errorf("what is left: got %s, want %s", got, want)
	}
	// Held files are never forgotten or discarded.
	exec(t, owner, `select platform.file_forget('{a}'); select platform.file_discard('{a,c}')`)
	if got, want := state(t, owner), "a1 c0* d0 e0* f0*"; got != want {
		t.Errorf("after discarding: got %s, want %s", got, want)
	}
}

// Rows that bypass the triggers are found, and counted again.
func TestFilesAreCountedAnew(t *testing.T) {
	t.Parallel()
	_, owner := withAlbum(t)
	fill := func() {
		exec(t, owner, `
			alter table app.photo add column if not exists "Odd name" jsonb, add column if not exists more jsonb[];
			delete from app.photo;
			update platform.file set holders = 0, released_at = null;
			insert into app.photo values ('p', null, '`+stored("a")+`', array['`+stored("b")+`', '`+stored("b")+`']::jsonb[]), ('q', null, null, '{}');
		`)
	}
	miscounted := func() string {
		return strings.Join(values[string](t, owner, `select key || holders || '/' || named from platform.file_miscounted()`), " ")
	}
	for _, c := range []struct{ name, statement, miscounted, state string }{
		{"nothing", `select 1`, "", "a1 b2 c0 d0"},
		{"a column is dropped", `alter table app.photo drop column more`, "b2/0", "a1 b0* c0 d0"},
		{"truncate", `truncate app.photo`, "a1/0 b2/0", "a0* b0* c0 d0"},
		{"rows that came with triggers off", `
			alter table app.photo disable trigger _200_files;
			update app.photo set more = array['` + stored("a") + `', '` + stored("c") + `']::jsonb[];
			alter table app.photo enable trigger _200_files;
		`, "a1/3 b2/0 c0/2", "a3 b0* c2 d0"},
		{"a file in use was to be deleted", `update platform.file set holders = 0, released_at = now()`, "a0/1 b0/2", "a1 b2 c0* d0*"},
		{"a file was forgotten", `delete from platform.file where key = 'b'`, "b0/2", "a1 b2 c0* d0*"},
		{"the table is dropped", `drop table app.photo`, "a1/0 b2/0", "a0* b0* c0 d0"},
	} {
		fill()
		if c.name == "a file was forgotten" {
			exec(t, owner, `update platform.file set released_at = now() where holders = 0`)
		}
		exec(t, owner, c.statement)
		if got := miscounted(); got != c.miscounted {
			t.Errorf("%s: miscounted\n got %s\nwant %s", c.name, got, c.miscounted)
		}
		if got, want := value[int](t, owner, `select platform.file_recount()`), len(strings.Fields(c.miscounted)); got != want {
			t.Errorf("%s: %d counted anew, want %d", c.name, got, want)
		}
		if got := state(t, owner); got != c.state {
			t.Errorf("%s: counted anew\n got %s\nwant %s", c.name, got, c.state)
		}
		if got := miscounted(); got != "" {
			t.Errorf("%s: miscounted after all were counted: %s", c.name, got)
		}
	}
}

func mint(key, who string) string {
	return fmt.Sprintf(`{"key":%q,"action":"createArticle","field":"cover",%s,"filename":"a.png","contentType":"image/png","size":3}`, key, who)
}

const (
	byAda     = `"identityId":"ada"`
	byNobody  = `"address":"192.0.2.1"`
	elsewhere = `"address":"192.0.2.2"`
)

func TestMintLimit(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	one := func(key, who string) error {
		_, err := owner.Exec(t.Context(), `select platform.file_mint($1, 2, '1 hour')`, mint(key, who))
		return err
	}
	for _, step := range []struct {
		key, who string
		refused  bool
	}{
		{"a", byAda, false}, {"b", byAda, false}, {"c", byAda, true},
		{"d", byNobody, false}, {"e", byNobody, false}, {"f", byNobody, true},
		{"g", elsewhere, false},
	} {
		err := one(step.key, step.who)
		if step.refused {
			r := refused(t, err)
			if r.Code != "SP429" || r.Message != "too many uploads outstanding" || r.Detail != `{"retryAfter" : 3600}` {
				t.Errorf("mint %s: got %s %q %s", step.key, r.Code, r.Message, r.Detail)
			}
		} else if err != nil {
			t.Errorf("mint %s: %v", step.key, err)
		}
	}
	// Attached or expired uploads are not outstanding.
	exec(t, owner, `update platform.file_upload set attached_at = now() where key = 'a'`)
	if err := one("h", byAda); err != nil {
		t.Errorf("mint after one was attached: %v", err)
	}
	exec(t, owner, `update platform.file_upload set expires_at = now() where key = 'b'`)
	if err := one("i", byAda); err != nil {
		t.Errorf("mint after one has expired: %v", err)
	}
}

// TestMintsOfNetworks has anonymous clients of IPv6 mint from many networks of 64 bits.
func TestMintsOfNetworks(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	n := 0
	minted := func(networks int, format string) (count int) {
		for i := range networks {
			for range 3 {
				n++
				who := fmt.Sprintf(`"address":%q`, fmt.Sprintf(format, i))
				if _, err := owner.Exec(t.Context(), `select platform.file_mint($1, 2, '1 hour')`, mint(fmt.Sprint("n", n), who)); err == nil {
					count++
				} else if refused(t, err).Code != "SP429" {
					t.Fatal(err)
				}
			}
		}
		return count
	}
	for _, c := range []struct {
		format         string
		networks, want int
	}{
		{"192.0.2.%d", 6, 12},
		{"2001:db8:1:%x::/64", 6, 8},     // of a /56
		{"2001:db8:1:%x00::/64", 20, 24}, // of its /48; the first /56 is full
	} {
		if got := minted(c.networks, c.format); got != c.want {
			t.Errorf("%s: %d mints, want %d", c.format, got, c.want)
		}
	}
}

func TestRacingMints(t *testing.T) {
	t.Parallel()
	database := pgtest.New(t, pgtest.Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	minted := 0
	for i := range 8 {
		conn := database.Owner(t)
		all.Go(func() {
			for j := range 10 {
				_, err := conn.Exec(t.Context(), `select platform.file_mint($1, 20, '1 hour')`, mint(fmt.Sprint(i, ".", j), byAda))
				if err == nil {
					mu.Lock()
					minted++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if minted != 20 {
		t.Errorf("80 racing mints: %d succeeded, want 20", minted)
	}
}

func TestUploadsOfACall(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for key, who := range map[string]string{"ada": byAda, "nobody": byNobody, "used": byAda, "expired": byAda} {
		exec(t, owner, fmt.Sprintf(`select platform.file_mint('%s', 9, '1 hour')`, mint(key, who)))
	}
	exec(t, owner, `
		update platform.file_upload set attached_at = now() where key = 'used';
		update platform.file_upload set expires_at = now() where key = 'expired';
	`)
	for _, c := range []struct{ key, action, field, identity, want string }{
		{"ada", "createArticle", "cover", "ada", "ada"},
		{"ada", "createArticle", "cover", "bob", ""},
		{"ada", "createArticle", "cover", "", ""},
		{"ada", "createArticle", "other", "ada", ""},
		{"ada", "updateArticle", "cover", "ada", ""},
		{"nobody", "createArticle", "cover", "bob", "nobody"}, // anyone who holds it
		{"nobody", "createArticle", "cover", "", "nobody"},
		{"used", "createArticle", "cover", "ada", ""},
		{"expired", "createArticle", "cover", "ada", ""},
		{"unknown", "createArticle", "cover", "ada", ""},
	} {
		got := values[string](t, owner, `select key from platform.file_uploads($1, $2, nullif($3, ''))`,
			fmt.Sprintf(`[{"key":%q,"field":%q}]`, c.key, c.field), c.action, c.identity)
		if strings.Join(got, ",") != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, key := range []string{"a", "b", "late"} {
		exec(t, owner, fmt.Sprintf(`select platform.file_mint('%s', 9, '1 hour')`, mint(key, byAda)))
	}
	exec(t, owner, `update platform.file_upload set expires_at = now() where key = 'late'`)
	attach := func(uploads string) error {
		_, err := owner.Exec(t.Context(), `select platform.file_attach($1)`, `{"uploads":[`+uploads+`]}`)
		return err
	}
	if _, err := owner.Exec(t.Context(), `select platform.file_attach('{"timeZone":"UTC"}')`); err != nil {
		t.Errorf("attach nothing: %v", err)
	}
	if err := attach(`{"key":"a","field":"cover"}`); err != nil {
		t.Fatalf("attach: %v", err)
	}
	r := refused(t, attach(`{"key":"late","field":"cover"},{"key":"b","field":"files.1"},{"key":"a","field":"files.2"}`))
	const want = `{"errors" : [{"field" : "cover", "code" : "upload", "error" : "is not an upload key for this input"}, ` +
		`{"field" : "files.2", "code" : "upload", "error" : "is not an upload key for this input"}]}`
	if r.Code != "SP400" || r.Detail != want {
		t.Errorf("attach again\n got %s %s\nwant SP400 %s", r.Code, r.Detail, want)
	}
	// The call has failed, so its attached uploads are as before.
	if err := attach(`{"key":"b","field":"cover"}`); err != nil {
		t.Errorf("attach after a call that failed: %v", err)
	}
}

func TestUploadsDue(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, key := range []string{"new", "attached", "expired", "old", "oldattached"} {
		exec(t, owner, fmt.Sprintf(`select platform.file_mint('%s', 9, '1 hour')`, mint(key, byAda)))
	}
	exec(t, owner, `
		update platform.file_upload set attached_at = now() where key like '%attached';
		update platform.file_upload set expires_at = now() - interval '59 minutes' where key = 'expired';
		update platform.file_upload set expires_at = now() - interval '61 minutes' where key like 'old%';
	`)
	due := func() string {
		got := values[string](t, owner, `select key from platform.file_upload where (select is_due from platform.file_uploads_due(key))`)
		slices.Sort(got)
		return strings.Join(got, " ")
	}
	if got, want := due(), "attached old oldattached"; got != want {
		t.Errorf("due: got %s, want %s", got, want)
	}
	exec(t, owner, `select platform.file_uploads_forget('{attached,old,oldattached}')`)
	if got := due(); got != "" {
		t.Errorf("due after they were cleared: %s", got)
	}
	if got, want := strings.Join(values[string](t, owner, `select platform.file_uploads_list('', 10)`), " "), "attached expired new"; got != want {
		t.Errorf("what is left: got %s, want %s", got, want)
	}
	// Bytes that were sent after the upload was attached go at last.
	exec(t, owner, `update platform.file_upload set expires_at = now() - interval '61 minutes' where key = 'attached'`)
	if got, want := due(), "attached"; got != want {
		t.Errorf("due an hour after it expired: got %s, want %s", got, want)
	}
}

// Only the functions can reach the tables.
func TestFileRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, name := range role.All() {
		for _, table := range []string{"platform.file", "platform.file_upload"} {
			if value[bool](t, owner, `select has_any_column_privilege($1, $2, 'select, insert, update')`, name, table) {
				t.Errorf("%s may use %s", name, table)
			}
		}
	}
	for _, function := range values[string](t, owner, `
		select oid::regprocedure::text from pg_proc
		where pronamespace = 'platform'::regnamespace and proname like 'file\_%' order by 1`) {
		for _, name := range role.All() {
			may := value[bool](t, owner, `select has_function_privilege($1, $2, 'execute')`, name, function)
			if isOfActions := strings.HasPrefix(function, "platform.file_attach("); may != (isOfActions == (name != role.Server)) {
				t.Errorf("%s may execute %s: %t", name, function, may)
			}
		}
	}
}

// refused returns the error of the database.
func refused(t *testing.T, err error) *pgconn.PgError {
	t.Helper()
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return raised
}
