package events

import (
	"context"
	"fmt"
	"time"

	"github.com/sternpost/sternpost/sql/schedule"
)

// scheduleInterval is how often a server looks for slots that have come.
const scheduleInterval = time.Second

// schedules is what note calls the schedules among the names of subscribers, which are lower camel.
const schedules = "the schedules"

// Schedule queues the runs of jobs by their schedules until the context ends, and calls queued for each.
func (e *Events) Schedule(ctx context.Context, queued func()) {
	for ticker := time.NewTicker(scheduleInterval); ; {
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case now := <-ticker.C:
			if _, m := e.Release(); m == nil || !m.HasSchedules() || !e.IsServed() {
				continue
			}
			n, err := e.QueueDue(now)
			e.note(ctx, schedules, err)
			for range n {
				queued()
			}
		}
	}
}

// QueueDue queues a run for each schedule of which a slot has come by now, unless another server has, and tells how many
// it has queued. Of several slots that were missed, the latest counts.
func (e *Events) QueueDue(now time.Time) (n int, err error) {
	all, err := Querier(e.DB.QueryRow).Schedules()
	if err != nil {
		return 0, err
	}
	for _, row := range all {
		s, err := schedule.Parse(row.Text, row.TimeZone)
		if err != nil {
			return n, fmt.Errorf("read the schedule %q of %s: %w", row.Text, row.Job, err)
		}
		slot := s.Latest(row.Slot, now)
		if slot.IsZero() {
			continue
		}
		var isQueued bool
		if err := e.DB.QueryRow(`select platform.schedule_due($1, $2, $3, $4)`, []any{row.Job, row.Text, row.TimeZone, slot}, &isQueued); err != nil {
			return n, fmt.Errorf("queue a run of %s: %w", row.Job, err)
		}
		if isQueued {
			n++
		}
	}
	return n, nil
}
