package list

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// way is one of the ways in which rules admit rows: one of their alternatives. If it compares a column with values of the
// caller, the column leads an index, behind which the rows lie in the order of the list. So the way is read from the
// caller outwards, no further than a page, and the rows of all ways are merged.
type way struct {
	condition pg.Expr // its condition on the row, as a whole

	// lead is the column that it compares with values of the caller; nil means none. It has one value or, if oneOf is
	// not nil, several.
	lead   pg.Expr
	value  pg.Expr // or an array
	oneOf  *model.Field
	others pg.Expr // the other conditions of the way

	equal []*model.Field // the fields that it compares with one value each, the leading one first

	held   *pg.Variable // holds the several values
	enough *pg.Variable // how many of them are looked up
	isMany pg.Expr      // whether there may be more
}

// admission is the condition of a list's rules on rows: as a whole, and taken apart.
type admission struct {
	rule pg.Expr
	ways []way
}

// asItIs leaves an expression over rows of a model as it is.
func asItIs(n expr.Node) expr.Node { return n }

// admittedByPolicy is the admission for decisions outside of a function.
func admittedByPolicy(m *model.Model, rules []*model.Rule, over func(expr.Node) expr.Node) admission {
	row := value.RowOf(m)
	return admitted(value.NewExpression(value.RuleLogic, value.InQuery, &row, value.SettingOf), rules, over, func(condition pg.Expr) pg.Expr { return condition })
}

// admission is the condition under which rows of a source are admitted to a caller whom no rule admits for every row.
func admissionOf(b *call.Builder, s source) admission {
	row := value.RowOf(s.model)
	admitted := admitted(value.NewExpression(value.RuleLogic, value.InQuery, &row, b.InputValue), b.Action.Rules, s.over, b.Known)
	admitted.rule = s.shown(admitted.rule)
	for i, w := range admitted.ways {
		w.condition, w.lead, w.others = s.shown(w.condition), s.shown(w.lead), s.shown(w.others)
		admitted.ways[i] = w
	}
	return admitted
}

// admission takes rules apart. It omits alternatives that do not ask for the row: they are known to be false there, and
// would keep Postgres from an index. over makes them rules over the rows of an arm; known puts values of the caller in
// variables.
func admitted(x value.Expression, rules []*model.Rule, over func(expr.Node) expr.Node, known func(pg.Expr) pg.Expr) admission {
	var all, others []pg.Expr
	var ways []way
	for _, r := range rules {
		if r.Expression == nil {
			continue
		}
		for _, alternative := range expr.Alternatives(r.Expression) {
			if !expr.Mentions(alternative...).Row {
				continue
			}
			for i, n := range alternative {
				alternative[i] = over(n)
			}
			condition := x.AllHold(alternative)
			if len(r.Roles) > 0 {
				condition = pg.AllOf(condition, rule.HasRole(r.Roles))
			}
			w := wayOf(x.Row.Model, known(condition))
			all = append(all, w.condition)
			switch {
			case pg.IsFalse(w.condition), slices.ContainsFunc(ways, func(known way) bool { return reflect.DeepEqual(known.condition, w.condition) }):
			case w.equal == nil && w.oneOf == nil:
				others = append(others, w.condition)
			default:
				ways = append(ways, w)
			}
		}
	}
	if len(others) > 0 {
		ways = append(ways, way{condition: pg.AnyOf(others...)})
	}
	r := pg.AnyOf(all...)
	if len(ways) == 0 || len(ways) > rule.MaxWays || pg.IsTrue(r) {
		ways = []way{{condition: r}}
	}
	return admission{r, ways}
}

// wayOf finds the part of an alternative that can lead an index.
func wayOf(m *model.Model, condition pg.Expr) way {
	w := way{condition: condition}
	parts, at := operandsOf(condition), -1 // the part that leads
	for i, part := range parts {
		if f, lead, value := equality(m, part); f != nil {
			if lead != nil && w.oneOf == nil && (at < 0 || f.FKOf != nil && w.equal[0].FKOf == nil) {
				w.lead, w.value, at = lead, value, i
				w.equal = append([]*model.Field{f}, w.equal...)
			} else {
				w.equal = append(w.equal, f)
			}
		} else if f, values := oneOfField(m, part); f != nil && w.oneOf == nil {
			w.lead, w.value, w.oneOf, at = pg.Col(m.Table, f.Column), values, f, i
		}
	}
	if at >= 0 {
		w.others = pg.AllOf(slices.Delete(parts, at, at+1)...)
	}
	return w
}

// operandsOf are the conditions that have to hold for a condition to hold.
func operandsOf(condition pg.Expr) []pg.Expr {
	if and, ok := condition.(*pg.And); ok {
		return slices.Clone(and.Operands)
	}
	return []pg.Expr{condition}
}

// behind is the condition that the leading column has a value, in a form for which Postgres needs the column in front of
// the order: with an equality it might look for few rows along the order alone.
func (w way) behind(value pg.Expr) pg.Expr {
	return &pg.Any{Value: w.lead, Op: "=", Array: &pg.Array{Elements: []pg.Expr{value}}}
}

