package sql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// sortKeys are keys of the table of makeSortable as an SQL expression; a minus sign
// before the name means descending.
func sortKeys(names ...string) string {
	kinds := map[string]string{
		"id": "text", "text": "text", "number": "bigint", "decimal": "numeric", "isOn": "boolean",
		"day": "date", "at": "timestamptz", "duration": "interval",
	}
	columns := map[string]string{"isOn": "is_on"}
	var keys []string
	for _, name := range names {
		name, isDescending := strings.CutPrefix(name, "-")
		column := name
		if columns[name] != "" {
			column = columns[name]
		}
		keys = append(keys, fmt.Sprintf("row('%s', 'thing.%s', '%s', %t, %t)::platform.sort_key",
			name, column, kinds[name], name != "id", isDescending))
	}
	return "array[" + strings.Join(keys, ", ") + "]"
}

const thingRecord = `
	select row_to_json(record)::text
	from (
		select thing.id, thing.text, thing.number, trim_scale(thing.decimal) as decimal, thing.is_on as "isOn", thing.day,
			platform.iso(thing.at) as at, platform.iso_duration(thing.duration) as duration
	) as record`

// makeSortable makes a table with a nullable column of each type that orders, in
// which values are scarce, so that many rows are equal.
func makeSortable(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	exec(t, conn, `
		create table app.thing (
			id text collate "C" primary key, text text, number bigint, decimal numeric, is_on boolean, day date,
			at timestamptz(3), duration interval
		);
		insert into app.thing
		select
			lpad(i::text, 3, '0'),
			(array['a', 'B', 'ä', '"q\', '', null])[1 + i % 6],
			(array[-9007199254740991, 0, 9007199254740991, null])[1 + i % 4],
			(array[-1.5, 0.000000000000000001, 12345678901234567890.12345, null])[1 + i / 3 % 4],
			(array[true, false, null])[1 + i / 5 % 3],
			(array['0001-01-01', '2026-03-31', '9999-12-31', null]::date[])[1 + i / 7 % 4],
			(array['0001-01-01 00:00Z', '2026-03-31 21:40:10.001Z', '2026-03-31 21:40:10.002Z', '9999-12-31 23:59:59.999Z', null]::timestamptz[])[1 + i % 5],
			(array['P1M', 'P30D', 'PT-0.000001S', 'P-1Y2M3DT4H', null]::interval[])[1 + i / 2 % 5]
		from generate_series(1, 120) as i;
	`)
}

// Pages of seven, forwards and backwards, are the list, in any order.
func TestPages(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	makeSortable(t, conn)

	for _, names := range [][]string{
		{"id"},
		{"-id"},
		{"text", "id"},
		{"-text", "id"},
		{"number", "-decimal", "id"},
		{"-at", "day", "id"},
		{"at", "-id"},
		{"isOn", "-day", "text", "id"},
		{"-isOn", "duration", "id"},
		{"-duration", "number", "-text", "at", "id"},
		{"decimal", "isOn", "id"},
	} {
		keys := sortKeys(names...)
		for _, backwards := range []bool{false, true} {
			order := value[string](t, conn, fmt.Sprintf("select platform.order_sql(%s, %t)", keys, backwards))
			want := values[string](t, conn, "select thing.id from app.thing order by "+order)
			if len(want) != 120 {
				t.Fatalf("%d rows, want 120", len(want))
			}

			var got []string
			ranges, position := []string{"true"}, "[]"
			for len(got) <= len(want) {
				var rows []string
				for _, within := range ranges {
					rows = append(rows, values[string](t, conn,
						"select ("+thingRecord+") from app.thing where $1::text is null and jsonb_typeof($2) is not null and "+within+
							fmt.Sprintf(" order by %s limit %d", order, 7-len(rows)), nil, position)...)
				}
				if len(rows) == 0 {
					break
				}
				var record map[string]json.RawMessage
				for _, row := range rows {
					if err := json.Unmarshal([]byte(row), &record); err != nil {
						t.Fatal(err)
					}
					got = append(got, strings.Trim(string(record["id"]), `"`))
				}

				// The position of the last row is the next page's beginning.
				var values []string
				for _, name := range names {
					values = append(values, string(record[strings.TrimPrefix(name, "-")]))
				}
				position = "[" + strings.Join(values, ",") + "]"
				ranges = value[[]string](t, conn, fmt.Sprintf("select platform.ranges_beyond(%s, %t, $1)", keys, backwards), position)
			}
			if !slices.Equal(got, want) {
				t.Errorf("order %v, backwards %t:\n got %v\nwant %v", names, backwards, got, want)
			}
		}
	}
}

