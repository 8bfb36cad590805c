package answer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/release"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// kinds lists for every type of a member its type in Postgres, how the database itself
// makes its wire form, and values of it.
var kinds = []struct {
	member release.MemberType
	typ    string
	wire   string // with %s for the column
	values []string
}{
	{release.TextMember, "text", "%s", []string{
		"", "plain", `quote " and \ backslash`, "a\tb\nc\rd\be\ff", "\x01\x1f\x7f", "ä€𝄞\u2028\u2029", "{a,b}", "NULL", "null", `"`, ",", " padded ", `\u0041`,
	}},
	{release.NumberMember, "bigint", "%s", []string{"0", "-1", "9007199254740991", "-9007199254740991"}},
	{release.DecimalMember, "numeric", "%s", []string{
		"0", "0.0", "-0.00", "1.50", "100", "100.00", "-7.25000", "0.000000000000000001", "12345678901234567890.123456789012345678", "NaN", "Infinity", "-Infinity",
	}},
	{release.BooleanMember, "boolean", "%s", []string{"true", "false"}},
	{release.TimestampMember, "timestamptz", "platform.iso(%s)", []string{
		"2026-03-31T21:40:10.000Z", "2026-03-31T21:40:10.004Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z",
		"1999-12-31 23:59:59.9999+00", "2000-02-29T12:00:00+05:30", "12026-01-01T00:00:00Z", "0044-03-15T00:00:00Z BC", "infinity", "-infinity",
	}},
	{release.DateMember, "date", "%s", []string{
		"2026-03-31", "0001-01-01", "9999-12-31", "1999-12-31", "2000-02-29", "12026-01-01", "0044-03-15 BC", "infinity", "-infinity",
	}},
	{release.DurationMember, "interval", "platform.iso_duration(%s)", []string{
		"PT0S", "PT90M", "P1W", "P1Y2M3DT4H5M6.789S", "PT-0.5S", "P-1D", "P14M", "P-14M", "PT1.000001S", "P1DT-1H", "PT25H", "PT-90061.5S", "P99999999Y",
	}},
	{release.RealMember, "real", "%s", []string{"0", "-0", "1", "0.1", "1e-10", "1e20", "3.4028235e38", "123456.7", "NaN", "Infinity"}},
	{release.JSONMember, "json", "%s", []string{`{"a": 1}`, `[1,2]`, `"text"`}},
}

