package answer_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// cursorKeys are a key of each sortable type, in the order of the list.
var cursorKeys = []struct {
	name, cast, value string
	member            release.MemberType
}{
	{"number", "bigint", "5", release.NumberMember},
	{"decimal", "numeric", "1.25", release.DecimalMember},
	{"text", "text", `"ä"`, release.TextMember},
	{"isOn", "boolean", "true", release.BooleanMember},
	{"day", "date", `"2026-03-31"`, release.DateMember},
	{"at", "timestamptz", `"2026-03-31T21:40:10.001Z"`, release.TimestampMember},
	{"duration", "interval", `"P1DT2H"`, release.DurationMember},
	{"id", "text", `"x"`, release.TextMember},
}

const cursorMark = `[1,"listThings+number-decimal+text+isOn+day+at+duration+id",`

// cursorPlan is the plan of a list in the order of all cursorKeys.
func cursorPlan() *answer.Plan {
	a := &release.Action{Name: "listThings", Kind: release.List, Record: "Thing"}
	m := &release.Manifest{Records: map[string][]release.Member{}, Actions: []*release.Action{a}}
	for _, k := range cursorKeys {
		member := release.Member{Name: k.name, Column: k.name, Type: k.member}
		m.Records["Thing"] = append(m.Records["Thing"], member)
		a.Order = append(a.Order, release.SortKey{Member: member, Nullable: k.name != "id", Descending: k.name == "decimal"})
	}
	return answer.NewPlan(m, a, 0)
}

