package sql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/role"
)

// withHistory makes a table whose history is kept for a day, as the compiler prints it.
func withHistory(t *testing.T) *pgtest.DB {
	t.Helper()
	return pgtest.New(t, pgtest.Options{Template: pgtest.Template{Name: "histories", Build: func(ctx context.Context, owner *pgx.Conn) error {
		if err := sql.Migrate(ctx, owner); err != nil {
			return err
		}
		_, err := owner.Exec(ctx, `
		create table app.thing (id text primary key, note text, secret text, size integer, updated_at timestamptz default now());
		create trigger _600_history after insert or update or delete on app.thing
			for each row execute function platform.tg_change('Thing', 'secret');
		create function api.thing__kept(columns jsonb) returns jsonb language sql stable as $$
			select jsonb_build_object('note', kept.note, 'size', kept.size)
			from platform.history_row(null::app.thing, jsonb_build_object('note', columns->'remark') || columns) as kept
			where columns is not null
		$$;
		select platform.install_release('test', '{"histories": [{"table": "thing", "keep": "1 day", "row": "thing__kept"}]}', '{}');`)
		return err
	}}})
}

// historyOf returns the entries of a record, the newest first: what was shown before, and after.
func historyOf(t *testing.T, conn *pgx.Conn, record string) string {
	t.Helper()
	return strings.Join(values[string](t, conn, `
		select format('%s %s→%s', entry->>'kind', entry->'before', entry->'after')
		from jsonb_array_elements(platform.history_page('app.thing', 'thing__kept', $1, '{}')->'results') as entry`, record), ", ")
}

// TestHistorySweep deletes what is older than it is kept, and what is not kept any longer, and does not hold up writers.
func TestHistorySweep(t *testing.T) {
	t.Parallel()
	database := withHistory(t)
	owner, server := database.Owner(t), database.Server(t)
	count := func() int { return value[int](t, owner, `select count(*)::int from platform.history`) }
	exec(t, owner, `insert into app.thing (id) select n::text from generate_series(1, 5) as n`)
	exec(t, owner, `update platform.history set at = at - interval '25 hours' where record <= '3'`)

	other, err := database.Owner(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(t.Context()) }()
	if _, err := other.Exec(t.Context(), `insert into app.thing (id) values ('open')`); err != nil {
		t.Fatal(err)
	}
	if isMore := value[bool](t, server, `select platform.history_sweep(2)`); !isMore || count() != 3 {
		t.Errorf("a sweep of two leaves %d, more: %t", count(), isMore)
	}
	if isMore := value[bool](t, server, `select platform.history_sweep(2)`); isMore || count() != 2 {
		t.Errorf("the next one leaves %d, more: %t", count(), isMore)
	}
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, owner, `select platform.install_release('test', '{}', '{}')`)
	for value[bool](t, server, `select platform.history_sweep(2)`) {
	}
	if count() != 0 {
		t.Errorf("%d entries are left of what is not kept any longer", count())
	}
}

// TestHistoryOfChangedTable reads a history after its table and a column were renamed, and another column got a type that
// its values do not fit.
func TestHistoryOfChangedTable(t *testing.T) {
	t.Parallel()
	database := withHistory(t)
	owner := database.Owner(t)
	exec(t, owner, `
		insert into app.thing values ('a', 'big', 'x', 3);
		update app.thing set secret = 'y', updated_at = now() + interval '1 second';
		update platform.history set data = data - 'note' || '{"remark": "former", "size": "wide"}';
		alter table app.thing rename to matter; alter table app.matter rename to thing;
		update app.thing set size = 4;`)
	if got, want := historyOf(t, owner, "a"), `update {"note": "big", "size": 3}→{"note": "big", "size": 4}, create null→{"note": "former", "size": null}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestHistoryRights lets servers sweep and actions read histories, and nobody else.
func TestHistoryRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, name := range role.All() {
		if value[bool](t, owner, `select has_any_column_privilege($1, 'platform.history', 'select, insert, update')`, name) {
			t.Errorf("%s may use platform.history", name)
		}
		if value[bool](t, owner, `select has_function_privilege($1, 'platform.history_sweep(integer)', 'execute')`, name) != (name == role.Server) {
			t.Errorf("%s may sweep, or the server may not", name)
		}
		isOfActions := name != role.Server && name != role.Code
		if value[bool](t, owner, `select has_function_privilege($1, 'platform.history_page(regclass, text, text, jsonb)', 'execute')`, name) != isOfActions {
			t.Errorf("%s may read histories past the rules, or actions may not", name)
		}
	}
}