func TestOperatorPaths(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, test := range []struct {
		input string
		want  []string
	}{
		{`{}`, nil},
		{`{"where":{}}`, nil},
		{`{"where":{"state":{"equals":"Done"}}}`, []string{"state.equals"}},
		{`{"where":{"state":{"equals":null,"notEquals":"null"}}}`, []string{"state.equals:null", "state.notEquals"}},
		{`{"where":{"tags":{"any":{"equals":"a","startsWith":"b"}},"n":{"oneOf":[1,{"x":2}]}}}`,
			[]string{"n.oneOf", "tags.any.equals", "tags.any.startsWith"}},
		{`{"where":{"a":{"b":{"c":{"equals":1}}},"d":true,"e":null}}`, []string{"a.b.c.equals", "d", "e:null"}},
		{`{"where":{"a":{}}}`, nil},
	} {
		got := values[string](t, conn, `select path from unnest(platform.operator_paths($1)) as path order by path collate "C"`, test.input)
		if !slices.Equal(got, test.want) {
			t.Errorf("operator_paths(%s) = %q, want %q", test.input, got, test.want)
		}
	}
}

// A text from a caller becomes part of a statement only as the path of an operator of the list.
func TestFilterSQLRefuses(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	const filters = `{"state": ["Enum", "post.state"], "at": ["Timestamp", "post.at"], "title": ["Text?", "post.title"],
		"null": ["Text", "post.\"null\""],
		"tags": ["Text[]", "post.tags"], "tags.all": ["all Text", "post.tags"],
		"lines.text": null, "1": ["from line where line.post = post.id", 0], "parts.size": ["Number", "line.size", null, 1],
		"2": ["from pin where pin.line = line.id", 1], "parts.pins.name": ["Text", "pin.name", null, 2]}`
	for _, test := range []struct {
		input, elsewhere string
		want             string // empty means that it is refused
	}{
		{`{"where":{"state":{"equals":"Done"}}}`, `{}`, ` and post.state = $1#>>'{state,equals}'`},
		{`{"operators":"state.equals,title.equals:null"}`, `{}`, ` and post.state = $1#>>'{state,equals}' and post.title is null`},
		{`{"operators":"null.equals"}`, `{}`, ` and post."null" = $1#>>'{"null",equals}'`},
		{`{"operators":"lines.text.equals,state.equals"}`, `{}`, ` and post.state = $1#>>'{state,equals}'`},
		{`{"operators":"parts.pins.name.equals,state.equals,parts.size.equals"}`, `{}`, ` and post.state = $1#>>'{state,equals}'` +
			` and exists (select from line where line.post = post.id and line.size = ($1#>>'{parts,size,equals}')::bigint` +
			` and exists (select from pin where pin.line = line.id and pin.name = $1#>>'{parts,pins,name,equals}'))`},
		{`{"operators":"since,since:null,state.equals"}`, `{since,since:null}`, ` and post.state = $1#>>'{state,equals}'`},

		{`{"operators":"body.equals"}`, `{}`, ``},
		{`{"operators":"state"}`, `{}`, ``},
		{`{"operators":"state."}`, `{}`, ``},
		{`{"operators":".equals"}`, `{}`, ``},
		{`{"operators":"equals"}`, `{}`, ``},
		{`{"operators":"state.like"}`, `{}`, ``},
		{`{"operators":"state.contains"}`, `{}`, ``},
		{`{"operators":"state.lessThan"}`, `{}`, ``},
		{`{"operators":"state.equals:null"}`, `{}`, ``},
		{`{"operators":"title.contains:null"}`, `{}`, ``},
		{`{"operators":"at.equals"}`, `{}`, ``},
		{`{"operators":"at.onOrAfter"}`, `{}`, ``},
		{`{"operators":"tags.contains"}`, `{}`, ``},
		{`{"operators":"tags.any.equals"}`, `{}`, ``},
		{`{"operators":"tags.all.equals:null"}`, `{}`, ``},
		{`{"operators":"state.equals}') or true --"}`, `{}`, ``},
		{`{"where":{"state":{"equals}') or true --":"x"}}}`, `{}`, ``},
		{`{"where":{"state') or true --":{"equals":"x"}}}`, `{}`, ``},
		{`{"operators":"lines.text"}`, `{}`, ``},
		{`{"operators":"lines.text.any.equals"}`, `{}`, ``},
		{`{"operators":"1.equals"}`, `{}`, ``},
		{`{"operators":"parts.size.contains"}`, `{}`, ``},
		{`{"operators":"since.equals"}`, `{since,since:null}`, ``},
	} {
		var got string
		err := conn.QueryRow(t.Context(), "select platform.filter_sql($1, $2, $3, array['', ''])", test.input, filters, test.elsewhere).Scan(&got)
		if test.want != "" && (err != nil || got != test.want) {
			t.Errorf("filter_sql(%s, %s) = %s, error %v; want %s", test.input, test.elsewhere, got, err, test.want)
		}
		if test.want == "" && (err == nil || !strings.Contains(err.Error(), "this list has no operator")) {
			t.Errorf("filter_sql(%s, %s) = %s, error %v; want it refused", test.input, test.elsewhere, got, err)
		}
	}
}
