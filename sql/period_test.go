package sql_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// period is platform.period. The local bounds are in UTC, which here means no zone.
type period struct {
	StartsAt, EndsAt           time.Time
	LocalStartsAt, LocalEndsAt time.Time
}

func (p period) String() string {
	const instant, local = "2006-01-02T15:04:05.999999Z", "2006-01-02T15:04:05.999999"
	return fmt.Sprintf("%s .. %s (local %s .. %s)", p.StartsAt.UTC().Format(instant), p.EndsAt.UTC().Format(instant),
		p.LocalStartsAt.Format(local), p.LocalEndsAt.Format(local))
}

func relativePeriod(t *testing.T, conn *pgx.Conn, expression, zone string, moment time.Time) period {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select * from platform.relative_period($1, $2, $3)", expression, zone, moment)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[period])
	if err != nil {
		t.Fatalf("relative_period(%s, %s, %s): %v", expression, zone, moment, err)
	}
	return got
}

// instant reads 2026-03-31 21:40:10 as UTC.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if got, err := time.Parse(layout, text); err == nil {
			return got
		}
	}
	t.Fatalf("%q is not a time", text)
	return time.Time{}
}

// Instants at 2026-03-31T21:40:10Z, a Tuesday, two days after summer time began in
// Berlin.
func TestRelativePeriods(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	const now, berlin = "2026-03-31 21:40:10", "Europe/Berlin"

	for _, test := range []struct {
		expression string
		moment     string
		zone       string
		start, end string // in UTC
	}{
		{"now", now, "UTC", now, now},
		{"now", now, berlin, now, now},
		{"today", now, "UTC", "2026-03-31", "2026-04-01"},
		{"this day", now, "UTC", "2026-03-31", "2026-04-01"},
		{"today", now, berlin, "2026-03-30 22:00", "2026-03-31 22:00"},
		{"this day", now, berlin, "2026-03-30 22:00", "2026-03-31 22:00"},
		{"this complete day", now, berlin, "2026-03-30 22:00", "2026-03-31 22:00"},
		{"yesterday", now, "UTC", "2026-03-30", "2026-03-31"},
		{"last day", now, "UTC", "2026-03-30", "2026-03-31"},
		{"last complete day", now, "UTC", "2026-03-30", "2026-03-31"},
		{"yesterday", now, berlin, "2026-03-29 22:00", "2026-03-30 22:00"},
		{"last day", now, berlin, "2026-03-29 22:00", "2026-03-30 22:00"},
		{"last complete day", now, berlin, "2026-03-29 22:00", "2026-03-30 22:00"},
		{"tomorrow", now, "UTC", "2026-04-01", "2026-04-02"},
		{"next day", now, "UTC", "2026-04-01", "2026-04-02"},
		{"tomorrow", now, berlin, "2026-03-31 22:00", "2026-04-01 22:00"},
		{"next day", now, berlin, "2026-03-31 22:00", "2026-04-01 22:00"},
		{"this minute", now, berlin, "2026-03-31 21:40", "2026-03-31 21:41"},
		{"this hour", now, "UTC", "2026-03-31 21:00", "2026-03-31 22:00"},
		{"this hour", now, berlin, "2026-03-31 21:00", "2026-03-31 22:00"},
		{"this hour", now, "Asia/Kolkata", "2026-03-31 21:30", "2026-03-31 22:30"},
		{"last 2 complete hours", now, "UTC", "2026-03-31 19:00", "2026-03-31 21:00"},
		{"last 2 complete hours", now, berlin, "2026-03-31 19:00", "2026-03-31 21:00"},
		{"last minute", now, "UTC", "2026-03-31 21:39", "2026-03-31 21:40"},
		{"next minute", now, "UTC", "2026-03-31 21:41", "2026-03-31 21:42"},
		{"next 3 complete minutes", now, "UTC", "2026-03-31 21:41", "2026-03-31 21:44"},
		{"next 2 hours", now, "UTC", now, "2026-03-31 23:40:10"},
		{"this week", now, "UTC", "2026-03-30", "2026-04-06"},
		{"this week", now, berlin, "2026-03-29 22:00", "2026-04-05 22:00"},
		{"last week", now, "UTC", "2026-03-23", "2026-03-30"},
		{"last week", now, berlin, "2026-03-22 23:00", "2026-03-29 22:00"},
		{"this month", now, "UTC", "2026-03-01", "2026-04-01"},
		{"this month", now, berlin, "2026-02-28 23:00", "2026-03-31 22:00"},
		{"last 2 complete months", now, "UTC", "2026-01-01", "2026-03-01"},
		{"last 2 complete months", now, berlin, "2025-12-31 23:00", "2026-02-28 23:00"},
		{"last year", now, "UTC", "2025-01-01", "2026-01-01"},
		{"last year", now, berlin, "2024-12-31 23:00", "2025-12-31 23:00"},
		{"next year", now, "UTC", "2027-01-01", "2028-01-01"},
		{"last 3 days", now, "UTC", "2026-03-28 21:40:10", now},
		{"last 3 days", now, berlin, "2026-03-28 22:40:10", now},
		{"last 72 hours", now, "UTC", "2026-03-28 21:40:10", now},
		{"last 72 hours", now, berlin, "2026-03-28 21:40:10", now},
		{"last 1 week", now, "UTC", "2026-03-24 21:40:10", now},
		{"last 1 week", now, berlin, "2026-03-24 22:40:10", now},
		{"last 1 month", now, "UTC", "2026-02-28 21:40:10", now},
		{"last 1 month", now, berlin, "2026-02-28 22:40:10", now},
		{"next 1 month", now, "UTC", now, "2026-04-30 21:40:10"},
		{"last 7 complete days", now, "UTC", "2026-03-24", "2026-03-31"},
		{"last 7 complete days", now, berlin, "2026-03-23 23:00", "2026-03-30 22:00"},
		{"next 3 complete days", now, "UTC", "2026-04-01", "2026-04-04"},
		{"next 3 complete days", now, berlin, "2026-03-31 22:00", "2026-04-03 22:00"},

		// Case and spaces.
		{"  LAST   7  Complete DAYS "[2:25], now, "UTC", "2026-03-24", "2026-03-31"},
		{"ToDay", now, "UTC", "2026-03-31", "2026-04-01"},
		{"this years", now, "UTC", "2026-01-01", "2027-01-01"},

		// New York, in the hour that occurs for the second time: a day of 25 hours.
		{"today", "2026-11-01 06:30", "America/New_York", "2026-11-01 04:00", "2026-11-02 05:00"},
		{"last 1 day", "2026-11-01 06:30", "America/New_York", "2026-10-31 05:30", "2026-11-01 06:30"},
		{"next 1 day", "2026-11-01 05:30", "America/New_York", "2026-11-01 05:30", "2026-11-02 06:30"},
		{"last 1 day", "2026-11-02 06:30", "America/New_York", "2026-11-01 06:30", "2026-11-02 06:30"},
		{"last 1 hour", "2026-11-01 06:30", "America/New_York", "2026-11-01 05:30", "2026-11-01 06:30"},
		{"this hour", "2026-11-01 05:30", "America/New_York", "2026-11-01 05:00", "2026-11-01 06:00"},
		// 02:30 on the day before did not exist.
		{"last 1 day", "2026-03-09 06:30", "America/New_York", "2026-03-08 07:30", "2026-03-09 06:30"},
		// A day that begins at one in the morning.
		{"today", "2018-11-04 15:00", "America/Sao_Paulo", "2018-11-04 03:00", "2018-11-05 02:00"},
		// A day that was left out.
		{"yesterday", "2011-12-31 00:00", "Pacific/Apia", "2011-12-30 10:00", "2011-12-30 10:00"},
		// Names that Postgres knows as abbreviations without summer time.
		{"today", "2026-07-01 12:00", "CET", "2026-06-30 22:00", "2026-07-01 22:00"},
		{"today", "2026-07-01 12:00", "MET", "2026-06-30 22:00", "2026-07-01 22:00"},
		{"today", "2026-07-01 12:00", "EET", "2026-06-30 21:00", "2026-07-01 21:00"},
		{"today", "2026-07-01 12:00", "WET", "2026-06-30 23:00", "2026-07-01 23:00"},
		{"today", "2026-07-01 12:00", "EST", "2026-07-01 05:00", "2026-07-02 05:00"},
	} {
		// The result does not depend on the zone of the session.
		for _, session := range []string{"UTC", "Asia/Tokyo"} {
			exec(t, conn, "set timezone = '"+session+"'")
			got := relativePeriod(t, conn, test.expression, test.zone, instant(t, test.moment))
			if !got.StartsAt.Equal(instant(t, test.start)) || !got.EndsAt.Equal(instant(t, test.end)) {
				t.Errorf("%s at %sZ in %s: got %s, want %sZ .. %sZ",
					test.expression, test.moment, test.zone, got, test.start, test.end)
			}
		}
	}
}

