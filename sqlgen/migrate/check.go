package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// CheckError is returned by Check for migrations that do not lead to the schema.
type CheckError struct {
	Differences []Difference
}

// Error lists the differences of a database from the schema.
func (e *CheckError) Error() string {
	return "the migrations do not lead to the schema; after all of them\n" + lines(e.Differences) +
		"\nyour own statements may change rows, but nothing that the schema describes"
}

// changed is the beginning of the error of Check for another schema.
const changed = "the schema has changed since the last migration: write the next one with sternpost migrate new NAME"

// Check proves that the migrations lead to the schema: it applies them to an empty
// database of a scratch Postgres (at scratchURL, or one that it starts), installs the
// schema in another one, and compares both. It looks at the files first.
func Check(ctx context.Context, folder *Folder, r *emit.Release, scratchURL string) (err error) {
	if err := folder.files(); err != nil {
		return err
	}
	last, err := folder.current()
	switch {
	case err != nil:
		return err
	case last == nil:
		return fmt.Errorf("there are no migrations in %s: write the first one with sternpost migrate new", folder.Dir)
	}
	var refused *RefusedError
	switch change, err := next(last, 1, "check", r, PlanOptions{}); {
	case errors.As(err, &refused):
		return fmt.Errorf("%s\n%w", changed, refused)
	case err == nil && len(change.reasons) == 0:
		return errors.New(changed + "\n  what the actions publish, or the version of Sternpost")
	case err == nil:
		return errors.New(changed + "\n  " + strings.Join(change.reasons, "\n  "))
	case !errors.Is(err, ErrNothingChanged):
		return err
	}

	server, err := postgres.NewScratch(ctx, scratchURL)
	if err != nil {
		return err
	}
	defer func() {
		if failed := server.Close(ctx); err == nil {
			err = failed
		}
	}()
	var migrated, fresh map[string]string
	err = replay(ctx, server, folder.Files, func(conn *pgx.Conn) error {
		r, _, err := readRelease(ctx, conn)
		if err != nil {
			return err
		}
		if r.digest() != last.Digest {
			return fmt.Errorf("the migrations lead to another release than that of %s: make it anew with sternpost migrate rebase", SnapshotName)
		}
		migrated, err = readCatalog(ctx, conn)
		return err
	})
	if err != nil {
		return err
	}
	url, err := server.Database(ctx)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, url, 0)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := install.Install(ctx, conn, r); err != nil {
		return err
	}
	if fresh, err = readCatalog(ctx, conn); err != nil {
		return err
	}
	if differences := compare(migrated, fresh, "is there, and the schema does not have it", "is missing", "is not as the schema has it"); len(differences) > 0 {
		return &CheckError{differences}
	}
	return nil
}
