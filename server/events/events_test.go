package events

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// backlog is a database with events that nobody has read in time: how many each transaction gives up.
type backlog struct {
	Database
	counts []map[string]int
}

func (b *backlog) QueryRow(statement string, _ []any, into ...any) error {
	if strings.Contains(statement, "events_give_up") && len(b.counts) > 0 {
		*into[0].(*map[string]int), b.counts = b.counts[0], b.counts[1:]
	}
	return nil
}

// TestStayingAwayIsLogged gives up all that waits for too long, and says so once, of each subscriber that lost something.
func TestStayingAwayIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := &backlog{counts: []map[string]int{{"watch": 1000, "slow": 0}, {"watch": 7}}}
	e := New(Options{DB: db, Keep: time.Hour, Registry: prometheus.NewRegistry(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := e.tend(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(db.counts) > 0 || strings.Count(log.String(), "level=ERROR") != 1 || !strings.Contains(log.String(), "subscriber=watch events=1007") {
		t.Errorf("left %v, and logged\n%s", db.counts, &log)
	}
}

// TestFailuresAreLogged says what could not be done, once while it fails again and again.
func TestFailuresAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e := New(Options{Registry: prometheus.NewRegistry(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		for _, name := range []string{schedules, "", "watch"} {
			e.note(t.Context(), name, errors.New("no connection"))
		}
	}
	for _, want := range []string{`msg="cannot queue runs by schedule" error=`, `msg="cannot look after events and runs" error=`, `msg="cannot read events" subscriber=watch error=`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("the log lacks one %s:\n%s", want, &log)
		}
	}
}
