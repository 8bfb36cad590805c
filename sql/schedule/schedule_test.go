package schedule_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without

	"github.com/sternpost/sternpost/sql/schedule"
)

// TestYear compares the slots of a year, in four zones, with those found by going through its minutes: what the clock
// shows for the first time, and what it passes over.
func TestYear(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
		for _, text := range []string{"30 2 * * *", "*/10 1-3 * * *", "0 6 1 * *", "15 2 29 2 *", "0 0 13 * 5", "* * * * *", "45 1 * * 0", "5 */6 * 3,10 1-5"} {
			t.Run(zone+" "+text, func(t *testing.T) {
				t.Parallel()
				s, err := schedule.Parse(text, zone)
				if err != nil {
					t.Fatal(err)
				}
				location, err := time.LoadLocation(zone)
				if err != nil {
					t.Fatal(err)
				}
				begin, end := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
				want := slotsOf(text, location, begin, end)
				var got []time.Time
				for at := s.Next(begin); !at.After(end); at = s.Next(at) {
					got = append(got, at)
				}
				if !slices.EqualFunc(got, want, time.Time.Equal) || len(got) == 0 {
					for i := range max(len(got), len(want)) {
						if i >= len(got) || i >= len(want) || !got[i].Equal(want[i]) {
							t.Fatalf("%d slots, want %d; they differ at %d, after %s", len(got), len(want), i, want[max(i-1, 0)])
						}
					}
				}
				if latest := s.Latest(begin, end); !latest.Equal(want[len(want)-1]) {
					t.Errorf("the latest is %s, want %s", latest, want[len(want)-1])
				}
			})
		}
	}
}

// slotsOf goes through the minutes of a clock. A minute that it has shown before is none; with the first one behind a
// gap come those of the gap.
func slotsOf(text string, zone *time.Location, begin, end time.Time) []time.Time {
	label := func(at time.Time) time.Time {
		in := at.In(zone)
		return time.Date(in.Year(), in.Month(), in.Day(), in.Hour(), in.Minute(), 0, 0, time.UTC)
	}
	var slots []time.Time
	shown := label(begin.Add(-48 * time.Hour))
	for at := begin.Add(-48 * time.Hour); !at.After(end); at = at.Add(time.Minute) {
		isSlot := false
		for now := label(at); shown.Before(now); {
			shown = shown.Add(time.Minute)
			isSlot = isSlot || matches(text, shown)
		}
		if isSlot && at.After(begin) {
			slots = append(slots, at)
		}
	}
	return slots
}

// matches tells whether five fields of cron mean a minute, read without the library.
func matches(text string, label time.Time) bool {
	fields := strings.Fields(text)
	has := func(field string, value int) bool {
		for part := range strings.SplitSeq(field, ",") {
			span, step, hasStep := strings.Cut(part, "/")
			from, to := 0, 99
			if span != "*" {
				first, last, isSpan := strings.Cut(span, "-")
				from, _ = strconv.Atoi(first)
				if to = from; isSpan {
					to, _ = strconv.Atoi(last)
				}
			}
			n := 1
			if hasStep {
				n, _ = strconv.Atoi(step)
			}
			if from <= value && value <= to && (value-from)%n == 0 {
				return true
			}
		}
		return false
	}
	byMonth, byWeek := has(fields[2], label.Day()), has(fields[4], int(label.Weekday()))
	isDay := byMonth && byWeek
	if fields[2] != "*" && fields[4] != "*" {
		isDay = byMonth || byWeek
	}
	return isDay && has(fields[0], label.Minute()) && has(fields[1], label.Hour()) && has(fields[3], int(label.Month()))
}

// TestSpoken reads the spoken forms as cron, and refuses what has no meaning.
func TestSpoken(t *testing.T) {
	t.Parallel()
	for text, cron := range map[string]string{
		"every minute":                         "* * * * *",
		"every 10 minutes":                     "*/10 * * * *",
		"every hour":                           "0 * * * *",
		"every 2 hours":                        "0 */2 * * *",
		"every 10 minutes from 9am to 5pm":     "*/10 9-16 * * *",
		"every 2 hours from 9am to 5pm":        "0 9-17/2 * * *",
		"every day at 9am":                     "0 9 * * *",
		"every day at 12am":                    "0 0 * * *",
		"every day at 12:30pm":                 "30 12 * * *",
		"every weekday at 9am":                 "0 9 * * 1-5",
		"every monday at 9am":                  "0 9 * * 1",
		"every monday and friday at 9am, 5pm":  "0 9,17 * * 1,5",
		"every monday, tuesday at 9am and 5pm": "0 9,17 * * 1,2",
	} {
		spoken, err := schedule.Parse(text, "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		written, err := schedule.Parse(cron, "")
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
		for range 200 {
			next := spoken.Next(at)
			if other := written.Next(at); !next.Equal(other) {
				t.Errorf("%s: after %s comes %s, want %s", text, at, next, other)
				break
			}
			at = next
		}
	}
	for _, text := range []string{
		"", "x", "* * * *", "* * * * * *", "60 * * * *", "@daily", "TZ=UTC 0 9 * * *", "0 0 30 2 *", "every 7 minutes", "every 0 minutes",
		"every 90 minutes", "every day", "every day at 9", "every day at 13pm", "every someday at 9am", "every day at 9am and 5:30pm", "every hour from 5pm to 9am",
	} {
		if _, err := schedule.Parse(text, ""); err == nil {
			t.Errorf("%q is read as a schedule", text)
		}
	}
	for _, zone := range []string{"Local", "Europe/Berlim"} {
		if _, err := schedule.Parse("every day at 9am", zone); fmt.Sprint(err) != schedule.ErrZone.Error() {
			t.Errorf("zone %s: %v", zone, err)
		}
	}
}
