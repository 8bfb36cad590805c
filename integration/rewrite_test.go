package integration

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// shelf has reads of each kind: without a rule, behind one that follows a relation, and of values that are computed.
const shelf = `
model Shelf {
  fields {
    name Text
    width Number @default(3)
    total Number @computed(SUM(shelf.books.pages))
    books Book[]
  }
  actions {
    get getShelf(id)
    list listShelves(total?)
  }
  @permission(expression: true, actions: [get, list])
}

model Book {
  fields {
    title Text
    pages Number @default(100)
    label Text @computed(book.title + "!")
    shelf Shelf
  }
  actions {
    get getBook(id)
    list listBooks(label?)
    update changeBook(id) with (title)
  }
  @permission(expression: book.shelf.width > 0, actions: [get, list, update])
}
`

// TestReadsBehindRewrite lets reads wait for an installation that writes the rows of their tables anew. They took their
// snapshots before, to which such rows do not exist, and are answered as if they had come later.
func TestReadsBehindRewrite(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"computed by the row":       {`book.title + "!"`, `"!" + book.title`},
		"computed by other rows":    {"SUM(shelf.books.pages)", "SUM(shelf.books.pages) + 1"},
		"another type":              {"pages Number", "pages Decimal"},
		"another type under a rule": {"width Number", "width Decimal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rewrite := func(t *testing.T, a *app, db *pgtest.DB, dir string, at *pgx.Conn, calls [][2]string) {
				t.Helper()
				ask := func() {
					var group sync.WaitGroup
					for _, call := range calls {
						group.Go(func() {
							response, got, err := a.try(t.Context(), "POST", "/api/json/"+call[0], nil, call[1])
							if err != nil {
								t.Error(err)
								return
							}
							isThere := strings.Contains(got, `"name":"English"`) || strings.Contains(got, `"title":"Emma"`)
							if response.StatusCode != 200 || !isThere || strings.Contains(got, `"total":0`) {
								t.Errorf("%s %s: got %d %s", call[0], call[1], response.StatusCode, got)
							}
						})
					}
					group.Wait()
				}
				for range 20 {
					ask() // so that connections are there, with plans
				}
				edit(t, dir, change[0], change[1])
				compiled, err := compile(dir)
				if err != nil {
					t.Fatal(err)
				}
				// The installation would wait for calls that hold views, and they for these tables.
				owner := db.Owner(t)
				if _, err := owner.Exec(t.Context(), "begin; lock table related.shelf, related.book, app.shelf, app.book in access exclusive mode"); err != nil {
					t.Fatal(err)
				}
				if _, err := db.Superuser(t).Exec(t.Context(), "select pg_switch_wal()"); err != nil { // the locks reach the replica
					t.Fatal(err)
				}
				locks := func(condition string) (count int) {
					err := at.QueryRow(t.Context(), "select count(distinct coalesce(pid, 0)) from pg_locks where "+condition).Scan(&count)
					if err != nil {
						t.Fatal(err)
					}
					return count
				}
				until(t, "the tables are locked", func() bool {
					return locks("granted and mode = 'AccessExclusiveLock'") > 0
				})
				asked := make(chan struct{})
				go func() {
					defer close(asked)
					ask()
				}()
				until(t, "calls wait", func() bool { return locks("not granted") >= 2 })
				if _, err := install.Install(t.Context(), owner, compiled.Release()); err != nil { // it ends the transaction
					t.Fatal(err)
				}
				<-asked
			}
			reads := [][2]string{
				{"getShelf", `{"id":"s"}`}, {"listShelves", `{}`}, {"listShelves", `{"where":{"total":{"greaterThan":0}},"totalCount":true}`},
				{"getBook", `{"id":"b"}`}, {"listBooks", `{}`}, {"listBooks", `{"where":{"label":{"contains":"Emma"}}}`},
			}
			fill := func(t *testing.T, db *pgtest.DB) {
				t.Helper()
				_, err := db.Owner(t).Exec(t.Context(), `
					insert into app.shelf (id, name) values ('s', 'English');
					insert into app.book (id, title, shelf_id) values ('b', 'Emma', 's')`)
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Run("primary", func(t *testing.T) {
				t.Parallel()
				dir := writeProject(t, map[string]string{"schema.stern": shelf})
				db := installApp(t, dir)
				fill(t, db)
				a := serve(t, db, dir, db.ServerURL())
				a.await(t, "getBook", `{"id":"b"}`, "Emma")
				rewrite(t, a, db, dir, db.Superuser(t), append(reads, [2]string{"changeBook", `{"where":{"id":"b"},"values":{"title":"Emma"}}`}))
			})
			t.Run("replica", func(t *testing.T) {
				t.Parallel()
				c := &copies{pair: &pair{primary: pgtest.NewNode(t), dir: writeProject(t, map[string]string{"schema.stern": shelf})}}
				c.db = c.primary.New(t, appOptions(c.dir))
				fill(t, c.db)
				c.standby = c.primary.Replica(t, "standby")
				a := c.serve(t, c.db.ServerURL(), c.db.At(c.standby).ServerURL(), "60")
				a.await(t, "getBook", `{"id":"b"}`, "Emma")
				rewrite(t, a, c.db, c.dir, c.db.At(c.standby).Superuser(t), reads)
				if n := a.answeredBy(t, "replica"); n == 0 {
					t.Error("the replica has answered nothing")
				}
			})
		})
	}
}
