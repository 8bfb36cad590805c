package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
)

// check is one requirement.
type check struct {
	point    string
	needs    []string // checks without which it cannot be tried
	fallback string   // the fallback of Sternpost without it; empty means that it cannot run
	prevents string   // the features that need it
	try      func(ctx context.Context, e *examination) error
}

// Checks that others need.
const (
	pointPrimary = "a primary that takes writes"
	pointSchema  = "schemas, tables and constraints"
	pointPlpgsql = "functions in PL/pgSQL"
	pointRoles   = "roles, and functions owned by them"
)

// checks are all checks, each after those that it needs.
var checks = []check{
	{point: "the version of PostgreSQL", prevents: fmt.Sprintf("Sternpost needs PostgreSQL %d or later", postgres.MinMajor), try: tryVersion},
	{point: "the encoding UTF8", prevents: "texts of many languages cannot be stored: make the database with the encoding UTF8", try: yields("UTF8", "show server_encoding")},
	{point: pointPrimary, prevents: "this database is a replica: connect to its primary", try: tryPrimary},
	{point: pointSchema, needs: []string{pointPrimary}, prevents: "an application is made of them: connect as the owner of the database", try: runs(`
		create schema {s};
		comment on schema {s} is '{now}';
		create table {s}.parent (id int primary key, a text collate "C" not null, at timestamptz(3) not null default now());
		insert into {s}.parent (id, a) values (1, 'a'), (2, 'b')`)},
	{point: "defaults and checks that call functions", needs: []string{pointSchema}, prevents: "ids and validation rules need them", try: runs(`
		create function {s}.is_short(text) returns boolean language sql immutable as 'select length($1) < 10';
		create table {s}.checked (a text default md5(clock_timestamp()::text), b text check ({s}.is_short(b)));
		insert into {s}.checked (b) values ('short')`)},
	{point: "unique constraints, partial ones included", needs: []string{pointSchema}, prevents: "@unique needs them", try: refuses("23505", `
		alter table {s}.parent add constraint parent_a_key unique (a);
		create unique index parent_first on {s}.parent (at) where id = 1`, `insert into {s}.parent (id, a) values (3, 'a')`)},
	{point: "foreign keys that cascade and restrict", needs: []string{pointSchema}, prevents: "relations need them", try: refuses("23503 23001", `
		create table {s}.child (
			id int primary key,
			parent_id int references {s}.parent (id) on delete cascade,
			other_id int references {s}.parent (id) on delete restrict
		);
		insert into {s}.child values (1, 1, null), (2, null, 2);
		do $$ begin
		  delete from {s}.parent where id = 1;
		  if exists (select from {s}.child where id = 1) then raise exception 'the row below stays'; end if;
		  raise exception 'undo' using errcode = 'SP000';
		exception when sqlstate 'SP000' then null;
		end $$`, `delete from {s}.parent where id = 2`)},
	{point: "indexes over functions, ordered by code point", needs: []string{pointSchema}, prevents: "lists read their rows in the order of such indexes", try: runs(`
		create index on {s}.parent (lower(a) collate "C", id desc)`)},
	{point: "indexes that are made concurrently", needs: []string{pointSchema}, fallback: "a migration stops writes while it makes an index: remove \"concurrently\" from its second file", try: runs(
		`create index concurrently parent_later on {s}.parent (a)`)},
	{point: pointPlpgsql, needs: []string{pointSchema}, prevents: "each action is such a function", try: runs(`
		create function {s}.double(input jsonb) returns setof {s}.parent language plpgsql stable as $$
		declare v_row {s}.parent;
		begin
		  for v_row in select parent.* from {s}.parent where parent.id = (input->>'id')::int loop return next v_row; end loop;
		exception when division_by_zero then null;
		end $$;
		select row_to_json(d) from {s}.double('{"id": 1}') as d`)},
	{point: "triggers for each row", needs: []string{pointPlpgsql}, prevents: "triggers set updatedAt, and count the rows that use a file", try: runs(`
		create function {s}.tg() returns trigger language plpgsql as 'begin new.a := upper(new.a); return new; end';
		create table {s}.touched (a text);
		create trigger _100_touch before insert or update on {s}.touched for each row execute function {s}.tg();
		insert into {s}.touched values ('a');
		do $$ begin if (select a from {s}.touched) <> 'A' then raise exception 'the trigger did not fire'; end if; end $$`)},
	{point: pointRoles, needs: []string{pointPlpgsql}, prevents: "each action runs as a role that row security applies to. " +
		"Run sternpost roles as a superuser, or give this role the right createrole", try: tryRoles},
	{point: "row security, with rules that walk relations", needs: []string{pointRoles}, prevents: "all permissions depend on it", try: tryRowSecurity},
	{point: "default privileges", needs: []string{pointSchema}, prevents: "without them everybody may execute a new function", try: runs(
		`alter default privileges in schema {s} grant execute on functions to {u}; alter default privileges in schema {s} revoke execute on functions from {u}`)},
	{point: "settings of a transaction", prevents: "actions read from them who calls", try: trySettings},
	{point: "read-only transactions", needs: []string{pointSchema}, fallback: "custom code of get, list and read can write", try: refuses("25006",
		`begin; set local transaction_read_only = on`, `insert into {s}.parent (id, a) values (9, 'i')`)},
	{point: "changes of tables that are rolled back", needs: []string{pointSchema}, prevents: "a migration or an installation that fails must change nothing", try: yields("t",
		`begin; create table {s}.undone (); rollback; select to_regclass('{s}.undone') is null`)},
	{point: "locks of rows, and skipping them", needs: []string{pointSchema}, prevents: "refresh tokens and background work need them", try: runs(
		`select from {s}.parent for update; select from {s}.parent for update skip locked`)},
	{point: "locks of tables", needs: []string{pointSchema}, prevents: "they keep two installations of a release apart", try: runs(
		`begin; lock table {s}.parent in share row exclusive mode`)},
	{point: "snapshots of transactions", needs: []string{pointSchema}, prevents: "events and webhooks read what was written by them: by the types xid8 and pg_snapshot, which tables of the platform have", try: yields("1", `
		begin;
		create table {s}.written (xid xid8, kept pg_snapshot);
		create index on {s}.written (xid);
		insert into {s}.written (kept) values (pg_current_snapshot());
		commit;
		begin;
		insert into {s}.written (xid) values (pg_current_xact_id());
		commit;
		select count(*)
		from {s}.written as new
		join {s}.written as reader on new.xid >= pg_snapshot_xmax(reader.kept)
		where pg_visible_in_snapshot(new.xid, pg_current_snapshot())`)},
	{point: "the identifier of the cluster", fallback: "after a restore in another cluster, subscribers hear of nothing until a release without them and one with them are installed", try: yields("t",
		`select system_identifier is not null from pg_control_system()`)},
	{point: "the catalog", needs: []string{pointSchema}, prevents: "a server checks all grants in it before it serves, and a migration looks in it for changes by hand", try: runs(`
		select pg_identify_object(classid, objid, 0) from pg_shdepend where dbid = (select oid from pg_database where datname = current_database()) limit 5;
		select pg_get_expr(polqual, polrelid) from pg_policy limit 5;
		select entry.privilege_type from pg_class cross join aclexplode(coalesce(relacl, acldefault('r', relowner))) as entry limit 5;
		select pg_get_functiondef(oid) from pg_proc where pronamespace = '{s}'::regnamespace`)},
	{point: "advisory locks", prevents: "migrations, and requests that are counted (tries of a password, uploads), take turns by them", try: runs(
		`begin; select pg_advisory_xact_lock(hashtextextended('sternpost doctor', 0)); commit;
		select pg_try_advisory_lock(own.lock), pg_advisory_lock(own.lock), pg_advisory_unlock(own.lock), pg_advisory_unlock(own.lock)
		from (select hashtextextended('sternpost doctor ' || pg_backend_pid(), 0) as lock) as own`)},
	{point: "a session of its own", fallback: "migrate and dev refuse this pooler: connect them directly to Postgres, or through a pooler in session mode. Servers run", try: trySession},
	{point: "notifications", fallback: "each server asks for a new release every few seconds", try: tryNotify},
	{point: "named prepared statements", fallback: "the database parses and plans each call anew. PgBouncer supports them from 1.21 on, with max_prepared_statements", try: tryPrepared},
	{point: "settings of a connection", fallback: "each transaction makes these settings itself, in the round trip of its call", try: tryStartup},
	{point: "cancelling a statement", fallback: "a statement runs to its end after its client has left", try: tryCancel},
	{point: "names of time zones", fallback: "the database knows only UTC, so relative dates are dates in UTC", try: yields("t", "select now() at time zone 'Europe/Berlin' is not null")},
	{point: "plpgsql_check", fallback: "errors in custom code show when it runs, not when it is installed", try: yields("t", "select exists (select from pg_available_extensions where name = 'plpgsql_check')")},
}

