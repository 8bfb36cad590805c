package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// storedRows holds the rows of the tables of schema app, by table, id and column.
type storedRows map[string]map[string]map[string]any

// anything is a value that the test does not predict, in place of one that had to go.
type anything struct{}

// fate is the expected state of rows, computed from the edits of the schema and the values alone.
type fate struct {
	rows   storedRows       // the expected rows afterwards
	losses map[string]int64 // the expected refusals at first: object and kind → rows or values
	kept   int              // values that must survive
	moved  int              // values that must survive under another name
}

// fateOf computes the fate. Columns that are given a value, as table.column, may hold any.
func fateOf(old, new *pg.Database, r renamedNames, rows storedRows, given map[string]bool) *fate {
	f := &fate{rows: storedRows{}, losses: map[string]int64{}}
	taken := map[*pg.Table]bool{}
	for _, n := range new.Tables {
		f.rows[n.Name] = map[string]map[string]any{}
		model := strings.TrimPrefix(n.Origin.Of, "model ")
		from := model
		if was, ok := r.models[model]; ok {
			from = was
		}
		at := slices.IndexFunc(old.Tables, func(o *pg.Table) bool { return o.Origin.Of == "model "+from })
		if at < 0 {
			continue
		}
		taken[old.Tables[at]] = true
		f.table(old.Tables[at], n, model, r, rows[old.Tables[at].Name], given)
	}
	for _, o := range old.Tables {
		if !taken[o] {
			f.lose("table app."+o.Name+" dropped", len(rows[o.Name]))
		}
	}
	return f
}

func (f *fate) lose(what string, count int) {
	if count > 0 {
		f.losses[what] += int64(count)
	}
}

func isReference(t *pg.Table, c *pg.Column) bool {
	return slices.ContainsFunc(t.References, func(r *pg.Reference) bool { return r.Column == c.Name })
}

func fieldOf(c *pg.Column) string {
	if c.Origin.Field != "" {
		return c.Origin.Field
	}
	return c.Name
}

func (f *fate) table(o, n *pg.Table, model string, r renamedNames, rows map[string]map[string]any, given map[string]bool) {
	successors := map[string]*pg.Column{} // by old name
	for _, c := range n.Columns {
		from := fieldOf(c)
		if was, ok := r.fields[[2]string{model, from}]; ok {
			from = was
		}
		at := slices.IndexFunc(o.Columns, func(was *pg.Column) bool { return fieldOf(was) == from && isReference(o, was) == isReference(n, c) })
		if at >= 0 {
			successors[o.Columns[at].Name] = c
		} else if c.NotNull && c.Default == "" {
			f.lose("column app."+n.Name+"."+c.Name+" required", len(rows))
		}
	}
	for id, row := range rows {
		after := map[string]any{}
		f.rows[n.Name][id] = after
		for _, was := range o.Columns {
			v, c := row[was.Name], successors[was.Name]
			switch {
			case c == nil && v != nil:
				f.lose("column app."+o.Name+"."+was.Name+" dropped", 1)
			case c == nil:
			default:
				after[c.Name] = f.value(n, was, c, r, v)
				if given[n.Name+"."+c.Name] && (v == nil || was.Type != c.Type || was.Opaque != c.Opaque || isNewSequence(was, c)) {
					after[c.Name] = anything{}
				}
				if after[c.Name] != (anything{}) && v != nil {
					f.kept++
					if was.Name != c.Name || o.Name != n.Name || !reflect.DeepEqual(after[c.Name], v) {
						f.moved++
					}
				}
			}
		}
	}
}

// isNewSequence tells whether a column gets a sequence that it did not have before.
func isNewSequence(o, n *pg.Column) bool { return o.Sequence == nil && n.Sequence != nil }

// isNumberOf tells whether a text is a number of a sequence.
func isNumberOf(s *pg.Sequence, text string) bool {
	digits, ok := strings.CutPrefix(text, s.Prefix)
	return ok && numberText.MatchString(digits)
}

// value is the expected value in place of an old one.
func (f *fate) value(t *pg.Table, o, n *pg.Column, r renamedNames, v any) any {
	name := "column app." + t.Name + "." + n.Name
	if v == nil {
		if isNewSequence(o, n) {
			return anything{} // a number
		}
		if n.NotNull && !o.NotNull {
			f.lose(name+" required", 1)
			return anything{}
		}
		return nil
	}
	if o.Opaque != n.Opaque {
		f.lose(name+" type", 1)
		return anything{}
	}
	if o.Type != n.Type {
		var ok bool
		if v, ok = converted(o.Type, n.Type, v); !ok {
			f.lose(name+" type", 1)
			return anything{}
		}
	}
	if isNewSequence(o, n) && !isNumberOf(n.Sequence, fmt.Sprint(v)) {
		f.lose(name+" sequence", 1) // but that it may stay
	}
	if len(n.Values) == 0 {
		return v
	}
	list, isArray := v.([]any)
	if !isArray {
		list = []any{v}
	}
	list = slices.Clone(list)
	if len(o.Values) == 0 {
		if slices.ContainsFunc(list, func(e any) bool { return e != (anything{}) && !slices.Contains(n.Values, e.(string)) }) {
			f.lose(name+map[bool]string{true: " enum", false: " type"}[o.Type == n.Type], 1)
			return anything{}
		}
		return v
	}
	lost := map[string]bool{}
	for i, e := range list {
		for _, values := range r.values {
			if to, ok := values[e.(string)]; ok && !slices.Contains(n.Values, e.(string)) && slices.Contains(n.Values, to) {
				list[i] = to
			}
		}
		if !slices.Contains(n.Values, list[i].(string)) {
			lost[e.(string)] = true
		}
	}
	for value := range lost {
		if o.Type == n.Type {
			f.lose("value "+value+" of "+name, 1)
		}
	}
	if o.Type != n.Type && len(lost) > 0 {
		f.lose(name+" type", 1)
	}
	switch {
	case len(lost) > 0:
		return anything{}
	case isArray:
		return list
	}
	return list[0]
}

