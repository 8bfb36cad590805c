package bench

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// measurePools compares a get with pools of several sizes.
func (s *stage) measurePools(b testing.TB) {
	b.Helper()
	s.printf("\nA get with pools of several sizes, %d clients: CPU µs of server and Postgres.\n%-42s %8s %8s %7s\n", usualClients,
		"connections", "ours", "by hand", "ratio")
	for _, pool := range []int{4, 8, 16} {
		ours := s.start(b, s.database.URL(), pool)
		theirs := startSelf(b, "rows", s.data.handURL, s.key, pool, firstCall)
		for _, c := range comparisons(s.data, s.tokens, "") {
			if c.name == "get" {
				o := ours.loadWarm(b, s.backends, c.clients, c.ours, c.answers).total()
				t := theirs.loadWarm(b, s.backends, c.clients, c.theirs, c.answers).total()
				s.printf("%-42d %8.1f %8.1f %7.2f\n", pool, o, t, t/o)
			}
		}
		ours.stop()
		theirs.stop()
	}
}

// measureGrowth shows how costs change when an application and its data grow.
func (s *stage) measureGrowth(b testing.TB) {
	b.Helper()
	s.printf("\nMore actions on one table, a third of them under a rule that walks a relation: CPU µs of a get without rule.\n%-42s %8s\n", "actions", "get")
	for _, actions := range []int{3, 30, 300} {
		server, _ := s.grown(b, fmt.Sprintf("actions_%d", actions), manyActions(actions), "getPost0")
		get := func(int64) call { return call{action: "getPost0", body: `{"id":"none"}`} }
		s.printf("%-42d %8.1f\n", actions, server.loadWarm(b, s.backends, usualClients, get, "null").total())
		server.stop()
	}

	s.printf("\nMore models, each with five actions: seconds to compile and install into an empty database, to find it unchanged, and for\n"+
		"a server to answer first.\n%-42s %8s %10s %8s\n", "models", "install", "unchanged", "answer")
	for _, models := range []int{10, 100, 200} {
		server, took := s.grown(b, fmt.Sprintf("models_%d", models), manyModels(models), "getItem0")
		s.printf("%-42d %8.2f %10.2f %8.3f\n", models, took.installed.Seconds(), took.unchanged.Seconds(), server.firstAfter.Seconds())
		server.stop()
	}

	s.printf("\nMore rows: CPU µs of page %d by cursor.\n%-42s %8s\n", deepPage, "rows", "page")
	deep := func(p *process) float64 {
		body := fmt.Sprintf(`{"first":%d,"after":%q}`, pageSize, cursorOf(b, p))
		return p.load(b, s.backends, usualClients, func(int64) call { return call{action: "listEntries", body: body} }, `"hasNextPage":true`).total()
	}
	s.printf("%-42d %8.1f\n", entries, deep(s.sternpost))
	s.execute(b, fmt.Sprintf("insert into app.entry (text, at) select 'old ' || n, now() - interval '1 year' - make_interval(secs => n) "+
		"from generate_series(1, %d) as n", allEntries-entries), "vacuum (analyze) app.entry")
	s.printf("%-42d %8.1f\n", allEntries, deep(s.sternpost))
}

const allEntries = 10_000_000

func (s *stage) execute(b testing.TB, statements ...string) {
	b.Helper()
	ctx := context.Background()
	conn := s.connect(b, "")
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
}

// connect connects as superuser to a database, the one of the stage for "".
func (s *stage) connect(b testing.TB, database string) *pgx.Conn {
	b.Helper()
	config, err := pgx.ParseConfig(s.database.URL())
	if err != nil {
		b.Fatal(err)
	}
	if database != "" {
		config.Database = database
	}
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}

// installation is how long it took to compile and install an application.
type installation struct {
	installed, unchanged time.Duration
}

// grown installs a schema into a database of its own and serves it.
func (s *stage) grown(b testing.TB, name, schema, first string) (*process, installation) {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.stern"), []byte(schema), 0o600); err != nil {
		b.Fatal(err)
	}
	s.execute(b, "create database "+name)
	ctx := context.Background()
	conn := s.connect(b, name)
	defer conn.Close(ctx)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the commands do
	install := func() time.Duration {
		began := time.Now()
		p, err := sqlgen.ReadProject(dir)
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
		return time.Since(began)
	}
	took := installation{installed: install(), unchanged: install()}
	url, err := url.Parse(s.database.URL())
	if err != nil {
		b.Fatal(err)
	}
	url.Path = "/" + name
	return startSelf(b, "sternpost", url.String(), s.key, usualPool, call{action: first, body: `{"id":"none"}`}), took
}

// manyActions is a model with n actions, which take turns at three kinds of rules.
func manyActions(n int) string {
	var text strings.Builder
	text.WriteString("model Author {\n  fields {\n    name Text\n    identity Identity? @unique\n  }\n}\n\nmodel Post {\n  fields {\n    title Text\n    author Author\n  }\n  actions {\n")
	for i := range n {
		rule := []string{"true", "post.author.identity == ctx.identity", fmt.Sprintf("post.title == %q", fmt.Sprintf("title %d", i))}[i%3]
		fmt.Fprintf(&text, "    get getPost%d(id) {\n      @permission(expression: %s)\n    }\n", i, rule)
	}
	text.WriteString("  }\n}\n")
	return text.String()
}

// manyModels is n models with five actions each.
func manyModels(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `model Item%[1]d {
  fields {
    title Text
    body Text
    owner Identity?
    score Number @default
  }
  actions {
    get getItem%[1]d(id)
    create createItem%[1]d() with (title, body)
    update updateItem%[1]d(id) with (title?, body?)
    delete deleteItem%[1]d(id)
    list listItem%[1]ds(title?)
  }
  @permission(expression: item%[1]d.owner == ctx.identity || item%[1]d.score == 0, actions: [get, list, update, delete])
  @permission(expression: true, actions: [create])
}
`, i)
	}
	return text.String()
}
