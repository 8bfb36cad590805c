package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ErrNotInstalled is returned for a database without a release.
var ErrNotInstalled = errors.New("the database holds no release: install one with sternpost dev or sternpost migrate up")

// ErrNotOwner is returned for a login that may not read the release.
var ErrNotOwner = errors.New("this login may not read the installed release: connect as the owner of the database, not with the login of a server")

// Installed returns the number of the release in a database, and whether it equals the
// result of this compilation.
func Installed(ctx context.Context, tx pgx.Tx, r *emit.Release) (number int64, isSame bool, err error) {
	var manifest, description []byte
	err = tx.QueryRow(ctx,
		"select number, manifest::text, description::text from platform.release order by number desc limit 1",
	).Scan(&number, &manifest, &description)
	var raised *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &raised) && (raised.Code == "3F000" || raised.Code == "42P01"): // no schema, no table
		return 0, false, ErrNotInstalled
	case errors.As(err, &raised) && raised.Code == "42501":
		return 0, false, ErrNotOwner
	case err != nil:
		return 0, false, fmt.Errorf("read the installed release: %w", err)
	}
	old, err := pg.ReadDescription(description)
	if errors.Is(err, pg.ErrDescriptionFormat) {
		return number, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read the installed release: %w", err)
	}
	return number, bytes.Equal(manifest, r.Manifest) && old.Platform == sql.Hash() && diff.Between(old, r.Database, diff.Options{}).IsEmpty(), nil
}