var (
	numberText    = regexp.MustCompile(`^([0-9]{4}|[1-9][0-9]{4,17})$`)
	integerText   = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)
	decimalText   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	timestampText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	dateText      = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	durationText  = regexp.MustCompile(`^P(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$`)
)

// bare returns the parts of a type.
func bare(typ string) (element string, isArray bool) {
	typ = strings.TrimSuffix(typ, ` collate "C"`)
	if typ == "real[]" {
		return typ, false
	}
	return strings.CutSuffix(typ, "[]")
}

// converted is the expected value in a column of another type; false if the new type cannot hold it,
// or not all of it.
func converted(from, to string, v any) (any, bool) {
	from, isArray := bare(from)
	to, toArray := bare(to)
	if isArray && toArray {
		dated := from == "date" && to == "timestamptz(3)" || from == "timestamptz(3)" && to == "date"
		if dated || from == "boolean" && to != "text" && to != "boolean" || to == "boolean" && from != "text" && from != "boolean" {
			return nil, false // Postgres has no cast of arrays that does it
		}
	}
	if !hasConversion(from, to) {
		return nil, false
	}
	if !isArray {
		v, ok := convertedOne(from, to, v)
		if ok && toArray {
			v = []any{v}
		}
		return v, ok
	}
	var list []any
	for _, e := range v.([]any) {
		one, ok := convertedOne(from, to, e)
		if !ok {
			return nil, false
		}
		list = append(list, one)
	}
	if toArray {
		if list == nil {
			list = []any{}
		}
		return list, true
	}
	if len(list) != 1 {
		return nil, false
	}
	return list[0], true
}

// hasConversion tells whether values of one type can be values of another at all.
func hasConversion(from, to string) bool {
	scalars := []string{"bigint", "numeric", "boolean", "timestamptz(3)", "date", "interval"}
	numbers := []string{"bigint", "numeric", "boolean"}
	moments := []string{"timestamptz(3)", "date"}
	both := func(list []string) bool { return slices.Contains(list, from) && slices.Contains(list, to) }
	return from == to || from == "text" && slices.Contains(scalars, to) || to == "text" && slices.Contains(scalars, from) || both(numbers) || both(moments)
}

// durations are those of the rows, as Postgres and as the language write them.
func durations() map[string]string {
	return map[string]string{"01:00:00": "PT1H", "1 mon": "P1M", "3 days": "P3D", "00:00:00": "PT0S"}
}

func convertedOne(from, to string, v any) (any, bool) {
	text := fmt.Sprint(v)
	switch {
	case from == to:
		return v, true
	case from == "text":
		switch to {
		case "bigint":
			n, _ := new(big.Int).SetString(text, 10)
			return json.Number(text), integerText.MatchString(text) && n.CmpAbs(big.NewInt(9007199254740991)) <= 0
		case "numeric":
			return json.Number(text), decimalText.MatchString(text)
		case "boolean":
			return text == "true", text == "true" || text == "false"
		case "timestamptz(3)":
			return text, timestampText.MatchString(text)
		case "date":
			return text, dateText.MatchString(text)
		}
		for stored, written := range durations() {
			if written == text {
				return stored, true
			}
		}
		return anything{}, durationText.MatchString(text)
	case to == "text":
		if from == "interval" {
			return durations()[text], true
		}
		return text, true
	case from == "boolean":
		return json.Number(map[bool]string{true: "1", false: "0"}[v.(bool)]), true
	case to == "boolean":
		n, _ := new(big.Rat).SetString(text)
		return n.Sign() != 0, n.Sign() == 0 || n.Cmp(big.NewRat(1, 1)) == 0
	case to == "numeric":
		return v, true
	case to == "bigint":
		n, _ := new(big.Rat).SetString(text)
		return v, n.IsInt() && n.Num().CmpAbs(big.NewInt(9007199254740991)) <= 0
	case from == "date":
		return text + "T00:00:00Z", true
	}
	moment, _ := time.Parse(time.RFC3339, text)
	moment = moment.UTC()
	return moment.Format(time.DateOnly), moment.Equal(moment.Truncate(24 * time.Hour))
}

// isSame compares a value with the expected one.
func isSame(want, got any) bool {
	switch w := want.(type) {
	case anything:
		return true
	case json.Number:
		a, _ := new(big.Rat).SetString(w.String())
		b, ok := new(big.Rat).SetString(fmt.Sprint(got))
		return ok && a.Cmp(b) == 0
	case string:
		if a, err := time.Parse(time.RFC3339, w); err == nil {
			b, err := time.Parse(time.RFC3339, fmt.Sprint(got))
			return err == nil && a.Equal(b)
		}
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, isSame)
	}
	return reflect.DeepEqual(want, got)
}

// differences lists the rows that are not as expected.
func (f *fate) differences(got storedRows) []string {
	var list []string
	for table, rows := range f.rows {
		if len(got[table]) != len(rows) {
			list = append(list, fmt.Sprintf("app.%s has %d rows, and must have %d", table, len(got[table]), len(rows)))
		}
		for id, row := range rows {
			for column, want := range row {
				if is, there := got[table][id][column]; !there || !isSame(want, is) {
					list = append(list, fmt.Sprintf("app.%s %q: %s is %#v, and must be %#v", table, id, column, is, want))
				}
			}
		}
	}
	slices.Sort(list)
	return list
}
