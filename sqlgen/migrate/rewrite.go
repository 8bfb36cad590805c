package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/diff"
)

// rewritten returns the tables that a file writes anew as a whole, by its plan.
func (f *File) rewritten() []string {
	var list []string
	step := ""
	for line := range strings.Lines(f.Plan()) {
		if strings.HasPrefix(line, "    ") && strings.Contains(line, "; "+string(diff.Rewrites)) {
			if table := tableName.FindString(step); !slices.Contains(list, table) {
				list = append(list, table)
			}
		}
		step = line
	}
	return list
}

// writtenASecond is how many bytes of a table and its indexes Postgres writes anew in a second, on a small machine.
const writtenASecond = 30 << 20

// warn says which calls will wait for a file, and how long.
func (o *UpOptions) warn(ctx context.Context, conn *pgx.Conn, file *File) error {
	for _, table := range file.rewritten() {
		var rows, size int64
		var actions []string
		err := conn.QueryRow(ctx, `
			select
				greatest(reltuples::bigint, 0),
				pg_total_relation_size(pg_class.oid),
				array(
					select distinct substring(obj_description(pg_proc.oid, 'pg_proc') from '^action (\w+)') as action
					from pg_proc
					where pronamespace = 'api'::regnamespace and prosrc ~ ('\m(app|related)\.' || quote_ident(relname) || '\M')
					order by action
				)
			from pg_class
			where pg_class.oid = to_regclass($1)`, table).Scan(&rows, &size, &actions)
		if errors.Is(err, pgx.ErrNoRows) || orLocked(err) == ErrLocked { // this file renames it, or another session has locked it
			o.say("%s: table %s is written anew, and calls that use it wait meanwhile", file.Name, table)
			continue
		}
		if err != nil {
			return fmt.Errorf("look what waits for %s: %w", file.Name, err)
		}
		o.say("%s: table %s is written anew (about %d rows, %d MB with its indexes); meanwhile, for about %d s, these calls wait: %s",
			file.Name, table, rows, size>>20, size/writtenASecond+1, strings.Join(actions, ", "))
	}
	return nil
}
