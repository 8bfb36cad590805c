package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// progressSQL reads the current work of a backend: building an index, or waiting.
const progressSQL = `
select coalesce(
  (
    select format(
      'index %s: %s%s',
      coalesce(index_relid::regclass::text, ''),
      phase,
      coalesce(', ' || floor(100.0 * coalesce(nullif(blocks_done, 0), tuples_done) / nullif(coalesce(nullif(blocks_total, 0), tuples_total), 0)) || ' %', '')
    )
    from pg_stat_progress_create_index
    where pid = $1
  ),
  (
    select case
      when cardinality(pg_blocking_pids(pid)) > 0 then 'waiting for process ' || array_to_string(pg_blocking_pids(pid), ', ')
      else 'at work'
    end
    from pg_stat_activity
    where pid = $1
  )
)`

// watch reports the progress of a long migration, by a connection of its own, until done is called.
func (o *UpOptions) watch(ctx context.Context, pid uint32, name string) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		var conn *pgx.Conn
		for pause := o.Progress; ; pause = 3 * o.Progress {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if conn == nil {
				var err error
				if conn, err = connect(ctx, o.URL, 0); err != nil {
					return // the migration itself reports the error
				}
				defer conn.Close(context.WithoutCancel(ctx))
			}
			var doing *string
			if err := conn.QueryRow(ctx, progressSQL, int32(pid)).Scan(&doing); err != nil || doing == nil {
				continue
			}
			o.say("%s: %s", name, fmt.Sprintf("%d s, %s", int(time.Since(began).Seconds()), *doing))
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
