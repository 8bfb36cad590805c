package sql_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func TestValues(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)

	for _, test := range []struct{ expression, want string }{
		{`platform.iso(timestamptz '2026-03-31 23:40:10+02')`, "2026-03-31T21:40:10.000Z"},
		{`platform.iso(timestamptz '2026-03-31 21:40:10.0069Z')`, "2026-03-31T21:40:10.006Z"},
		{`platform.iso(timestamptz '0001-01-01 00:00Z')`, "0001-01-01T00:00:00.000Z"},
		{`platform.iso(timestamptz '9999-12-31 23:59:59.999Z')`, "9999-12-31T23:59:59.999Z"},
		{`platform.iso(null::timestamptz)`, "null"},
		{`platform.iso(array['2026-03-31 21:40Z', '2025-01-01 00:00Z']::timestamptz[])::text`, `{2026-03-31T21:40:00.000Z,2025-01-01T00:00:00.000Z}`},
		{`platform.iso('{}'::timestamptz[])::text`, "{}"},
		{`platform.iso(null::timestamptz[])::text`, "null"},

		{`platform.iso_duration(interval 'PT90M')`, "PT1H30M"},
		{`platform.iso_duration(interval 'P1W')`, "P7D"},
		{`platform.iso_duration(interval 'PT0S')`, "PT0S"},
		{`platform.iso_duration(interval 'P14M')`, "P1Y2M"},
		{`platform.iso_duration(interval 'P-1D')`, "P-1D"},
		{`platform.iso_duration(interval 'PT-1.5S')`, "PT-1.5S"},
		{`platform.iso_duration(interval 'PT0.000001S')`, "PT0.000001S"},
		{`platform.iso_duration(interval 'P1M-30D')`, "P1M-30D"},
		{`platform.iso_duration(interval 'PT36H')`, "PT36H"},
		{`platform.iso_duration(interval 'P99999999Y99999999M99999999W99999999DT99999999H99999999M99999999S')`,
			"P108333332Y3M799999992DT101694443H25M39S"},
		{`platform.iso_duration(null::interval)`, "null"},
		{`platform.iso_duration(array['PT60M', 'P30D']::interval[])::text`, "{PT1H,P30D}"},
		{`platform.iso_duration('{}'::interval[])::text`, "{}"},
		{`platform.iso_duration(null::interval[])::text`, "null"},

		{`platform.iso_duration(platform.mean_duration(0, 0, 5400, 2))`, "PT45M"},
		{`platform.iso_duration(platform.mean_duration(1, 1, 0, 2))`, "P15DT12H"},
		{`platform.iso_duration(platform.mean_duration(-3, 0, 1, 2))`, "P-1M-15DT0.5S"},
		{`platform.iso_duration(platform.mean_duration(0, 0, 1, 3))`, "PT0.333333S"},
		{`platform.iso_duration(platform.mean_duration(0, 0, -2, 3))`, "PT-0.666667S"},
		{`platform.iso_duration(platform.mean_duration(3000000000, 2100000000, 0, 2))`, "P125000000Y1050000000D"},
		{`platform.iso_duration(platform.mean_duration(0, 0, 399999999999999999, 3999999))`, "PT27777784H43M20.00625S"},
		{`platform.iso_duration(platform.mean_duration(null, null, null, 0))`, "null"},

		{`platform.trim_scale('{1.50,100,0.000,-2.10}'::numeric[])::text`, "{1.5,100,0,-2.1}"},
		{`platform.trim_scale('{}'::numeric[])::text`, "{}"},
		{`platform.trim_scale(null::numeric[])::text`, "null"},
	} {
		// The settings of a session do not change the form of a value.
		for _, settings := range []string{
			"set timezone = 'UTC'; set intervalstyle = 'postgres'; set datestyle = 'ISO, MDY'",
			"set timezone = 'America/St_Johns'; set intervalstyle = 'sql_standard'; set datestyle = 'German, DMY'",
		} {
			exec(t, owner, settings)
			if got := value[string](t, owner, "select coalesce("+test.expression+", 'null')"); got != test.want {
				t.Errorf("%s: %s = %s, want %s", settings, test.expression, got, test.want)
			}
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)

	before := time.Now().Add(-time.Hour)
	ids := values[string](t, owner, "select platform.new_id() from generate_series(1, 50000)")
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, id := range ids {
		if !form.MatchString(id) {
			t.Fatalf("%s is not a UUID of version 7", id)
		}
	}
	if !slices.IsSorted(ids) {
		t.Error("the ids of one statement are not in the order of their making")
	}
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != 50000 {
		t.Errorf("%d different ids, want 50000", got)
	}

	// The time inside an id is Unix time in milliseconds.
	ms := value[int64](t, owner, "select ('x' || replace(left($1, 13), '-', ''))::bit(48)::bigint", ids[0])
	if made := time.UnixMilli(ms); made.Before(before) || made.After(time.Now().Add(time.Hour)) {
		t.Errorf("%s was made at %s", ids[0], made)
	}
}

func TestTouch(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	exec(t, owner, `
		create table app.thing (name text, updated_at timestamptz(3) not null default '2020-01-01 00:00Z');
		create trigger _100_touch before update on app.thing
		for each row execute function platform.tg_touch();
		insert into app.thing values ('a');
		update app.thing set name = 'a';
	`)
	if got := value[string](t, owner, "select platform.iso(updated_at) from app.thing"); got != "2020-01-01T00:00:00.000Z" {
		t.Errorf("an update that changes nothing: updated_at = %s", got)
	}
	exec(t, owner, "update app.thing set name = 'b'")
	if !value[bool](t, owner, "select updated_at > now() - interval '1 hour' from app.thing") {
		t.Error("an update leaves updated_at")
	}
}