// text puts names into statements.
func (e *examination) text(statements string) string {
	user := pgx.Identifier{e.config.User}.Sanitize()
	now := time.Now().UTC().Format(time.RFC3339)
	return strings.NewReplacer("{s}", e.name, "{r}", e.role, "{u}", user, "{now}", now).Replace(statements)
}

func (e *examination) exec(ctx context.Context, statements string) error {
	_, err := e.conn.Exec(ctx, e.text(statements))
	return err
}

// runs tests that statements run.
func runs(statements string) func(context.Context, *examination) error {
	return func(ctx context.Context, e *examination) error { return e.exec(ctx, statements) }
}

// yields tests that a statement yields a value.
func yields(want, statement string) func(context.Context, *examination) error {
	return func(ctx context.Context, e *examination) error { return e.expect(ctx, want, statement) }
}

func (e *examination) expect(ctx context.Context, want, statement string) error {
	rows, err := e.conn.PgConn().Exec(ctx, e.text(statement)).ReadAll()
	if err != nil {
		return err
	}
	last := rows[len(rows)-1]
	if len(last.Rows) != 1 || string(last.Rows[0][0]) != want {
		return fmt.Errorf("the result of %s is not %s", statement, want)
	}
	return nil
}

// refuses tests that a statement after others fails with one of the expected codes.
func refuses(codes, before, statement string) func(context.Context, *examination) error {
	return func(ctx context.Context, e *examination) error {
		if err := e.exec(ctx, before); err != nil {
			return err
		}
		err := e.exec(ctx, statement)
		var raised *pgconn.PgError
		switch {
		case err == nil:
			return errors.New("the database accepts what it should refuse: " + statement)
		case errors.As(err, &raised) && strings.Contains(codes, raised.Code):
			return nil
		}
		return err
	}
}