func encodeCursor(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// positionWith is a position with another value of one key.
func positionWith(name, value string) string {
	var parts []string
	for _, k := range cursorKeys {
		if k.name == name {
			parts = append(parts, value)
		} else {
			parts = append(parts, k.value)
		}
	}
	return strings.Join(parts, ",") + "]"
}

// Reading a cursor returns its content, and Postgres accepts each value for the type of
// its column.
func TestPosition(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	casts := make([]string, len(cursorKeys))
	for i, k := range cursorKeys {
		casts[i] = "($1::jsonb->>" + string(rune('0'+i)) + ")::" + k.cast
	}
	plan := cursorPlan()
	for _, test := range []struct{ name, value string }{
		{"", ""},
		{"number", "null"}, {"number", "-9223372036854775808"}, {"number", "9223372036854775807"},
		{"decimal", "null"}, {"decimal", "-0.000000000000000001"}, {"decimal", strings.Repeat("9", 60)},
		{"decimal", strings.Repeat("9", 131072) + "." + strings.Repeat("9", 16383)},
		{"text", "null"}, {"text", `""`}, {"text", `"` + strings.Repeat("long", 10000) + `"`}, {"text", `"\"\\"`}, {"text", `"\ud83d\ude00"`},
		{"isOn", "null"}, {"isOn", "false"},
		{"day", "null"}, {"day", `"0001-01-01"`}, {"day", `"9999-12-31"`},
		{"at", "null"}, {"at", `"0001-01-01T00:00:00.000Z"`}, {"at", `"9999-12-31T23:59:59.999Z"`},
		{"duration", "null"}, {"duration", `"PT0S"`}, {"duration", `"P-1Y-2M3DT-4H-5M-6.000007S"`}, {"duration", `"PT-0.000001S"`},
		{"duration", `"P178956969Y11M2147483647DT2147483647H59M59.999999S"`}, {"duration", `"P-178956969Y-11M-2147483647DT-2147483647H-59M-59S"`},
	} {
		held := positionWith(test.name, test.value)
		position, isCursor := plan.Position(answer.Page{Cursor: encodeCursor(cursorMark + held), HasCursor: true})
		if !isCursor || string(position) != "["+held {
			t.Errorf("%s %.60s: read as %.200s, %t", test.name, test.value, position, isCursor)
			continue
		}
		if _, err := conn.Exec(t.Context(), "select "+strings.Join(casts, ", "), string(position)); err != nil {
			t.Errorf("%s %.60s: %v", test.name, test.value, err)
		}
	}
}

// The cursor of a row is read only in the order in which it was made.
func TestCursorOfRow(t *testing.T) {
	t.Parallel()
	plan := cursorPlan()
	row := make([][]byte, len(cursorKeys))
	row[0], row[2], row[7] = []byte("5"), []byte("\"q\\ä"), []byte("x")
	for _, order := range [][]answer.Key{nil, {{Name: "text", Descending: true}}} {
		into := plan.Begin(answer.Page{OrderBy: order}, nil)
		into.Row(row)
		json := into.JSON()
		_, cursor, _ := strings.Cut(string(json), `"endCursor":"`)
		cursor, _, _ = strings.Cut(cursor, `"`)
		for _, asked := range [][]answer.Key{nil, {{Name: "text", Descending: true}}, {{Name: "text"}}} {
			_, isCursor := plan.Position(answer.Page{OrderBy: asked, Cursor: cursor, HasCursor: true})
			if want := len(asked) == len(order) && (len(asked) == 0 || asked[0] == order[0]); isCursor != want {
				t.Errorf("a cursor in the order %v is read in the order %v: %t", order, asked, isCursor)
			}
		}
	}
}

func TestNotACursor(t *testing.T) {
	t.Parallel()
	plan := cursorPlan()
	good := positionWith("", "")
	type bad struct{ what, cursor string }
	cases := []bad{
		{"empty", ""},
		{"not base64", "!"},
		{"padded", base64.URLEncoding.EncodeToString([]byte(`[1]`)) + "="},
		{"one character", "A"},
		{"standard alphabet", strings.NewReplacer("-", "+", "_", "/").Replace(encodeCursor("\xfb\xff\xfe"))},
		{"space", " " + encodeCursor(cursorMark+good)},
		{"line break", encodeCursor(cursorMark+good) + "\n"},
		{"line break inside", "W\n" + encodeCursor(cursorMark + good)[1:]},
		{"not UTF-8", encodeCursor("[1,\"\xff\"]")},
		{"NUL byte", encodeCursor("[1,\"\x00\"]")},
		{"not JSON", encodeCursor("[1,")},
		{"object", encodeCursor(`{"0":1}`)},
		{"scalar", encodeCursor(`1`)},
		{"string", encodeCursor(`"[1]"`)},
		{"null", encodeCursor(`null`)},
		{"empty array", encodeCursor(`[]`)},
		{"nested too deep", encodeCursor(strings.Repeat("[", 100000) + strings.Repeat("]", 100000))},
		{"other version", encodeCursor(`[2` + cursorMark[2:] + good)},
		{"version as text", encodeCursor(`["1"` + cursorMark[2:] + good)},
		{"other list", encodeCursor(strings.Replace(cursorMark, "listThings", "listOthers", 1) + good)},
		{"other order", encodeCursor(strings.Replace(cursorMark, "-decimal", "+decimal", 1) + good)},
		{"a value less", encodeCursor(cursorMark + `5,1.25,"ä",true,"2026-03-31","2026-03-31T21:40:10.001Z","P1DT2H"]`)},
		{"a value more", encodeCursor(cursorMark + strings.TrimSuffix(good, "]") + `,1]`)},
		{"something behind", encodeCursor(cursorMark + good + "[]")},
		{"key without null", encodeCursor(cursorMark + positionWith("id", "null"))},
		{"huge text", strings.Repeat("QUFB", 500000)},
	}
	for _, value := range []struct{ name, value string }{
		{"number", `"5"`}, {"number", "1.5"}, {"number", "9223372036854775808"}, {"number", "1e400"}, {"number", "true"}, {"number", "[]"},
		{"decimal", `"1"`}, {"decimal", "1e200000"}, {"decimal", "{}"}, {"decimal", `"NaN"`}, {"decimal", strings.Repeat("9", 131073)},
		{"decimal", "0." + strings.Repeat("9", 16384)},
		{"text", "5"}, {"text", `"\u0000"`}, {"text", `["a"]`}, {"text", `"\ud800"`},
		{"isOn", `"true"`}, {"isOn", "1"},
		{"day", `"infinity"`}, {"day", `"today"`}, {"day", `"2026-02-30"`}, {"day", `"0000-01-01"`}, {"day", `"31.03.2026"`}, {"day", "20260331"},
		{"day", `"2026-03-31 BC"`}, {"day", `"10000-01-01"`},
		{"at", `"infinity"`}, {"at", `"-infinity"`}, {"at", `"now"`}, {"at", `"2026-03-31"`}, {"at", `"2026-03-31T21:40:10.001+02:00"`},
		{"at", `"2026-03-31T21:40:10.0001Z"`}, {"at", `"2026-13-31T21:40:10.001Z"`}, {"at", `"2026-03-31T25:40:10.001Z"`}, {"at", `"epoch"`},
		{"at", `"2026-03-31T21:40:10,001Z"`},
		{"duration", `"infinity"`}, {"duration", `"1 day"`}, {"duration", `"P"`}, {"duration", `"PT"`}, {"duration", `"P1DT"`},
		{"duration", `"P99999999999Y"`}, {"duration", `"P178956970Y11M"`}, {"duration", `"PT1H "`}, {"duration", `"P1W"`},
		{"id", "7"}, {"id", "{}"},
	} {
		cases = append(cases, bad{value.name + " " + value.value, encodeCursor(cursorMark + positionWith(value.name, value.value))})
	}
	for _, test := range cases {
		if position, isCursor := plan.Position(answer.Page{Cursor: test.cursor, HasCursor: true}); isCursor {
			t.Errorf("%.60s: read as %.200s", test.what, position)
		}
	}
}