// ownColumnOf returns the field whose column an expression is, nil for any other expression.
func ownColumnOf(m *model.Model, e pg.Expr) *model.Field {
	c, ok := e.(*pg.ColumnRef)
	if !ok || c.Table != m.Table {
		return nil
	}
	for _, f := range m.Stored() {
		if f.Column == c.Name {
			return f
		}
	}
	return nil
}

// equality returns the field that a condition compares with one value, the same for all rows, and its column and the
// value, if Postgres does not know it when it plans a statement of which it keeps the plan.
func equality(m *model.Model, condition pg.Expr) (f *model.Field, column, value pg.Expr) {
	switch c := condition.(type) {
	case *pg.ColumnRef:
		return ownColumnOf(m, c), nil, nil // it is true
	case *pg.Not:
		return ownColumnOf(m, c.Operand), nil, nil
	case *pg.Binary:
		for _, side := range [][2]pg.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			if f := ownColumnOf(m, side[0]); f != nil && !f.Type.Array && c.Op == "=" && !pg.Mentions(side[1]).Table(m.Table) {
				switch side[1].(type) {
				case *pg.Text, *pg.Raw, *pg.ColumnRef:
					return f, nil, nil
				}
				return f, side[0], side[1]
			}
		}
	}
	return nil, nil, nil
}

// oneOfField returns the field that a condition compares with several values, and the values as an array.
func oneOfField(m *model.Model, condition pg.Expr) (*model.Field, pg.Expr) {
	switch c := condition.(type) {
	case *pg.In:
		f := ownColumnOf(m, c.Value)
		if f != nil && !pg.Mentions(c.List...).Table(m.Table) {
			return f, pg.As(&pg.Array{Elements: c.List}, value.CastType(f.Type.Kind)+"[]")
		}
	case *pg.Any:
		if f := ownColumnOf(m, c.Value); f != nil && c.Op == "=" && !c.All && !pg.Mentions(c.Array).Table(m.Table) {
			return f, c.Array
		}
	case *pg.Exists:
		return decorrelated(m, c.Query)
	}
	return nil, nil
}

// decorrelated turns a query round that asks whether a path leads from the row to the caller. It returns the field of a
// to-one of the row, and the target rows that a path reaches from the caller.
func decorrelated(m *model.Model, q *pg.Select) (*model.Field, pg.Expr) {
	conjuncts := operandsOf(q.Where)
	for i, c := range conjuncts {
		link, ok := c.(*pg.Binary)
		if !ok || link.Op != "=" {
			continue
		}
		for _, side := range [][2]pg.Expr{{link.Left, link.Right}, {link.Right, link.Left}} {
			f := ownColumnOf(m, side[0])
			if f == nil || f.FKOf == nil {
				continue
			}
			values := &pg.ArrayOf{Query: &pg.Select{
				Columns: []pg.Output{{Value: side[1]}}, From: q.From, Joins: q.Joins,
				Where: pg.AllOf(slices.Delete(slices.Clone(conjuncts), i, i+1)...),
			}}
			if !pg.Mentions(values).Table(m.Table) {
				return f, values
			}
		}
	}
	return nil, nil
}

// indexed are the fields that lead the index of a way, in front of the keys of an order. None are needed if one of them
// is unique to a row.
func (w way) indexed(keys []value.SortKey) []*model.Field {
	fields := w.equal
	if w.oneOf != nil {
		fields = append([]*model.Field{w.oneOf}, fields...)
	}
	if slices.ContainsFunc(fields, func(f *model.Field) bool { return f.Name == "id" || f.Unique || f.FKOf != nil && f.FKOf.Unique }) {
		return nil
	}
	// References first, but for what leads: then their own indexes are not needed.
	var first, references, rest []*model.Field
	for i, f := range fields {
		switch {
		case slices.Contains(fields[:i], f):
		case i == 0 && w.lead != nil:
			first = append(first, f)
		case f.FKOf != nil:
			references = append(references, f)
		default:
			rest = append(rest, f)
		}
	}
	fields = slices.Concat(first, references, rest)
	return fields[:min(len(fields), value.MaxKeys-len(keys))]
}

// lookUpValues looks up the values that ways compare a column with: no more than show a page sooner than the order of
// the list does.
func lookUpValues(b *call.Builder, ways []way, size pg.Expr) {
	var statements []pg.Statement
	for i := range ways {
		w := &ways[i]
		if w.oneOf == nil {
			continue
		}
		w.held = b.VariableFor(w.oneOf.Column+"s", value.CastType(w.oneOf.Type.Kind)+"[]", nil)
		if found, ok := w.value.(*pg.ArrayOf); ok {
			w.enough = enough(b, w.oneOf, size)
			q := *found.Query
			q.Limit = pg.Lit(w.enough.Name + "[3]")
			w.value = &pg.ArrayOf{Query: &q}
			w.isMany = pg.Op(pg.Fn("cardinality", w.held), ">=", q.Limit)
		}
		statements = append(statements, &pg.Assign{Variable: w.held, Value: w.value})
	}
	if len(statements) > 0 {
		b.Step("What the rules compare rows with.", statements...)
	}
}