func tryVersion(ctx context.Context, e *examination) error {
	var number int
	var version string
	if err := e.conn.QueryRow(ctx, "select current_setting('server_version_num')::int, version()").Scan(&number, &version); err != nil {
		return err
	}
	if number < postgres.MinMajor*10000 {
		return errors.New(version)
	}
	return nil
}

func tryPrimary(ctx context.Context, e *examination) error {
	var isReplica bool
	var readOnly string
	if err := e.conn.QueryRow(ctx, "select pg_is_in_recovery(), current_setting('transaction_read_only')").Scan(&isReplica, &readOnly); err != nil {
		return err
	}
	switch {
	case isReplica:
		return errors.New("it is in recovery")
	case readOnly == "on":
		return &note{Missing, "transactions are read-only: turn off default_transaction_read_only for this database and role"}
	}
	return nil
}

// tryRoles makes a role to test functions with, or uses one of Sternpost's.
func tryRoles(ctx context.Context, e *examination) error {
	err := e.exec(ctx, "create role {s} nologin; grant {s} to {u}")
	e.role = e.name
	if err != nil {
		e.role = sql.Roles()[0].Name
		var isMember bool
		asked := e.conn.QueryRow(ctx, "select coalesce((select pg_has_role(oid, 'member') from pg_roles where rolname = $1), false)", e.role).Scan(&isMember)
		if asked != nil || !isMember {
			return errors.Join(err, asked)
		}
	}
	return e.exec(ctx, `
		create function {s}.whoami() returns text language sql stable security definer
		set search_path = pg_catalog, pg_temp as 'select current_user::text';
		grant create, usage on schema {s} to {r};
		alter function {s}.whoami() owner to {r};
		revoke create on schema {s} from {r};
		do $$ begin if {s}.whoami() <> '{r}' then raise exception 'the function does not run as its owner'; end if; end $$`)
}

