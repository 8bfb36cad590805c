package database

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// openTest makes the connections to a database, for as long as a test runs.
func openTest(t *testing.T, size int) (*DB, *pgtest.DB) {
	t.Helper()
	on := pgtest.New(t, pgtest.Options{})
	d, err := Open(&config.Config{
		DatabaseURL: on.ServerURL(), PoolSize: size, PoolWait: 30 * time.Second, StatementTimeout: 30 * time.Second, LockTimeout: 5 * time.Second,
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go d.Watch(ctx)
	t.Cleanup(func() { stop(); d.Close() })
	return d, on
}

func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Fatalf("it never happened that %s", what)
}

// asking is an answer to a statement that returns one text.
type asking struct {
	statement string
	text      string
	onRow     func() // nil means nothing
}

func (a *asking) Statement() *answer.Statement { return &answer.Statement{SQL: a.statement} }
func (a *asking) Restart()                     { a.text = "" }
func (a *asking) Again() bool                  { return false }
func (a *asking) Row(values [][]byte) bool {
	if a.onRow != nil {
		a.onRow()
	}
	a.text = string(values[0])
	return true
}

// ask makes a call without parameters.
func (d *DB) ask(st Statement, text string) (string, error) {
	a := &asking{statement: text}
	err := d.Call(nil, st, nil, a)
	return a.text, err
}

// A panic in the middle of a call leaves no connection behind with the answer of another
// call.
func TestPanicDuringCall(t *testing.T) {
	t.Parallel()
	d, on := openTest(t, 1)
	var backend uint32
	p := func() (p any) {
		defer func() { p = recover() }()
		return d.Call(nil, Statement{name: "panics"}, nil, &asking{statement: "select 'of another'", onRow: func() {
			d.running.mu.Lock()
			defer d.running.mu.Unlock()
			backend = d.running.newest.pg.PID()
			panic("halfway")
		}})
	}()
	if p != "halfway" {
		t.Fatalf("got %v, want a panic", p)
	}
	if text, err := d.ask(Statement{name: "asks"}, "select 'own'"); err != nil || text != "own" {
		t.Errorf("afterwards: got %s, %v", text, err)
	}
	d.running.mu.Lock()
	defer d.running.mu.Unlock()
	if d.running.oldest != nil || d.running.newest != nil {
		t.Error("the call is still listed as running")
	}
	until(t, "the connection on which it panicked is closed", func() bool {
		var isOpen bool
		if err := on.Superuser(t).QueryRow(t.Context(), "select exists (select from pg_stat_activity where pid = $1::bigint)", backend).Scan(&isOpen); err != nil {
			t.Fatal(err)
		}
		return !isOpen
	})
}

// TestLastSlot leaves one slot of Postgres to calls. A connection that reads share has taken it, and
// is closed for a write.
func TestLastSlot(t *testing.T) {
	t.Parallel()
	d, on := openTest(t, 16)
	reads, writes := Statement{name: "reads", Shared: true}, Statement{name: "writes", Writes: true}
	until(t, "reads share a connection", func() bool {
		if text, err := d.ask(reads, "select 'read'"); err != nil || text != "read" {
			t.Fatalf("a read: got %s, %v", text, err)
		}
		return d.Connections().Shared > 0
	})
	d.pool.Reset()
	until(t, "there are no other connections", func() bool { return d.pool.Stat().TotalConns() == 0 })
	superuser := on.Superuser(t) // it takes a slot, like those of the previous test
	var taken int
	until(t, "the database has seen that", func() bool {
		err := superuser.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database()").Scan(&taken)
		if err != nil {
			t.Fatal(err)
		}
		return taken == d.Connections().Shared+1
	})
	if _, err := superuser.Exec(t.Context(), fmt.Sprintf("alter database %s connection limit %d", on.Name(), taken)); err != nil {
		t.Fatal(err)
	}
	if text, err := d.ask(writes, "select 'written'"); err != nil || text != "written" {
		t.Errorf("a write: got %s, %v", text, err)
	}
	if text, err := d.ask(reads, "select 'read'"); err != nil || text != "read" {
		t.Errorf("a read: got %s, %v", text, err)
	}
}

// Postgres keeps 63 bytes of the name of a statement. Two functions must not share them, nor a function and the other forms
// of its own statement.
func TestStatementNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 55)
	seen := map[string]string{}
	for _, function := range []string{"get_note", long, long + "b", long + "c"} {
		for _, form := range []string{"", "_any", "_bounded"} {
			name := statementName(1234567, function) + form
			kept := name[:min(63, len(name))]
			if other, known := seen[kept]; known {
				t.Errorf("%s and %s share the name %s", other, function+form, kept)
			}
			seen[kept] = function + form
		}
	}
}