// Local bounds, which are compared with dates, do not have an offset.
func TestRelativePeriodsOfDates(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)

	for _, test := range []struct {
		expression, moment, zone string
		first, last              string // the dates within
	}{
		{"last 7 days", "2026-03-31 21:40:10", "Europe/Berlin", "2026-03-25", "2026-03-31"},
		{"last 7 complete days", "2026-03-31 21:40:10", "Europe/Berlin", "2026-03-24", "2026-03-30"},
		{"today", "2026-03-31 22:40:10", "Europe/Berlin", "2026-04-01", "2026-04-01"},
		{"today", "2018-11-04 15:00", "America/Sao_Paulo", "2018-11-04", "2018-11-04"},
		{"yesterday", "2011-12-31 00:00", "Pacific/Apia", "2011-12-30", "2011-12-30"},
		{"this month", "2026-03-31 21:40:10", "Europe/Berlin", "2026-03-01", "2026-03-31"},
	} {
		got := values[string](t, conn, `
			select day::date::text
			from platform.relative_period($1, $2, $3) as period
			cross join generate_series('2011-01-01'::timestamp, '2026-12-31', '1 day') as day
			where day >= period.local_starts_at and day < period.local_ends_at
			order by day
		`, test.expression, test.zone, instant(t, test.moment))
		if len(got) == 0 || got[0] != test.first || got[len(got)-1] != test.last {
			t.Errorf("%s at %sZ in %s: dates %v, want %s to %s", test.expression, test.moment, test.zone, got, test.first, test.last)
		}
	}
}

