package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/pipeline"
)

// borrow waits until a connection can be borrowed.
func borrow(t *testing.T, p *pipeline.Pool) *pipeline.Loan {
	t.Helper()
	for range 2000 {
		if loan := p.Borrow(); loan != nil {
			return loan
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("no connection is lent")
	return nil
}

// ask runs a statement on a lent connection.
func ask(pg *pgconn.PgConn, sql string, params ...string) (string, error) {
	values := make([][]byte, len(params))
	for i, p := range params {
		values[i] = []byte(p)
	}
	result := pg.ExecParams(context.Background(), sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return "", result.Err
	}
	return string(result.Rows[0][0]), nil
}

// share runs a statement on a shared connection, and retries while the one before it is slow.
func share(p *pipeline.Pool, sql string, params ...string) (string, error) {
	for {
		got, err := text(p, nil, sql, params...)
		if err != pipeline.ErrElsewhere {
			return got, err
		}
		time.Sleep(time.Millisecond)
	}
}

// expect waits for the given numbers of connections and of busy ones.
func expect(t *testing.T, p *pipeline.Pool, wantAll, wantBusy int) {
	t.Helper()
	var all, busy int
	for range 2000 {
		if all, busy = p.Connections(); all == wantAll && busy == wantBusy {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("got %d connections and %d busy, want %d and %d", all, busy, wantAll, wantBusy)
}

func TestLoan(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(o *pipeline.Options) { o.Connections = 3 })
	one, two := borrow(t, p), borrow(t, p)
	if p.Borrow() != nil {
		t.Error("the last connection was lent, which those need who share")
	}
	for _, loan := range []*pipeline.Loan{one, two} {
		if got, err := ask(loan.PgConn(), "select $1::text", "lent"); err != nil || got != "lent" {
			t.Errorf("on a loan: got %q, %v", got, err)
		}
	}
	if got, err := share(p, "select $1", "shared"); err != nil || got != "shared" {
		t.Errorf("beside loans: got %q, %v", got, err)
	}
	expect(t, p, 3, 2)
	one.GiveBack()
	expect(t, p, 3, 1)
	one = borrow(t, p) // a returned connection is lent again
	expect(t, p, 3, 2)
	one.GiveBack()
	two.GiveBack()
	expect(t, p, 3, 0)
}

// TestSpoiltLoan returns connections that no other caller may get.
func TestSpoiltLoan(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(o *pipeline.Options) { o.Connections = 2 })
	for _, test := range []struct {
		name  string
		spoil func(*pipeline.Loan)
	}{
		{"in a transaction", func(l *pipeline.Loan) { ask(l.PgConn(), "select 1"); l.PgConn().Exec(t.Context(), "begin").Close() }},
		{"in a failed one", func(l *pipeline.Loan) { l.PgConn().Exec(t.Context(), "begin; select 1/0").Close() }},
		{"busy", func(l *pipeline.Loan) { l.PgConn().ExecParams(t.Context(), "select 1", nil, nil, nil, nil) }},
		{"closed", func(l *pipeline.Loan) { l.PgConn().Close(t.Context()) }},
		{"while the pool is reset", func(*pipeline.Loan) { p.Reset() }},
		{"while the pool is broken", func(*pipeline.Loan) { p.Break() }},
	} {
		loan := borrow(t, p)
		pid := loan.PgConn().PID()
		test.spoil(loan)
		loan.GiveBack()
		connect(t, p, 2)
		for range 20 { // until both have been lent
			again := borrow(t, p)
			if again.PgConn().PID() == pid {
				t.Errorf("%s: the connection is used again", test.name)
			}
			got, err := ask(again.PgConn(), "select current_setting('transaction_isolation') || $1::text", "!")
			if err != nil || got != "read committed!" {
				t.Errorf("%s: afterwards: got %q, %v", test.name, got, err)
			}
			again.GiveBack()
		}
	}
}

// TestLoansAmongSharers has callers that share connections and callers that borrow them. Each gets its own answers,
// and no setting of one transaction reaches another.
func TestLoansAmongSharers(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(o *pipeline.Options) { o.Connections = 3 })
	const callers, each = 8, 150
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for call := range each {
				own := fmt.Sprintf("%d.%d", caller, call)
				want := own + "/" + strings.Repeat("x", call*call)
				const sql = "select $1::text || '/' || coalesce(current_setting('test.own', true), '') || repeat('x', $2::int)"
				var got string
				var err error
				if loan := p.Borrow(); loan != nil && caller%2 == 0 {
					if _, err = ask(loan.PgConn(), "select set_config('test.own', $1, true)", own); err == nil {
						got, err = ask(loan.PgConn(), sql, own, fmt.Sprint(call*call))
					}
					loan.GiveBack()
				} else {
					if loan != nil {
						loan.GiveBack()
					}
					got, err = share(p, sql, own, fmt.Sprint(call*call))
				}
				if err != nil || got != want {
					t.Errorf("caller %s got %.60q, %v, want %.60q", own, got, err, want)
				}
			}
		})
	}
	all.Wait()
}
