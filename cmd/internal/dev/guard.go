package dev

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
)

// errNotOurs is returned for a database that others may use, without a person to ask.
var errNotOurs = errors.New("sternpost dev needs permission to use this database: give --yes, " +
	"name another database, or unset DATABASE_URL, and dev starts its own")

// mayUse looks at a given database, and asks before it uses one that others may use
// too.
func (l *loop) mayUse(ctx context.Context) (bool, error) {
	concerns, err := l.concerns(ctx)
	if err != nil || len(concerns) == 0 {
		return err == nil, err
	}
	l.say("%s:", l.database.Describe())
	for _, c := range concerns {
		l.say("  %s", c)
	}
	l.say("If you let it, sternpost dev takes over the schemas platform, app, related, functions and api, revokes all\n" +
		"rights of public on the database, and changes tables each time you save a file, without a migration.")
	if l.lines == nil {
		return false, errNotOurs
	}
	fmt.Fprint(l.options.Out, "Use it? [y/N] ")
	select {
	case <-ctx.Done():
		return false, nil
	case line := <-l.lines:
		if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
			return true, nil
		}
	}
	l.say("nothing was changed")
	return false, nil
}

// concerns says why others may use the database: a server serves it, its release was
// not installed by dev, or it holds objects of others. The last counts only before the
// first release: a person who let dev install one has been asked.
func (l *loop) concerns(ctx context.Context) ([]string, error) {
	conn, err := postgres.Connect(ctx, l.database.URL())
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	var list []string
	var servers int
	err = conn.QueryRow(ctx, serversSQL).Scan(&servers)
	if err != nil {
		return nil, fmt.Errorf("look for sessions of other logins: %w", err)
	}
	if servers > 0 {
		list = append(list, fmt.Sprintf("a server uses it: %d sessions of a login in sternpost_server", servers))
	}

	var hasReleases bool
	if err := conn.QueryRow(ctx, "select to_regclass('platform.release') is not null").Scan(&hasReleases); err != nil {
		return nil, fmt.Errorf("look for releases: %w", err)
	}
	if hasReleases {
		// The column is younger than the table, so an older platform lacks it.
		var byDev bool
		var number int64
		err := conn.QueryRow(ctx, `
			select release.number, coalesce((to_jsonb(release) ->> 'by_dev')::boolean, false)
			from platform.release
			order by release.number desc
			limit 1`).Scan(&number, &byDev)
		if err == nil {
			if !byDev {
				list = append(list, fmt.Sprintf("release %d was not installed by sternpost dev", number))
			}
			return list, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("look for releases: %w", err)
		}
	}

	rows, err := conn.Query(ctx, othersSQL)
	if err != nil {
		return nil, fmt.Errorf("look for objects of others: %w", err)
	}
	others, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for objects of others: %w", err)
	}
	if len(others) > maxOthers {
		others = append(others[:maxOthers], "…")
	}
	if len(others) > 0 {
		list = append(list, "it holds objects that Sternpost did not make: "+strings.Join(others, ", "))
	}
	return list, nil
}

// maxOthers is the number of named objects that Sternpost has not made.
const maxOthers = 5

// serversSQL counts the sessions of logins that may serve. A superuser, and a developer who
// runs dev, may do so without being a server.
const serversSQL = `
select count(*)
from pg_stat_activity
join pg_roles on pg_roles.oid = pg_stat_activity.usesysid
where pg_stat_activity.datname = current_database()
  and pg_roles.rolname <> current_user
  and not pg_roles.rolsuper
  and exists (select from pg_roles as server where server.rolname = 'sternpost_server' and pg_has_role(pg_roles.oid, server.oid, 'member'))`

// othersSQL names the objects that are not Sternpost's, Postgres' or an extension's.
const othersSQL = `
with others as (
  select 'pg_class'::regclass as catalog, pg_class.oid, pg_class.relnamespace as namespace
  from pg_class
  where pg_class.relkind in ('r', 'v', 'm', 'S', 'f', 'p')
  union all
  select 'pg_proc'::regclass, pg_proc.oid, pg_proc.pronamespace
  from pg_proc
)
select pg_describe_object(others.catalog, others.oid, 0)
from others
join pg_namespace on pg_namespace.oid = others.namespace
where pg_namespace.nspname <> 'platform'
  and pg_namespace.nspname <> 'information_schema'
  and pg_namespace.nspname not like 'pg\_%'
  and not exists (
    select
    from pg_depend
    where pg_depend.classid = others.catalog and pg_depend.objid = others.oid and pg_depend.deptype in ('e', 'i', 'a')
  )
order by 1
limit 6`
