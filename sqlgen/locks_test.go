package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/calls"
)

// mostLocks is the number of locks on relations that a call may hold: as many as Postgres keeps for
// each connection, outside of the table that all connections share.
const mostLocks = 16

// crowdedSchema is a model with 300 actions, whose rules walk as many relations as it has
// shares.
func crowdedSchema(shares, actions int) string {
	var models, fields, crowd strings.Builder
	for n := range shares {
		fmt.Fprintf(&models, "model Share%[1]d { fields { post Post  person Identity } }\n", n)
		fmt.Fprintf(&fields, "    share%[1]ds Share%[1]d[]\n", n)
	}
	kinds := []string{"get get%d(id)", "list list%d()", "update update%d(id) with (title)", "delete delete%d(id)"}
	for n := range actions {
		rule := fmt.Sprintf("@permission(expression: ctx.identity in post.share%ds.person)", n/len(kinds)%shares)
		fmt.Fprintf(&crowd, "    "+kinds[n%len(kinds)]+" { %s }\n", n, rule)
	}
	return models.String() + `
model Post {
  fields {
    title Text
    isOpen Boolean @default(true)
    owner Identity?
` + fields.String() + `  }
  actions {
    get getOpen(id) { @permission(expression: true) }
    get getOpenOnly(id) { @permission(expression: post.isOpen) }
    get getOwned(id) { @permission(expression: post.owner == ctx.identity) }
    list listOpen() { @permission(expression: true) }
    list listOwned() { @permission(expression: post.owner == ctx.identity) }
    create createOpen() with (title) { @permission(expression: true) }
    update updateOwned(id) with (title) { @permission(expression: post.owner == ctx.identity) }
` + crowd.String() + `
    delete removeOwned(id) { @permission(expression: post.owner == ctx.identity) }
  }
}
`
}

// TestLocks counts the locks that a call holds on a connection that has run it before, while 300
// actions on its table have rules that walk two dozen relations. No lock may be in the table that all
// connections share.
func TestLocks(t *testing.T) {
	t.Parallel()
	a := newCrowd(t)
	for n := 1; n < crowdedShares; n += 2 {
		a.exec(t, fmt.Sprintf("insert into app.share_%d (post_id, person_id) values ('p', 'me')", n))
	}
	called := []struct{ name, body string }{
		{"getOpen", `{"id":"p"}`},
		{"getOpenOnly", `{"id":"p"}`},
		{"getOwned", `{"id":"p"}`},
		{"listOpen", `{"first":20}`},
		{"listOwned", `{"first":20}`},
		{"createOpen", `{"title":"Q"}`},
		{"updateOwned", `{"where":{"id":"p"},"values":{"title":"Q"}}`},
	}
	for n := range 4 * crowdedShares {
		switch n % 4 {
		case 0:
			called = append(called, struct{ name, body string }{fmt.Sprintf("get%d", n), `{"id":"p"}`})
		case 1:
			called = append(called, struct{ name, body string }{fmt.Sprintf("list%d", n), `{"first":20}`})
		case 2:
			called = append(called, struct{ name, body string }{fmt.Sprintf("update%d", n), `{"where":{"id":"p"},"values":{"title":"Q"}}`})
		}
	}
	for _, c := range called {
		for range 7 { // by then Postgres has chosen the plans that it keeps
			if got := a.call(t, c.name, c.body, "me"); !strings.Contains(got, `"p"`) && c.name != "createOpen" {
				t.Fatalf("%s answers %s", c.name, got)
			}
		}
		function := a.action(t, c.name).Function
		locks, slow := locksOf(t, a, function, c.body)
		// While another test changes a table, Postgres takes some locks through the shared table, which is not
		// a fault of the call.
		for try := 0; try < 50 && len(slow) > 0; try++ {
			time.Sleep(20 * time.Millisecond)
			locks, slow = locksOf(t, a, function, c.body)
		}
		if len(locks) > mostLocks || len(slow) > 0 {
			t.Errorf("%s holds %d locks, slow %d: %v", c.name, len(locks), len(slow), locks)
		}
	}
}

type lock struct {
	Relation, Mode string
	IsFast         bool
}

// locksOf returns the locks on relations that a call holds at the end of its transaction, and the
// relations whose locks are in the table that all connections share.
func locksOf(t *testing.T, a *app, function, body string) (locks []lock, slow []string) {
	t.Helper()
	var manifest string
	if err := a.server.QueryRow(t.Context(), "select manifest::text from platform.release").Scan(&manifest); err != nil {
		t.Fatal(err)
	}
	tx, err := a.server.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := calls.Of(t.Context(), tx.Conn(), manifest, function, body, callContext("me")); err != nil {
		t.Fatal(err)
	}
	// While another test of the cluster has a table for itself, Postgres takes the locks of many other tables through
	// the shared table (Postgres 15, src/backend/storage/lmgr/README): weak ones are not a fault of the call then.
	rows, err := a.owner.Query(t.Context(), `
		select relation::regclass::text, mode, fastpath or mode in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') and exists (
			select from pg_locks as other
			where other.pid <> $1 and other.locktype = 'relation' and other.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
		)
		from pg_locks
		where pid = $1 and locktype = 'relation' order by 1`, tx.Conn().PgConn().PID())
	if err != nil {
		t.Fatal(err)
	}
	if locks, err = pgx.CollectRows(rows, pgx.RowToStructByPos[lock]); err != nil {
		t.Fatal(err)
	}
	for _, l := range locks {
		if !l.IsFast {
			slow = append(slow, l.Relation)
		}
	}
	return locks, slow
}
