package install

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sqlgen/emit"
)

// Roles makes the roles that an application needs and lets logins serve it, as sql.MakeRoles does. It gives the
// functions of the newest release, if any, to the roles that they run as. A restore of a dump needs the first before it
// and both after it. Roles returns the number of that release; 0 means that there is none.
func Roles(ctx context.Context, conn *pgx.Conn, logins []string) (release int64, err error) {
	if err := sql.MakeRoles(ctx, conn, logins); err != nil {
		return 0, err
	}
	var hasReleases bool
	if err := conn.QueryRow(ctx, "select to_regclass('platform.release') is not null").Scan(&hasReleases); err != nil || !hasReleases {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		installed, err := newest(ctx, tx)
		if err != nil {
			return err
		}
		db, err := installed.database()
		if err != nil || db == nil {
			return err
		}
		release = installed.number
		for _, statement := range emit.Ownership(db.Functions) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("give the functions of release %d to their roles: %w", release, err)
			}
		}
		return nil
	})
	return release, err
}