// database is one with the platform, and settings of the session that must not matter.
func database(t testing.TB) *pgx.Conn {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Template: pgtest.Template{
		Name:  "record",
		Build: func(ctx context.Context, owner *pgx.Conn) error { return sql.Migrate(ctx, owner) },
	}})
	conn := db.Owner(t)
	for _, setting := range []string{"datestyle = 'SQL, DMY'", "intervalstyle = 'sql_standard'", "timezone = 'Asia/Kolkata'"} {
		if _, err := conn.Exec(t.Context(), "set "+setting); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// compare selects expressions, one for each member, and compares the record with the
// text that Postgres makes.
func compare(t *testing.T, conn *pgx.Conn, members []release.Member, expressions, wires []string) {
	t.Helper()
	r := answer.NewRecord(members)
	columns, forms := make([]string, len(members)), make([]string, len(members))
	for i, m := range members {
		name := pgx.Identifier{m.Name}.Sanitize()
		columns[i] = expressions[i] + " as " + name
		forms[i] = fmt.Sprintf(wires[i], name) + " as " + name
	}
	rows := "from (select " + strings.Join(columns, ", ") + ") as source"
	var want string
	if err := conn.QueryRow(t.Context(), "select row_to_json(record)::text from (select "+strings.Join(forms, ", ")+" "+rows+") as record").Scan(&want); err != nil {
		t.Fatal(err)
	}
	result := conn.PgConn().ExecParams(t.Context(), "select * "+rows, nil, nil, nil, answer.FormatsOf(members)).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if got := string(r.Append(nil, result.Rows[0])); got != want {
		t.Errorf("the record differs from that of Postgres\ngot  %s\nwant %s", got, want)
	}
}

func literal(value, typ string) string {
	return "'" + strings.ReplaceAll(value, "'", "''") + "'::" + typ
}

func wireOf(wire string, array bool, member release.MemberType) string {
	if member == release.DecimalMember {
		if array {
			return "platform.trim_scale(%s)"
		}
		return "trim_scale(%s)"
	}
	return wire
}

func TestEveryTypeAsPostgresWritesIt(t *testing.T) {
	t.Parallel()
	conn := database(t)
	for _, k := range kinds {
		t.Run(string(k.member), func(t *testing.T) {
			for _, v := range append(k.values, "") {
				expression := literal(v, k.typ)
				if v == "" && k.member != release.TextMember {
					expression = "null::" + k.typ
				}
				compare(t, conn, []release.Member{{Name: "v", Type: k.member}}, []string{expression}, []string{wireOf(k.wire, false, k.member)})
			}
			if k.member == release.JSONMember {
				return
			}
			var all []string
			for _, v := range k.values {
				all = append(all, literal(v, k.typ))
			}
			for _, array := range []string{
				"null", "'{}'", "array[" + strings.Join(all, ", ") + "]", "array[" + all[0] + "]", "array[" + all[0] + ", null]",
				"'[3:3]={" + `"` + "x" + `"` + "}'",
			} {
				if strings.HasPrefix(array, "'[3") && k.member != release.TextMember {
					continue
				}
				member := release.Member{Name: "v", Type: k.member, Array: true}
				compare(t, conn, []release.Member{member}, []string{array + "::" + k.typ + "[]"}, []string{wireOf(k.wire, true, k.member)})
			}
		})
	}
}

// TestTypesHaveWriters compiles a record of every type, to find missing writers.
func TestTypesHaveWriters(t *testing.T) {
	if got, want := len(kinds), answer.Types(); got != want {
		t.Errorf("the test knows %d types, there are %d", got, want)
	}
}

func TestRandomRecords(t *testing.T) {
	t.Parallel()
	conn := database(t)
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		runes := make([]rune, random.IntN(12))
		for i := range runes {
			alphabet := []rune("ab\"\\\n\t\x02{},' €𝄞N")
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(runes)
	}
	value := func(member release.MemberType) string {
		switch member {
		case release.TextMember:
			return text()
		case release.NumberMember:
			return fmt.Sprint(random.Int64N(1<<53) - 1<<52)
		case release.DecimalMember:
			return fmt.Sprintf("%d.%0*d", random.Int64N(1000)-500, 1+random.IntN(6), random.IntN(1000)*10)
		case release.BooleanMember:
			return fmt.Sprint(random.IntN(2) == 0)
		case release.TimestampMember:
			return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d+00", 1+random.IntN(9999), 1+random.IntN(12), 1+random.IntN(28),
				random.IntN(24), random.IntN(60), random.IntN(60), random.IntN(1e6))
		case release.DateMember:
			return fmt.Sprintf("%04d-%02d-%02d", 1+random.IntN(9999), 1+random.IntN(12), 1+random.IntN(28))
		case release.DurationMember:
			return fmt.Sprintf("%d months %d days %d.%06d seconds", random.IntN(100)-50, random.IntN(100)-50, random.IntN(200000)-100000, random.IntN(1e6))
		case release.RealMember:
			return fmt.Sprint(float32(random.NormFloat64() * 1e3))
		}
		return fmt.Sprintf(`{"n": %d}`, random.IntN(100))
	}
	for range 300 {
		var members []release.Member
		var expressions, wires []string
		for i := range 1 + random.IntN(6) {
			k := kinds[random.IntN(len(kinds))]
			m := release.Member{Name: fmt.Sprintf("m%d %q", i, text()), Type: k.member, Array: k.member != release.JSONMember && random.IntN(3) == 0}
			if len(m.Name) > 63 {
				m.Name = fmt.Sprintf("m%d", i)
			}
			expression := literal(value(k.member), k.typ)
			if m.Array {
				var elements []string
				for range random.IntN(4) {
					elements = append(elements, literal(value(k.member), k.typ))
				}
				expression = "array[" + strings.Join(elements, ", ") + "]::" + k.typ + "[]"
			}
			if random.IntN(8) == 0 {
				expression = "null::" + k.typ
				if m.Array {
					expression += "[]"
				}
			}
			members, expressions, wires = append(members, m), append(expressions, expression), append(wires, wireOf(k.wire, m.Array, k.member))
		}
		compare(t, conn, members, expressions, wires)
	}
}

func BenchmarkAppend(b *testing.B) {
	r := answer.NewRecord([]release.Member{{Name: "id", Type: release.TextMember}, {Name: "title", Type: release.TextMember},
		{Name: "score", Type: release.DecimalMember}, {Name: "createdAt", Type: release.TimestampMember}})
	values := [][]byte{[]byte("019d3dc1-bc78-7c3e-8a56-0b1f6c2d7e44"), []byte("Knots and bends"), []byte("4.50"), {0, 2, 200, 0, 0, 0, 0, 0}}
	var out []byte
	for b.Loop() {
		out = r.Append(out[:0], values)
	}
}
