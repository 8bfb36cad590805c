package sql_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

// Pages of seven, forwards and backwards, are the list, whatever its order.
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
				for _, row := range rows {
					var record struct{ ID string }
					if err := json.Unmarshal([]byte(row), &record); err != nil {
						t.Fatal(err)
					}
					got = append(got, record.ID)
				}

				// The cursor of the last row is the next page's beginning.
				name := "after"
				if backwards {
					name = "before"
				}
				cursor := value[string](t, conn,
					fmt.Sprintf("select platform.cursor(platform.list_mark('listThings', %[1]s), $1::json, %[1]s)", keys), rows[len(rows)-1])
				input, err := json.Marshal(map[string]any{name: cursor})
				if err != nil {
					t.Fatal(err)
				}
				position = value[string](t, conn, fmt.Sprintf("select platform.read_cursor($1, 'listThings', %s)::text", keys), string(input))
				ranges = value[[]string](t, conn, fmt.Sprintf("select platform.ranges_beyond(%s, %t, $1)", keys, backwards), position)
			}
			if !slices.Equal(got, want) {
				t.Errorf("order %v, backwards %t:\n got %v\nwant %v", names, backwards, got, want)
			}
		}
	}
}

func TestPageInfo(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, test := range []struct{ arguments, want string }{
		{
			`array['{"id":"a"}', '{"id":"b"}'], 'start', 'end', false, true, 2`,
			`{"results":[{"id":"a"},{"id":"b"}],"pageInfo":{"startCursor":"start","endCursor":"end","hasNextPage":false,"hasPreviousPage":true,"count":2}}`,
		},
		{
			`null, null, null, true, false, 0, 7, 3`,
			`{"results":[],"pageInfo":{"startCursor":"","endCursor":"","hasNextPage":true,"hasPreviousPage":false,"count":0,"totalCount":7,"pageNumber":3}}`,
		},
		{
			`'{}', 'start', 'end', null, false, 0, 0`,
			`{"results":[],"pageInfo":{"startCursor":"","endCursor":"","hasNextPage":false,"hasPreviousPage":false,"count":0,"totalCount":0}}`,
		},
	} {
		if got := value[string](t, conn, "select platform.list_page("+test.arguments+")"); got != test.want {
			t.Errorf("list_page(%s)\n got %s\nwant %s", test.arguments, got, test.want)
		}
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	keys := sortKeys("id")

	// Both ways to write a cursor give one that is read back.
	for _, statement := range []string{
		`platform.cursor(platform.list_mark('listThings', ` + keys + `), '{"id":"a"}', ` + keys + `)`,
		`platform.list_cursor(json_build_array(1, 'listThings+id', 'a'))`,
	} {
		cursor := value[string](t, conn, "select "+statement)
		got := value[string](t, conn, "select platform.read_cursor(jsonb_build_object('after', "+statement+"), 'listThings', "+keys+")::text")
		if got != `["a"]` || strings.ContainsAny(cursor, "+/=\n") {
			t.Errorf("%s is %s, read as %s", statement, cursor, got)
		}
	}
	if got, want := value[string](t, conn, `select platform.cursor('listThings+id', '{"id":"a"}', `+keys+`)`), encode(`[1, "listThings+id", "a"]`); got != want {
		t.Errorf("cursor: got %s, want %s", got, want)
	}
	var got string
	err := conn.QueryRow(t.Context(), `select platform.cursor('listThings+id', '{"name":"a"}', `+keys+`)`).Scan(&got)
	if err == nil {
		t.Errorf("a record without its sort value made a cursor: %s", got)
	}
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestReadCursor(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	keys := sortKeys("number", "-decimal", "text", "isOn", "day", "at", "duration", "id")
	const mark = `[1,"listThings+number-decimal+text+isOn+day+at+duration+id",`

	good := map[string]string{
		"number": "5", "decimal": "1.25", "text": `"ä"`, "isOn": "true", "day": `"2026-03-31"`,
		"at": `"2026-03-31T21:40:10.001Z"`, "duration": `"P1DT2H"`, "id": `"x"`,
	}
	position := func(name, value string) string {
		var parts []string
		for _, key := range []string{"number", "decimal", "text", "isOn", "day", "at", "duration", "id"} {
			if key == name {
				parts = append(parts, value)
			} else {
				parts = append(parts, good[key])
			}
		}
		return encode(mark + strings.Join(parts, ",") + "]")
	}

	for _, test := range []struct{ name, value string }{
		{"", ""},
		{"number", "null"}, {"number", "-9223372036854775808"}, {"number", "9223372036854775807"},
		{"decimal", "null"}, {"decimal", "-0.000000000000000001"}, {"decimal", strings.Repeat("9", 60)},
		{"text", "null"}, {"text", `""`}, {"text", `"` + strings.Repeat("long", 10000) + `"`}, {"text", `"\"\\"`},
		{"isOn", "null"}, {"isOn", "false"},
		{"day", "null"}, {"day", `"0001-01-01"`}, {"day", `"9999-12-31"`},
		{"at", "null"}, {"at", `"0001-01-01T00:00:00.000Z"`}, {"at", `"9999-12-31T23:59:59.999Z"`},
		{"duration", "null"}, {"duration", `"PT0S"`}, {"duration", `"P-1Y-2M3DT-4H-5M-6.000007S"`},
	} {
		for _, input := range []string{"after", "before"} {
			_, err := conn.Exec(t.Context(), "select platform.read_cursor(jsonb_build_object($1::text, $2::text), 'listThings', "+keys+")",
				input, position(test.name, test.value))
			if err != nil {
				t.Errorf("%s %.60s: %v", test.name, test.value, err)
			}
		}
	}

	type bad struct{ what, cursor string }
	cases := []bad{
		{"empty", ""},
		{"not base64", "!"},
		{"padded", base64.URLEncoding.EncodeToString([]byte(`[1]`)) + "="},
		{"one character", "A"},
		{"standard alphabet", strings.NewReplacer("-", "+", "_", "/").Replace(encode("\xfb\xff\xfe"))},
		{"space", " " + position("", "")},
		{"line break", position("", "") + "\n"},
		{"not UTF-8", encode("[1,\"\xff\"]")},
		{"NUL byte", encode("[1,\"\x00\"]")},
		{"not JSON", encode("[1,")},
		{"object", encode(`{"0":1}`)},
		{"scalar", encode(`1`)},
		{"string", encode(`"[1]"`)},
		{"null", encode(`null`)},
		{"empty array", encode(`[]`)},
		{"nested too deep", encode(strings.Repeat("[", 100000) + strings.Repeat("]", 100000))},
		{"other version", encode(`[2` + mark[2:] + strings.TrimPrefix(decode(position("", "")), mark))},
		{"version as text", encode(`["1"` + mark[2:] + strings.TrimPrefix(decode(position("", "")), mark))},
		{"other list", encode(strings.Replace(decode(position("", "")), "listThings", "listOthers", 1))},
		{"other order", encode(strings.Replace(decode(position("", "")), "-decimal", "+decimal", 1))},
		{"a value less", encode(mark + `5,1.25,"ä",true,"2026-03-31","2026-03-31T21:40:10.001Z","P1DT2H"]`)},
		{"a value more", encode(strings.TrimSuffix(decode(position("", "")), "]") + `,1]`)},
		{"key without null", position("id", "null")},
		{"huge text", strings.Repeat("QUFB", 500000)},
	}
	for _, value := range []struct{ name, value string }{
		{"number", `"5"`}, {"number", "1.5"}, {"number", "9223372036854775808"}, {"number", "1e400"}, {"number", "true"}, {"number", "[]"},
		{"decimal", `"1"`}, {"decimal", "1e200000"}, {"decimal", "{}"}, {"decimal", `"NaN"`},
		{"text", "5"}, {"text", `"\u0000"`}, {"text", `["a"]`}, {"text", `"\ud800"`},
		{"isOn", `"true"`}, {"isOn", "1"},
		{"day", `"infinity"`}, {"day", `"today"`}, {"day", `"2026-02-30"`}, {"day", `"0000-01-01"`}, {"day", `"31.03.2026"`}, {"day", "20260331"},
		{"day", `"2026-03-31 BC"`}, {"day", `"10000-01-01"`},
		{"at", `"infinity"`}, {"at", `"-infinity"`}, {"at", `"now"`}, {"at", `"2026-03-31"`}, {"at", `"2026-03-31T21:40:10.001+02:00"`},
		{"at", `"2026-03-31T21:40:10.0001Z"`}, {"at", `"2026-13-31T21:40:10.001Z"`}, {"at", `"2026-03-31T25:40:10.001Z"`}, {"at", `"epoch"`},
		{"duration", `"infinity"`}, {"duration", `"1 day"`}, {"duration", `"P"`}, {"duration", `"P99999999999Y"`}, {"duration", `"PT1H "`},
		{"id", "7"}, {"id", "{}"},
	} {
		cases = append(cases, bad{value.name + " " + value.value, position(value.name, value.value)})
	}
	for _, test := range cases {
		for _, input := range []string{"after", "before"} {
			_, err := conn.Exec(t.Context(), "select platform.read_cursor(jsonb_build_object($1::text, $2::text), 'listThings', "+keys+")",
				input, test.cursor)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "SP400" {
				t.Errorf("%s: %v, want SQLSTATE SP400", test.what, err)
				continue
			}
			detail := `{"errors" : [{"field" : "` + input + `", "error" : "is not a cursor of this list"}]}`
			if pgErr.Message != "one or more errors found validating request object" || pgErr.Detail != detail {
				t.Errorf("%s: got %q, %s, want detail %s", test.what, pgErr.Message, pgErr.Detail, detail)
			}
		}
	}
}

func decode(cursor string) string {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestOperators(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, test := range []struct {
		filter string
		want   []string
	}{
		{`{}`, nil},
		{`{"state":{"equals":"Done"}}`, []string{`state.equals "Done"`}},
		{`{"state":{"equals":null}}`, []string{`state.equals null`}},
		{`{"tags":{"any":{"equals":"a","startsWith":"b"}},"n":{"oneOf":[1,{"x":2}]}}`,
			[]string{`n.oneOf [1, {"x": 2}]`, `tags.any.equals "a"`, `tags.any.startsWith "b"`}},
		{`{"a":{"b":{"c":{"equals":1}}},"d":true}`, []string{`a.b.c.equals 1`, `d true`}},
		{`{"a":{}}`, nil},
	} {
		got := values[string](t, conn, `select path || ' ' || operand from platform.operators($1) order by path collate "C"`, test.filter)
		if !slices.Equal(got, test.want) {
			t.Errorf("operators(%s) = %q, want %q", test.filter, got, test.want)
		}
	}
}
