package events

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Querier asks the database, as a server or as the owner.
type Querier func(statement string, arguments []any, into ...any) error

// State is how a subscriber is.
type State struct {
	Name      string
	IsCode    bool
	StoppedAt *time.Time // its address wants no more
	Changes   int64      // that it has not read, at most
	Seconds   float64    // since the first of them
	Waiting   int64      // events that are tried again, and those behind them
	Dead      int64      // events that were given up
}

// Listed is an event that waits, that failed or that is over.
type Listed struct {
	ID         *int64 // nil if it was told at the first attempt, or is not read yet
	Subscriber string
	Event      json.RawMessage
	Attempts   int
	State      string // dead, waiting, sending, done, skipped or unread
	DueAt      *time.Time
	Failure    string
}

// Name returns what has happened to which record.
func (l *Listed) Name() (event, record string) {
	var e struct {
		EventName string
		Target    struct{ ID string }
	}
	_ = json.Unmarshal(l.Event, &e) // it is from the database
	return e.EventName, e.Target.ID
}

// ask reads the JSON that a function of the platform returns.
func (q Querier) ask(into any, call string, arguments ...any) error {
	var text string
	if err := q("select "+call+"::text", arguments, &text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// list reads a list of what.
func (q Querier) list(what string, into any, call string, arguments ...any) error {
	if err := q.ask(into, call, arguments...); err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	return nil
}

// States returns how each subscriber is.
func (q Querier) States() (states []State, err error) {
	err = q.list("the subscribers", &states, "platform.events_state()")
	return states, err
}

// List returns events that wait or were given up; with isAll also the latest that are over.
func (q Querier) List(most int, isAll bool) (list []Listed, err error) {
	err = q.list("the events", &list, "platform.events_list($1, $2)", int32(most), isAll)
	return list, err
}

// Mend has events tried again, or skips them: that of an id, or all that were given up of a subscriber. It returns how
// many those are.
func (q Querier) Mend(isSkipped bool, named string) (count int, err error) {
	var id *int64
	if n, err := strconv.ParseInt(named, 10, 64); err == nil {
		id = &n
	}
	if err := q("select platform.events_mend($1, $2, $3)", []any{isSkipped, id, named}, &count); err != nil {
		return 0, fmt.Errorf("mend %s: %w", named, err)
	}
	return count, nil
}

// Resume lets a webhook go on. It tells whether it was stopped.
func (q Querier) Resume(name string) (isResumed bool, err error) {
	if err := q("select platform.events_resume($1)", []any{name}, &isResumed); err != nil {
		return false, fmt.Errorf("resume %s: %w", name, err)
	}
	return isResumed, nil
}

// Replay tells a subscriber again what it was told since a moment. It returns how many events those are, nil if there is
// no such subscriber.
func (q Querier) Replay(name string, since time.Time) (count *int, err error) {
	if err := q("select platform.events_replay($1, $2)", []any{name, since}, &count); err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	return count, nil
}

// gauge is a metric of subscribers.
type gauge struct {
	*prometheus.GaugeVec
	of func(State) float64
}

// newGauges makes the metrics of how each subscriber is.
func newGauges(r prometheus.Registerer) (all []gauge) {
	for _, g := range []struct {
		name, help string
		of         func(State) float64
	}{
		{"sternpost_subscriber_behind_changes", "Changes of rows that a subscriber has not read, at most.", func(s State) float64 { return float64(s.Changes) }},
		{"sternpost_subscriber_behind_seconds", "Seconds since the first change that a subscriber has not read.", func(s State) float64 { return s.Seconds }},
		{"sternpost_subscriber_waiting_events", "Events that are tried again, and those that wait behind them.", func(s State) float64 { return float64(s.Waiting) }},
		{"sternpost_subscriber_dead_events", "Events that were given up, until somebody retries or skips them.", func(s State) float64 { return float64(s.Dead) }},
	} {
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: g.name, Help: g.help}, []string{"subscriber"})
		r.MustRegister(vec)
		all = append(all, gauge{vec, g.of})
	}
	return all
}

// measure brings the metrics up to date.
func (e *Events) measure() error {
	ask := Querier(e.DB.QueryRow)
	states, err := ask.States()
	if err != nil {
		return err
	}
	for _, g := range e.gauges {
		g.Reset()
		for _, s := range states {
			g.WithLabelValues(s.Name).Set(g.of(s))
		}
	}
	var counts []struct {
		Job, State string
		Runs       float64
	}
	if err := ask.list("the runs", &counts, "platform.job_counts()"); err != nil {
		return err
	}
	e.waiting.Reset()
	for _, c := range counts {
		e.waiting.WithLabelValues(c.Job, c.State).Set(c.Runs)
	}
	return nil
}
