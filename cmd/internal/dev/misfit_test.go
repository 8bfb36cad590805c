package dev

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestWayOut proposes a default only if a value is missing.
func TestWayOut(t *testing.T) {
	t.Parallel()
	const other = "Undo the change in the schema, or change the rows"
	for _, c := range []struct{ name, code, want string }{
		{"a required field", "23502", "Give a new required field a @default or make it optional,\nor change the rows"},
		{"a value of an enum that is gone, or a @validate", "23514", other},
		{"a @unique", "23505", other},
	} {
		misfit := &install.RowsError{Cause: &pgconn.PgError{Code: c.code}}
		if got := wayOut(misfit); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
