package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // for machines without

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/sql/schedule"
)

// TestScheduleOfYear lets three servers go through a year, in four zones: each slot is one run, whoever sees it first,
// and the slots that all of them miss are one.
func TestScheduleOfYear(t *testing.T) {
	t.Parallel()
	zones := []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}
	text := "job Remind {\n"
	for _, zone := range zones {
		if zone == "" {
			text += "  @schedule(\"30 2 * * *\")\n"
			continue
		}
		text += fmt.Sprintf("  @schedule(\"30 2 * * *\", timeZone: %q)\n", zone)
	}
	dir := writeProject(t, map[string]string{
		"schema.stern":         text + "}\n",
		"functions/remind.sql": "create function functions.remind() returns void language sql volatile security invoker as $$ select $$;\n",
	})
	db := installApp(t, dir)
	conn := db.Superuser(t)
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := conn.Exec(t.Context(), `update platform.schedule set slot = $1`, begin); err != nil {
		t.Fatal(err)
	}
	want := 0
	var hours []time.Time // at which the servers look; not in February
	for at := begin; at.Before(begin.AddDate(1, 0, 0)); at = at.Add(time.Hour) {
		if at.Month() != time.February {
			hours = append(hours, at)
		}
	}
	for _, zone := range zones {
		s, err := schedule.Parse("30 2 * * *", zone)
		if err != nil {
			t.Fatal(err)
		}
		last := begin
		for _, at := range hours {
			if slot := s.Latest(last, at); !slot.IsZero() {
				want++
				last = at
			}
		}
	}
	var all sync.WaitGroup
	queued := make([]int, 3)
	for i := range queued {
		server := events.New(events.Options{DB: &ownConnection{conn: db.Superuser(t), t: t}, Registry: prometheus.NewRegistry()})
		all.Go(func() {
			for _, at := range hours {
				n, err := server.QueueDue(at)
				if err != nil {
					t.Error(err)
					return
				}
				queued[i] += n
			}
		})
	}
	all.Wait()
	var runs int
	if err := conn.QueryRow(t.Context(), `select count(*) from platform.task where kind = 'job' and name = 'Remind'`).Scan(&runs); err != nil {
		t.Fatal(err)
	}
	if runs != want || queued[0]+queued[1]+queued[2] != want {
		t.Errorf("%d runs, queued %v; want %d", runs, queued, want)
	}
}

// ownConnection is a database of one connection.
type ownConnection struct {
	conn *pgx.Conn
	t    *testing.T
}

func (c *ownConnection) QueryRow(statement string, arguments []any, into ...any) error {
	return c.conn.QueryRow(c.t.Context(), statement, arguments...).Scan(into...)
}

func (c *ownConnection) Dial(context.Context, ...database.Setting) (*pgx.Conn, error) {
	return nil, errors.New("no run is done here")
}