// enough is the variable that holds how many values of a field are enough to look along the order.
func enough(b *call.Builder, f *model.Field, size pg.Expr) *pg.Variable {
	own := f.Model
	if f.FKOf != nil {
		own = f.FKOf.Target
	}
	table := func(m *model.Model) pg.Expr { return pg.Str(pg.Qualified(value.AppSchema, m.Table)) }
	return b.Hold("enough_"+own.Table, "bigint[]", pg.Fn("platform.enough", table(own), table(f.Model), size))
}

// manyOf tells whether the caller has so many values for any of some ways.
func manyOf(ways []way) pg.Expr {
	var many []pg.Expr
	for _, w := range ways {
		if w.isMany != nil {
			many = append(many, w.isMany)
		}
	}
	return pg.AnyOf(many...)
}

// whereFrom says why a list begins to look for rows where it does.
func whereFrom(ways []way) string {
	for _, w := range ways {
		switch {
		case w.oneOf != nil:
			return "It begins with the values of " + w.oneOf.Name + " that the caller has: the rows of each are in the order of the list."
		case w.lead != nil:
			return "It begins with a value of the caller: the rows that have it are in the order of the list."
		}
	}
	return "It begins with the order of the list, since no index leads from the caller to rows."
}

// text prints where rows are, and in which ways the rules admit them, as parts of the text of a statement. It takes the
// values of variables and arguments as $3.
type text struct {
	values []pg.Expr
}

// wayArray is an array of ways as the functions of the platform take them.
func wayArray(ways ...pg.Expr) pg.Expr { return pg.As(&pg.Array{Elements: ways}, "platform.way[]") }

// row is a way with a condition that no column leads.
func (t *text) row(s source, condition pg.Expr) pg.Expr {
	return &pg.Row{Values: []pg.Expr{s.text(), t.inText(condition), pg.Null(), pg.Null(), pg.Null()}}
}

// byRow is the condition of the rules on one row. Postgres looks for the rows of each sub-select when it comes to a row,
// and does not gather all of the caller's before.
func (t *text) byRow(rule pg.Expr) pg.Expr {
	var byRow func(e pg.Expr) pg.Expr
	byRow = func(e pg.Expr) pg.Expr {
		exists, ok := e.(*pg.Exists)
		if !ok {
			return nil
		}
		q := *exists.Query
		q.Where, q.Offset = pg.Replace(q.Where, byRow), pg.Lit("0")
		return &pg.Exists{Query: &q}
	}
	return t.inText(pg.Replace(rule, byRow))
}

// way is a way of the rules. With one value of the caller, the condition is that behind the column that leads.
func (t *text) way(s source, w way) pg.Expr {
	if w.lead == nil {
		return t.row(s, w.condition)
	}
	column := w.lead.(*pg.ColumnRef)
	lead := pg.Expr(pg.Str(pg.Ident(column.Table) + "." + pg.Ident(column.Name)))
	if w.oneOf == nil {
		return &pg.Row{Values: []pg.Expr{s.text(), pg.Null(), lead, t.inText(pg.AllOf(w.behind(w.value), w.others)), pg.Null()}}
	}
	condition := t.inText(w.condition)
	if w.isMany != nil {
		lead = &pg.Case{Whens: []pg.When{{Condition: pg.Negate(w.isMany), Result: lead}}}
	}
	behind := t.inText(pg.AllOf(w.behind(pg.Col("list__access", "value")), w.others))
	return &pg.Row{Values: []pg.Expr{s.text(), condition, lead, behind, &pg.Fragment{Value: t.of(w.held)}}}
}

// inText is a condition as part of the text of a statement.
func (t *text) inText(condition pg.Expr) pg.Expr {
	return &pg.Fragment{Value: pg.Replace(condition, func(e pg.Expr) pg.Expr {
		if v, ok := e.(*pg.Variable); ok {
			return t.of(v)
		}
		return nil
	})}
}

// of is the parameter that holds the value of a variable.
func (t *text) of(v *pg.Variable) pg.Expr {
	at := slices.Index(t.values, pg.Expr(v))
	if at < 0 {
		at = len(t.values)
		t.values = append(t.values, v)
	}
	parameter := pg.Expr(&pg.Element{Array: pg.Var("$3"), Index: pg.Lit(strconv.Itoa(at + 1))})
	if v.Type != "text" {
		return pg.As(parameter, v.Type)
	}
	return parameter
}

// array is the values as a function of the platform takes them.
func (t *text) array() pg.Expr {
	texts := make([]pg.Expr, len(t.values))
	for i, v := range t.values {
		if texts[i] = v; v.(*pg.Variable).Type != "text" {
			texts[i] = pg.As(v, "text")
		}
	}
	return pg.As(&pg.Array{Elements: texts}, "text[]")
}
