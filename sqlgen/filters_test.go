package sqlgen_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// value is a value of a field, or an operand: as JSON, and its key for comparisons.
type value struct {
	json string
	key  any // string, float64 or bool; nil means unset
}

func text(s string) value              { return value{fmt.Sprintf("%q", s), s} }
func num(json string, n float64) value { return value{json, n} }
func truth(b bool) value               { return value{fmt.Sprint(b), b} }

var unset = value{"null", nil}

// kind is a scalar type: its name in the schema, values to try, and its operators.
type kind struct {
	name      string
	values    []value
	operators []string
}

var (
	equality = []string{"equals", "notEquals"}
	numeric  = append(slices.Clone(equality), "lessThan", "lessThanOrEquals", "greaterThan", "greaterThanOrEquals", "oneOf")
	textual  = append(slices.Clone(equality), "startsWith", "endsWith", "contains", "oneOf")
	words    = []value{
		text(""), text("a"), text("A"), text("ab"), text("b%"), text("%"), text("_"), text(`\`), text("a'b"), text("Ünï"), text("ÜNÏ"), text("ab ab"),
	}
)

var kinds = []kind{
	{"Text", words, textual},
	{"Markdown", words[:6], textual},
	{"ID", []value{text("a"), text("A"), text("b")}, append(slices.Clone(equality), "oneOf")},
	{"Colour", []value{text("Red"), text("Green"), text("order")}, append(slices.Clone(equality), "oneOf")},
	{"Number", []value{num("0", 0), num("-1", -1), num("7", 7), num("9007199254740991", 9007199254740991)}, numeric},
	{"Decimal", []value{num("0", 0), num("0.10", 0.1), num("0.1", 0.1), num("-2.5", -2.5), num("1e3", 1000)}, numeric},
	{"Boolean", []value{truth(true), truth(false)}, equality},
	{
		"Duration",
		[]value{
			num(`"PT60M"`, 3600), num(`"PT1H"`, 3600), num(`"P1D"`, 86400), num(`"PT24H"`, 86400), num(`"P30D"`, 2592000), num(`"P1M"`, 2592000),
			num(`"P-1D"`, -86400), num(`"PT0.5S"`, 0.5),
		},
		append(slices.Clone(equality), "lessThan", "lessThanOrEquals", "greaterThan", "greaterThanOrEquals"),
	},
	{
		"Date",
		[]value{text("2026-02-28"), text("2026-03-01"), text("0001-01-01"), text("9999-12-31")},
		append(slices.Clone(equality), "before", "onOrBefore", "after", "onOrAfter"),
	},
	{
		"Timestamp",
		[]value{text("2026-03-01T00:00:00.000Z"), text("2026-03-01T00:00:00.001Z"), text("0001-01-01T00:00:00.000Z"), text("9999-12-31T23:59:59.999Z")},
		[]string{"before", "after"},
	},
}

// filterField is a field of the model that is filtered.
type filterField struct {
	name     string
	kind     kind
	array    bool
	optional bool
}

func filterFields() []filterField {
	var fields []filterField
	for i, k := range kinds {
		for _, f := range []filterField{{"plain", k, false, false}, {"maybe", k, false, true}, {"many", k, true, false}, {"maybeMany", k, true, true}} {
			f.name += string(rune('A' + i))
			fields = append(fields, f)
		}
	}
	return fields
}

// filterSchema has one model with all these fields, which one action creates and
// another lists.
func filterSchema(fields []filterField) string {
	var declared, written, read []string
	for _, f := range fields {
		line := "    " + f.name + " " + f.kind.name
		if f.array {
			line += "[]"
		}
		if f.optional {
			line += "?"
		}
		declared = append(declared, line)
		written = append(written, f.name)
		read = append(read, f.name+"?")
	}
	return "model Thing {\n  fields {\n" + strings.Join(declared, "\n") + "\n  }\n  actions {\n" +
		"    create createThing() with (id, " + strings.Join(written, ", ") + ")\n" +
		"    list listThings(" + strings.Join(read, ", ") + ")\n  }\n" +
		"  @permission(expression: true, actions: [create, list])\n}\nenum Colour { Red Green order }\n"
}

// thing is a row: per field its values, nil if it is unset. A scalar has one.
type thing map[string][]value

// compareKeys orders two keys of one type.
func compareKeys(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(a, b.(string))
	case float64:
		return cmp.Compare(a, b.(float64))
	case bool:
		if a == b {
			return 0
		}
		return 1 // booleans are compared for equality only
	}
	panic("no key")
}

// holds is the meaning of an operator for one value, which may be unset.
func holds(operator string, v value, operands []value) bool {
	o := operands[0]
	isEqual := v.key == nil && o.key == nil || v.key != nil && o.key != nil && compareKeys(v.key, o.key) == 0
	switch operator {
	case "equals":
		return isEqual
	case "notEquals":
		return !isEqual
	}
	if v.key == nil {
		return false
	}
	switch operator {
	case "oneOf":
		return slices.ContainsFunc(operands[1:], func(o value) bool { return compareKeys(v.key, o.key) == 0 })
	case "startsWith":
		return strings.HasPrefix(strings.ToLower(v.key.(string)), strings.ToLower(o.key.(string)))
	case "endsWith":
		return strings.HasSuffix(strings.ToLower(v.key.(string)), strings.ToLower(o.key.(string)))
	case "contains":
		return strings.Contains(strings.ToLower(v.key.(string)), strings.ToLower(o.key.(string)))
	}
	switch c := compareKeys(v.key, o.key); operator {
	case "lessThan", "before":
		return c < 0
	case "lessThanOrEquals", "onOrBefore":
		return c <= 0
	case "greaterThan", "after":
		return c > 0
	case "greaterThanOrEquals", "onOrAfter":
		return c >= 0
	}
	panic("no operator " + operator)
}

// condition is one operator of a field with its operand.
type condition struct {
	field    string
	operator string
	operand  string // JSON
	holds    func(row thing) bool
}

// conditionsOf returns the possible conditions on a field: each operator with each operand.
func conditionsOf(f filterField, random *rand.Rand) []condition {
	var all []condition
	if !f.array {
		for _, operator := range f.kind.operators {
			operands := slices.Clone(f.kind.values)
			if f.optional && slices.Contains(equality, operator) {
				operands = append(operands, unset)
			}
			for _, o := range operands {
				list, operand := []value{o}, o.json
				if operator == "oneOf" {
					list, operand = someOf(random, f.kind.values)
					list = append([]value{unset}, list...)
				}
				all = append(all, condition{
					f.name, operator, operand,
					func(row thing) bool { return holds(operator, single(row[f.name]), list) },
				})
			}
		}
		return all
	}

	for range 4 {
		list, operand := someOf(random, f.kind.values)
		isEqual := func(row thing) bool {
			return row[f.name] != nil && slices.EqualFunc(row[f.name], list, func(a, b value) bool { return compareKeys(a.key, b.key) == 0 })
		}
		all = append(all,
			condition{f.name, "equals", operand, isEqual},
			condition{f.name, "notEquals", operand, func(row thing) bool { return !isEqual(row) }},
		)
	}
	if f.optional {
		all = append(all,
			condition{f.name, "equals", "null", func(row thing) bool { return row[f.name] == nil }},
			condition{f.name, "notEquals", "null", func(row thing) bool { return row[f.name] != nil }},
		)
	}
	for range 16 {
		// One or two operators about the same element.
		operators := slices.DeleteFunc(slices.Clone(f.kind.operators), func(o string) bool { return o == "oneOf" })
		random.Shuffle(len(operators), func(i, j int) { operators[i], operators[j] = operators[j], operators[i] })
		operators = operators[:1+random.IntN(2)]
		var inner []string
		var operands []value
		for _, operator := range operators {
			o := f.kind.values[random.IntN(len(f.kind.values))]
			operands = append(operands, o)
			inner = append(inner, fmt.Sprintf("%q:%s", operator, o.json))
		}
		satisfies := func(v value) bool {
			for i, operator := range operators {
				if !holds(operator, v, operands[i:i+1]) {
					return false
				}
			}
			return true
		}
		operand := "{" + strings.Join(inner, ",") + "}"
		all = append(all,
			condition{f.name, "any", operand, func(row thing) bool { return slices.ContainsFunc(row[f.name], satisfies) }},
			condition{f.name, "all", operand, func(row thing) bool {
				return row[f.name] != nil && !slices.ContainsFunc(row[f.name], func(v value) bool { return !satisfies(v) })
			}},
		)
	}
	return all
}

func single(values []value) value {
	if values == nil {
		return unset
	}
	return values[0]
}

// someOf returns some values, and as JSON.
func someOf(random *rand.Rand, values []value) ([]value, string) {
	list := []value{}
	var texts []string
	for range random.IntN(4) {
		v := values[random.IntN(len(values))]
		list = append(list, v)
		texts = append(texts, v.json)
	}
	return list, "[" + strings.Join(texts, ",") + "]"
}

// TestFilters compares the rows that each operator finds with the right ones, alone and
// together with others.
func TestFilters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	fields := filterFields()
	a := newApp(t, "filters", filterSchema(fields))

	things := map[string]thing{}
	for i := range 24 {
		row := thing{}
		id := fmt.Sprintf("t%02d", i)
		members := []string{fmt.Sprintf(`"id":%q`, id)}
		for _, f := range fields {
			var member string
			switch {
			case f.optional && random.IntN(4) == 0:
				member = "null"
			case f.array:
				row[f.name], member = someOf(random, f.kind.values)
			default:
				v := f.kind.values[(i+random.IntN(2))%len(f.kind.values)]
				row[f.name], member = []value{v}, v.json
			}
			members = append(members, fmt.Sprintf("%q:%s", f.name, member))
		}
		if got := a.call(t, "createThing", "{"+strings.Join(members, ",")+"}", ""); !strings.HasPrefix(got, "{") {
			t.Fatalf("create %s: %s", id, got)
		}
		things[id] = row
	}

	ask := func(conditions ...condition) {
		t.Helper()
		where := map[string]map[string]json.RawMessage{}
		for _, c := range conditions {
			if where[c.field] == nil {
				where[c.field] = map[string]json.RawMessage{}
			}
			where[c.field][c.operator] = json.RawMessage(c.operand)
		}
		filter, err := json.Marshal(where)
		if err != nil {
			t.Fatal(err)
		}
		body := `{"where":` + string(filter) + `,"first":1000}`
		var want []string
		for id, row := range things {
			if !slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(row) }) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		if got := readPage(t, a.list(t, "listThings", body)).ids; !slices.Equal(got, want) {
			t.Errorf("listThings %s\ngot  %q\nwant %q", body, got, want)
		}
	}

	perField := make([][]condition, len(fields))
	for i, f := range fields {
		perField[i] = conditionsOf(f, random)
		for _, c := range perField[i] {
			ask(c)
		}
	}
	for range 300 {
		var chosen []condition
		for _, i := range random.Perm(len(fields))[:1+random.IntN(2)] {
			for range 2 {
				c := perField[i][random.IntN(len(perField[i]))]
				if !slices.ContainsFunc(chosen, func(o condition) bool { return o.field == c.field && o.operator == c.operator }) {
					chosen = append(chosen, c)
				}
			}
		}
		ask(chosen...)
	}
}

// TestDatesCountAsMidnight holds that a Date counts as its 00:00: a window that begins or
// ends now has the date whose midnight it has, and not the other one that it touches.
func TestDatesCountAsMidnight(t *testing.T) {
	t.Parallel()
	a := newApp(t, "midnight", `
model Event {
  fields { day Date }
  actions { list listEvents(day?) }
  @permission(expression: true, actions: [list])
}`)
	// No midnight passes between the rows and the question, or it would be news.
	const today = "(now() at time zone 'UTC')::date"
	for filter, want := range map[string][]string{
		`"equalsRelative":"last 1 day"`: {"2 today"},
		`"equalsRelative":"next 1 day"`: {"3 tomorrow"},
		`"beforeRelative":"next 1 day"`: {"1 yesterday", "2 today"},
		`"afterRelative":"last 1 day"`:  {"3 tomorrow"},
	} {
		a.exec(t, "delete from app.event")
		a.exec(t, "insert into app.event (id, day) values ('1 yesterday', "+today+" - 1), ('2 today', "+today+"), ('3 tomorrow', "+today+" + 1)")
		if got := readPage(t, a.list(t, "listEvents", `{"where":{"day":{`+filter+`}}}`)).ids; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", filter, got, want)
		}
	}
}

// TestRelativeFilters puts rows at the bounds of a period and looks on which side
// they are found.
func TestRelativeFilters(t *testing.T) {
	t.Parallel()
	a := newApp(t, "relative", `
model Event {
  fields { at Timestamp  day Date  days Date[] }
  actions { list listEvents(at?, day?, days?) }
  @permission(expression: true, actions: [list])
}`)
	// No boundary of a year passes while this test runs, or it would be news.
	a.exec(t, `
		insert into app.event (id, at, day, days)
		select place.name, place.at, (place.at at time zone 'UTC')::date, array[(place.at at time zone 'UTC')::date]
		from platform.relative_period('last 2 complete years', 'UTC', now()) as period
		cross join lateral (values
			('1 before', period.starts_at - interval '1 ms'),
			('2 start', period.starts_at),
			('3 last', period.ends_at - interval '1 ms'),
			('4 end', period.ends_at)
		) as place (name, at)
	`)
	for operator, want := range map[string][]string{
		"beforeRelative": {"1 before"},
		"equalsRelative": {"2 start", "3 last"},
		"afterRelative":  {"4 end"},
	} {
		for _, filter := range []string{
			fmt.Sprintf(`"at":{%q:"last 2 complete years"}`, operator),
			fmt.Sprintf(`"day":{%q:"LAST 2  complete year"}`, operator),
			fmt.Sprintf(`"days":{"any":{%q:"last 2 complete years"}}`, operator),
			fmt.Sprintf(`"days":{"all":{%q:"last 2 complete years"}}`, operator),
		} {
			if got := readPage(t, a.list(t, "listEvents", `{"where":{`+filter+`}}`)).ids; !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", filter, got, want)
			}
		}
	}
}