// tryRowSecurity has a function read a table with a policy that checks the current action
// and reads another table.
func tryRowSecurity(ctx context.Context, e *examination) error {
	err := e.exec(ctx, `
		create table {s}.guarded (id int primary key, parent_id int);
		insert into {s}.guarded values (1, 2), (2, null);
		create view {s}.related with (security_barrier = false) as select * from {s}.parent;
		alter table {s}.guarded enable row level security;
		create policy guarded_select on {s}.guarded for select to {r} using (
			case
				when current_setting('sternpost.doctor', true) = 'list' then
					exists (select from {s}.related where related.id = guarded.parent_id)
				else false
			end
		);
		grant select on {s}.guarded, {s}.related to {r};
		create function {s}.list() returns setof {s}.guarded language plpgsql stable security definer
		set search_path = pg_catalog, pg_temp as 'begin return query select * from {s}.guarded; end';
		grant create on schema {s} to {r};
		alter function {s}.list() owner to {r};
		revoke create on schema {s} from {r}`)
	if err != nil {
		return err
	}
	return errors.Join(
		e.expect(ctx, "0", `select count(*) from {s}.list()`),
		e.expect(ctx, "1", `begin; set local sternpost.doctor = 'list'; select count(*) from {s}.list()`),
	)
}

func trySettings(ctx context.Context, e *examination) error {
	if err := e.expect(ctx, "here", `begin; select set_config('sternpost.doctor', 'here', true); select current_setting('sternpost.doctor', true)`); err != nil {
		return err
	}
	return e.expect(ctx, "", `rollback; select coalesce(current_setting('sternpost.doctor', true), '')`)
}

// trySession checks whether a pooler changes the session between two transactions.
func trySession(ctx context.Context, e *examination) error { return postgres.CheckSession(ctx, e.conn) }

// tryNotify has one connection receive a notification from another.
func tryNotify(ctx context.Context, e *examination) error {
	if err := e.exec(ctx, "listen {s}"); err != nil {
		return err
	}
	other, err := pgx.ConnectConfig(ctx, e.config)
	if err != nil {
		return err
	}
	defer other.Close(ctx)
	if _, err := other.Exec(ctx, e.text("select pg_notify('{s}', 'hello')")); err != nil {
		return err
	}
	limited, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	if _, err := e.conn.WaitForNotification(limited); err != nil {
		e.conn.Close(ctx)
		return errors.New("a notification did not arrive within 3 seconds")
	}
	return e.exec(ctx, "unlisten *")
}

// tryPrepared uses a statement in transactions after the one that prepared it, while
// another connection does the same, so that a pooler mixes them.
func tryPrepared(ctx context.Context, e *examination) error {
	other, err := pgx.ConnectConfig(ctx, e.config)
	if err != nil {
		return err
	}
	defer other.Close(ctx)
	conns := []*pgx.Conn{e.conn, other}
	for _, c := range conns {
		if _, err := c.PgConn().Prepare(ctx, "doctor", "select 1 + $1::int", nil); err != nil {
			return err
		}
	}
	for i := range 20 {
		// The second client occupies a connection now and then, in a transaction.
		_, err := other.Exec(ctx, [...]string{"begin", "commit"}[i%2])
		for _, c := range conns {
			if err == nil {
				_, err = c.PgConn().ExecPrepared(ctx, "doctor", [][]byte{[]byte("1")}, nil, nil).Close()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startupSettings are the start settings of a server's connections.
var startupSettings = []string{"statement_timeout", "lock_timeout"}

// tryStartup connects with settings and checks that they hold.
func tryStartup(ctx context.Context, e *examination) error {
	config := e.config.Copy()
	for _, name := range startupSettings {
		config.RuntimeParams[name] = "12345"
	}
	config.RuntimeParams["jit"] = "off"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, name := range startupSettings {
		var value string
		if err := conn.QueryRow(ctx, "select current_setting($1)", name).Scan(&value); err != nil {
			return err
		}
		if value != "12345ms" {
			return errors.New("the connection ignores " + name)
		}
	}
	return nil
}

// tryCancel cancels a long statement, of a connection of its own: a cancel may come late and meet the next statement.
func tryCancel(ctx context.Context, e *examination) error {
	conn, err := pgx.ConnectConfig(ctx, e.config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	ended := make(chan error, 1)
	pg := conn.PgConn()
	go func() {
		_, err := pg.Exec(ctx, "select pg_sleep(5)").ReadAll()
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			var raised *pgconn.PgError
			if errors.As(err, &raised) && raised.Code == "57014" {
				return nil
			}
			return errors.New("a cancelled statement went on")
		case <-time.After(50 * time.Millisecond): // it may not have begun; an engine that refuses it has said so by then
		}
		if err := pg.CancelRequest(ctx); err != nil {
			<-ended
			return err
		}
	}
}