func TestRelativePeriodsEndWithTheYears(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	now := instant(t, "2026-03-31 21:40:10")

	for _, test := range []struct{ expression, start, end string }{
		{"last 10000 years", "0001-01-01T00:00:00Z", "2026-03-31T21:40:10Z"},
		{"last 10000 complete years", "0001-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"next 10000 years", "2026-03-31T21:40:10Z", "9999-12-31T23:59:59.999999Z"},
		{"next 10000 complete years", "2027-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"},
		{"last 10000 months", "1192-11-30T21:40:10Z", "2026-03-31T21:40:10Z"},
	} {
		got := relativePeriod(t, conn, test.expression, "UTC", now)
		const form = "2006-01-02T15:04:05.999999Z"
		if start, end := got.StartsAt.UTC().Format(form), got.EndsAt.UTC().Format(form); start != test.start || end != test.end {
			t.Errorf("%s: got %s .. %s, want %s .. %s", test.expression, start, end, test.start, test.end)
		}
		if !got.LocalStartsAt.Equal(got.StartsAt) || !got.LocalEndsAt.Equal(got.EndsAt) {
			t.Errorf("%s: local bounds differ in UTC: %s", test.expression, got)
		}
	}

	// An end lies within the years that an offset allows.
	got := relativePeriod(t, conn, "this year", "Asia/Tokyo", instant(t, "0001-06-01"))
	if want := instant(t, "0001-01-01"); !got.StartsAt.Equal(want) || !got.LocalStartsAt.Equal(want) {
		t.Errorf("the first year in Tokyo: got %s, want it to begin with the year", got)
	}
}

func TestUnreadablePeriods(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, expression := range []string{
		"", "day", "last", "this 1 day", "last 0 days", "last 01 days", "last -1 days", "last 1.5 days", "next decade",
		"last complete 7 days", "last 7 days ago", "last\t7 days", "now()", "last 100000 days",
	} {
		var got string
		err := conn.QueryRow(t.Context(), "select platform.relative_period($1, 'UTC', now())::text", expression).Scan(&got)
		if err == nil {
			t.Errorf("%q is read as %s", expression, got)
		}
	}
}

// The same, computed in another way, from Go's own time zones.
func TestRelativePeriodsAgreeWithGo(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)

	const cases = 6000
	random := rand.New(rand.NewPCG(1, 2))
	var expressions, zones []string
	var moments []time.Time
	for range cases {
		expressions = append(expressions, randomExpression(random))
		zones = append(zones, pick(random, "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu",
			"Australia/Lord_Howe", "America/Sao_Paulo", "America/Havana", "Pacific/Apia", "Pacific/Chatham", "America/St_Johns",
			"Europe/Dublin", "Africa/Casablanca", "Asia/Tehran", "Atlantic/Azores"))
		from := time.Date(1975, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
		to := time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
		moment := time.UnixMicro(from + random.Int64N(to-from)).UTC()
		if random.IntN(3) == 0 { // near a transition
			location := location(t, zones[len(zones)-1])
			if start, _ := moment.In(location).ZoneBounds(); !start.IsZero() {
				moment = start.Add(time.Duration(random.Int64N(int64(50 * time.Hour)))).Add(-25 * time.Hour).Truncate(time.Minute).UTC()
			}
		}
		moments = append(moments, moment)
	}

	rows, err := conn.Query(t.Context(), `
		select period.*
		from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as input (expression, zone, moment, place)
		cross join platform.relative_period(input.expression, input.zone, input.moment) as period
		order by input.place
	`, expressions, zones, moments)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[period])
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != cases {
		t.Fatalf("%d rows, want %d", len(got), cases)
	}

	shown := 0
	for i := range cases {
		want := periodInGo(expressions[i], location(t, zones[i]), moments[i])
		if got[i].String() != want.String() {
			t.Errorf("%s at %s in %s:\n got %s\nwant %s", expressions[i], moments[i], zones[i], got[i], want)
			if shown++; shown == 10 {
				t.Fatal("and perhaps more")
			}
		}
	}
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

func randomExpression(random *rand.Rand) string {
	unit := pick(random, "minute", "hour", "day", "week", "month", "year") + pick(random, "", "s")
	count := pick(random, "", "1 ", "2 ", "3 ", "7 ", "13 ", "100 ", "10000 ")
	complete := pick(random, "", "complete ")
	switch random.IntN(8) {
	case 0:
		return pick(random, "now", "today", "tomorrow", "yesterday")
	case 1:
		return "this " + complete + unit
	default:
		return pick(random, "last ", "next ") + count + complete + unit
	}
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loaded, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// periodInGo is platform.relative_period, from its description.
func periodInGo(expression string, zone *time.Location, now time.Time) period {
	local := wallClock(now, zone)
	switch expression {
	case "now":
		return period{now, now, local, local}
	case "today":
		expression = "this day"
	case "tomorrow":
		expression = "next day"
	case "yesterday":
		expression = "last day"
	}
	words := strings.Fields(expression)
	anchor, unit := words[0], strings.TrimSuffix(words[len(words)-1], "s")
	count, rolling := 1, false
	if n, err := strconv.Atoi(words[1]); err == nil {
		count, rolling = n, words[2] != "complete"
	}

	// The places of the bounds, in units from now or from the start of the current unit.
	var from, to int
	switch {
	case anchor == "this":
		from, to = 0, 1
	case anchor == "last":
		from, to = -count, 0
	case rolling:
		from, to = 0, count
	default:
		from, to = 1, 1+count
	}

	at := func(units int) (instant, civil time.Time) {
		switch unit {
		case "minute", "hour":
			length := time.Minute
			if unit == "hour" {
				length = time.Hour
			}
			base := now
			if !rolling {
				base = now.Add(-local.Sub(local.Truncate(length)))
			}
			instant = base.Add(time.Duration(units) * length)
			return instant, wallClock(instant, zone)
		}
		civil = step(startOf(local, unit, rolling), unit, units)
		if rolling && units == 0 {
			return now, civil
		}
		return fromWallClock(civil, zone), civil
	}

	var p period
	p.StartsAt, p.LocalStartsAt = at(from)
	p.EndsAt, p.LocalEndsAt = at(to)
	for _, bound := range []*time.Time{&p.StartsAt, &p.EndsAt, &p.LocalStartsAt, &p.LocalEndsAt} {
		*bound = bound.UTC()
		if bound.Year() < 1 {
			*bound = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		if bound.Year() > 9999 {
			*bound = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
		}
	}
	return p
}

func startOf(local time.Time, unit string, rolling bool) time.Time {
	if rolling {
		return local
	}
	year, month, day := local.Date()
	switch unit {
	case "week":
		day -= (int(local.Weekday()) + 6) % 7
	case "month":
		day = 1
	case "year":
		month, day = 1, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func step(local time.Time, unit string, units int) time.Time {
	switch unit {
	case "day":
		return local.AddDate(0, 0, units)
	case "week":
		return local.AddDate(0, 0, 7*units)
	case "year":
		units *= 12
	}
	year, month, day := local.Date()
	lastDay := time.Date(year, month+time.Month(units)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	first := time.Date(year, month+time.Month(units), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(day, lastDay)-1).Add(local.Sub(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)))
}

// wallClock is the time on the clocks of a zone, as if in UTC.
func wallClock(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// fromWallClock is the last instant at which the clocks of a zone show a time. If they skip it, it is
// the instant by the offset before the gap.
func fromWallClock(local time.Time, zone *time.Location) time.Time {
	var found, gap time.Time
	for at := local.Add(-48 * time.Hour); ; {
		_, offset := at.In(zone).Zone()
		start, end := at.In(zone).ZoneBounds()
		candidate := local.Add(-time.Duration(offset) * time.Second)
		switch {
		case (start.IsZero() || !candidate.Before(start)) && (end.IsZero() || candidate.Before(end)):
			found = candidate
		case !end.IsZero() && !candidate.Before(end):
			gap = candidate // the latest of the offsets that ended too early
		}
		if end.IsZero() || end.After(local.Add(48*time.Hour)) {
			break
		}
		if !end.After(at) { // ZoneBounds errs on the last day of leap years
			end = at.Add(time.Hour)
		}
		at = end
	}
	if found.IsZero() {
		return gap
	}
	return found
}
