package bench

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

const (
	authors = 1_000 // each of whom can sign in
	posts   = 50_000
	notes   = 10_000
	entries = 2_000_000
)

// data is the material for requests.
type data struct {
	identities, authors []string // by author
	posts               []string // that at place n is by author n % authors
	deep                position // of the entry before page 5,000
	handURL             string   // of the database for the server written by hand
}

// position is the end of a page.
type position struct {
	At, ID string
}

const (
	pageSize = 20
	deepPage = 5_000
)

// prepare installs the schema and fills the tables.
func prepare(b testing.TB, databaseURL string, entries int) *data {
	b.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)

	p, err := sqlgen.ReadProject(".")
	if err != nil {
		b.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(p)
	if errs.HasErrors() {
		b.Fatal(errs)
	}
	if _, err := install.Install(ctx, conn, compiled.Release()); err != nil {
		b.Fatal(err)
	}

	var d data
	for _, fill := range []struct {
		sql string
		ids *[]string
	}{
		{fmt.Sprintf(`insert into app.identity (email, issuer)
			select 'author' || n || '@bench.example', 'bench' from generate_series(1, %d) as n returning id`, authors), &d.identities},
		{`insert into app.author (name, identity_id)
			select email, id from app.identity order by id returning id`, &d.authors},
		{fmt.Sprintf(`insert into app.post (title, body, status, score, author_id, published_at, created_at)
			select 'title ' || n, repeat('text ', 20), case when n %% 10 = 0 then 'Live' else 'Draft' end, n %% 7, author.id, now(),
				now() - make_interval(secs => n)
			from generate_series(0, %d - 1) as n
			join (select id, row_number() over (order by id) - 1 as place from app.author) as author on author.place = n %% %d
			order by n returning id`, posts, authors), &d.posts},
		{fmt.Sprintf("insert into app.note (text, at) select 'note ' || n, now() - make_interval(secs => n) from generate_series(1, %d) as n", notes), nil},
		{fmt.Sprintf("insert into app.entry (text, at) select 'entry ' || n, now() - make_interval(secs => n) from generate_series(1, %d) as n", entries), nil},
	} {
		rows, err := conn.Query(ctx, fill.sql)
		if err != nil {
			b.Fatal(err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			b.Fatal(err)
		}
		if fill.ids != nil {
			*fill.ids = ids
		}
	}
	err = conn.QueryRow(ctx, `select platform.iso(at), id from app.entry order by at desc, id offset $1 limit 1`,
		pageSize*(deepPage-1)-1).Scan(&d.deep.At, &d.deep.ID)
	if err != nil {
		b.Fatal(err)
	}
	for _, sql := range []string{ // it may read and write the tables, and no other rules bind it
		"create role hand login bypassrls",
		"grant connect on database " + pgx.Identifier{conn.Config().Database}.Sanitize() + " to hand",
		"grant usage on schema app, platform to hand",
		"grant select, insert, update on all tables in schema app to hand",
		"grant execute on all functions in schema platform to hand",
		"vacuum (analyze, freeze)",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
	d.handURL = asRole(b, databaseURL, "hand")
	return &d
}

// asRole returns the URL of a database for another login.
func asRole(b testing.TB, databaseURL, role string) string {
	b.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		b.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}
