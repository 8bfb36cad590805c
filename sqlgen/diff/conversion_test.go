package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/diff"
)

// values are examples of each type of column, as Postgres reads them.
var values = map[string][]string{
	"text":             {"1", "007", "-12", "abc", "", "true", "2027-03-01", "2027-13-01", "2027-03-01T09:00:00.000Z", "PT1H", "1.5", "9007199254740992", "99999999999999999999"},
	`text collate "C"`: {"1", "x-1", "false"},
	"bigint":           {"0", "1", "-5", "9007199254740991"},
	"numeric":          {"0", "1", "1.5", "100000000000000000000", "-0.001"},
	"boolean":          {"true", "false"},
	"timestamptz(3)":   {"2027-03-01T09:00:00.123Z", "2027-03-01T00:00:00Z", "1999-12-31T23:59:59.999Z"},
	"date":             {"2027-03-01", "2024-02-29"},
	"interval":         {"PT1H30M", "P1D", "PT0S"},
	"jsonb":            {`{"key": "a"}`},
	"real[]":           {"{1,2.5}"},
}

// columnTypes are all types that a column may have, single and arrays.
func columnTypes() []string {
	var list []string
	for _, t := range diff.Types {
		list = append(list, t)
		if t != "real[]" {
			bare, sorted := strings.CutSuffix(t, ` collate "C"`)
			if bare += "[]"; sorted {
				bare += ` collate "C"`
			}
			list = append(list, bare)
		}
	}
	return list
}

// samples returns example values of a column's type: for an array none, one and several.
func samples(typ string) []string {
	if list, ok := values[typ]; ok {
		return list
	}
	element := strings.Replace(typ, "[]", "", 1)
	list := []string{"{}"}
	for _, v := range values[element] {
		quoted := `"` + strings.ReplaceAll(strings.ReplaceAll(v, `\`, `\\`), `"`, `\"`) + `"`
		list = append(list, "{"+quoted+"}", "{"+quoted+","+quoted+"}")
	}
	return list
}

// TestConversions changes columns from every type to every other, on a real Postgres. A value that is said to fit must
// come over, and come back as it was; a conversion that is said to lose nothing must fit every value.
func TestConversions(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	counts := map[diff.Keeps]int{}
	for _, from := range columnTypes() {
		for _, to := range columnTypes() {
			c := diff.Convert(from, to)
			counts[c.Keeps]++
			if c.Keeps == diff.Exactly && c.Unfit != "" {
				t.Errorf("%s to %s keeps all exactly, and yet some value would not fit: %s", from, to, c.Unfit)
			}
			if from == to {
				continue
			}
			back := diff.Convert(to, from)
			for _, value := range samples(from) {
				convert(t, conn, from, to, value, c, back)
			}
		}
	}
	t.Logf("%d exactly, %d rounded, %d where they can be read, %d not at all", counts[diff.Exactly], counts[diff.Rounded], counts[diff.Readable], counts[diff.Nothing])
	for _, keeps := range []diff.Keeps{diff.Exactly, diff.Rounded, diff.Readable, diff.Nothing} {
		if counts[keeps] == 0 {
			t.Errorf("no conversion is of kind %d", keeps)
		}
	}
}

// convert changes the type of a column with one value.
func convert(t *testing.T, conn *pgx.Conn, from, to, value string, c, back diff.Conversion) {
	t.Helper()
	of := func(sql string) string { return strings.ReplaceAll(sql, "$", "v") }
	fail := func(what string, err error) {
		t.Errorf("%s to %s, %s: %s: %v", from, to, value, what, err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), fmt.Sprintf("create temporary table one (v %s) on commit drop", from)); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), fmt.Sprintf("insert into one values ('%s')", strings.ReplaceAll(value, "'", "''"))); err != nil {
		fail("insert", err)
		return
	}
	lost := false
	if c.Unfit != "" {
		if err := tx.QueryRow(t.Context(), "select coalesce("+of(c.Unfit)+", false) from one", pgx.QueryExecModeSimpleProtocol).Scan(&lost); err != nil {
			fail("ask whether it fits by "+c.Unfit, err)
			return
		}
	}
	if c.Keeps == diff.Nothing && !lost {
		fail("no value can be kept", fmt.Errorf("%s says that it fits", c.Unfit))
		return
	}
	if lost && c.Keeps != diff.Nothing {
		return // it may be refused, or come over changed
	}
	var before, after string
	if err := tx.QueryRow(t.Context(), "select v::text from one", pgx.QueryExecModeSimpleProtocol).Scan(&before); err != nil {
		fail("read", err)
		return
	}
	if _, err := tx.Exec(t.Context(), fmt.Sprintf("alter table one alter column v type %s using %s", to, of(c.Using))); err != nil {
		// The form of a date is read, and not the calendar.
		if !(c.Keeps == diff.Readable && strings.Contains(value, "2027-13-01")) {
			fail("convert by "+c.Using, err)
		}
		return
	}
	if c.Keeps == diff.Nothing || back.Keeps == diff.Nothing {
		return
	}
	if _, err := tx.Exec(t.Context(), fmt.Sprintf("alter table one alter column v type %s using %s", from, of(back.Using))); err != nil {
		fail("convert back by "+back.Using, err)
		return
	}
	if err := tx.QueryRow(t.Context(), "select v::text from one", pgx.QueryExecModeSimpleProtocol).Scan(&after); err != nil || after != before {
		fail("there and back", fmt.Errorf("%q, before %q (%v)", after, before, err))
	}
}
