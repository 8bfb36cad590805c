package sql_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
)

// TestMigrateBehindPooler migrates through poolers. A pooler that keeps sessions works like a direct
// connection. Behind one that does not, nothing is changed, and no lock is left in a session that
// others use.
func TestMigrateBehindPooler(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode    string
		size    int
		refuses bool
	}{
		{mode: "session", size: 1},
		{mode: "session", size: 3},
		{mode: "transaction", size: 1, refuses: true},
		{mode: "transaction", size: 3, refuses: true},
	} {
		t.Run(fmt.Sprintf("%s, %d", c.mode, c.size), func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Size: c.size, Settings: []string{"pool_mode = " + c.mode}})
			config, err := pgx.ParseConfig(pooler.Of(db.OwnerURL()))
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())

			err = sql.Migrate(t.Context(), conn)
			if c.refuses != errors.Is(err, postgres.ErrNoSession) || !c.refuses && err != nil {
				t.Errorf("got %v, refuses %t", err, c.refuses)
			}
			var isInstalled bool
			var locks int
			err = db.Superuser(t).QueryRow(t.Context(), `
				select to_regnamespace('platform') is not null,
					(select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database()))`).
				Scan(&isInstalled, &locks)
			if err != nil || isInstalled == c.refuses || locks > 0 {
				t.Errorf("installed %t, with %d locks (%v)", isInstalled, locks, err)
			}
		})
	}
}
