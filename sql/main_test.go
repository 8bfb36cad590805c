package sql_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.MainInContainer(m)) }

// value runs a statement and returns its only value.
func value[T any](t *testing.T, conn *pgx.Conn, statement string, args ...any) T {
	t.Helper()
	var got T
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return got
}

// values runs a statement and returns the only column of its rows.
func values[T any](t *testing.T, conn *pgx.Conn, statement string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return got
}

// exec runs statements that return nothing.
func exec(t *testing.T, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}
