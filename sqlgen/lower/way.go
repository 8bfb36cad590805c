package lower

import (
	"reflect"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// way is one of the ways in which rules admit rows: one of their alternatives. If it compares a column with values of the
// caller, the column leads an index, behind which the rows lie in the order of the list. So the way is read from the
// caller outwards, no further than a page, and the rows of all ways are merged.
type way struct {
	condition pg.Expr   // its condition on the row, as a whole
	apart     []pg.Expr // the conditions of which the condition is one, if it is several ways in one

	// lead is the column that it compares with values of the caller; nil means none. It has one value or, if oneOf is
	// not nil, several.
	lead   pg.Expr
	value  pg.Expr
	oneOf  *model.Field
	values []pg.Expr // arrays
	others pg.Expr   // the other conditions of the way

	equal []*model.Field // the fields that it compares with one value each, the leading one first

	held   *pg.Variable // holds the several values
	enough *pg.Variable // how many of them are looked up
	isMany pg.Expr      // whether there may be more
}

// maxWays is the most ways in which rows are found. Rules with more alternatives are one condition.
const maxWays = 6

// rules are the rules of a list over rows of a model. For a union, over makes them rules over the rows of an arm, and
// shown their conditions on the rows of the arm's view, whose columns leads are.
type rules struct {
	model *model.Model
	list  []*model.Rule
	x     expression
	known func(pg.Expr) pg.Expr // nil for decisions outside of a function
	over  func(expr.Node) expr.Node
	shown func([]expr.Node) pg.Expr
	lead  func(*model.Field) pg.Expr
}

// admission takes the rules apart. It omits alternatives that do not ask for the row: they are decided before.
func (r rules) admission() admission {
	var all, others []pg.Expr
	var ways []way
	for _, rule := range r.list {
		if rule.Expression == nil {
			continue
		}
		for _, alternative := range alternativesOf(rule.Expression) {
			if !expr.Mentions(alternative...).Row {
				continue
			}
			role := pg.Expr(pg.True())
			if len(rule.Roles) > 0 {
				role = hasRole(rule.Roles)
			}
			w := r.wayOf(alternative, role)
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
	ways = joined(ways)
	if len(others) > 0 {
		ways = append(ways, way{condition: pg.AnyOf(others...)})
	}
	rule := pg.AnyOf(all...)
	if len(ways) == 0 || len(ways) > maxWays || pg.IsTrue(rule) {
		ways = []way{{condition: rule}}
	}
	return admission{rule, ways}
}

// joined makes one way of those that compare a column with several values, and differ in nothing else: it compares the
// column with the values of all.
func joined(ways []way) []way {
	var list []way
	for _, w := range ways {
		at := slices.IndexFunc(list, func(known way) bool {
			return w.oneOf != nil && known.oneOf == w.oneOf && reflect.DeepEqual(known.others, w.others)
		})
		if at < 0 {
			list = append(list, w)
			continue
		}
		list[at].apart = append(list[at].conditions(), w.condition)
		list[at].condition = pg.AnyOf(list[at].condition, w.condition)
		list[at].values = append(list[at].values, w.values...)
	}
	return list
}

// conditions are the conditions on the row of which one holds. Postgres can begin with the caller in each by itself.
func (w way) conditions() []pg.Expr {
	if w.apart != nil {
		return w.apart
	}
	return []pg.Expr{w.condition}
}

// asItIs leaves an expression over rows of a model as it is.
func asItIs(n expr.Node) expr.Node { return n }

// waysByPolicy are the ways in which rules admit rows, for decisions outside of a function.
func waysByPolicy(m *model.Model, list []*model.Rule, over func(expr.Node) expr.Node) []way {
	row := rowOf(m)
	return rules{model: m, list: list, x: newExpression(ruleLogic, inQuery, &row, settingOf), over: over}.admission().ways
}

// alternativesOf returns the alternatives of an expression, each as the conjuncts of
// it: a || b has two, and so has c && (a || b).
func alternativesOf(n expr.Node) [][]expr.Node {
	l, ok := n.(*expr.Logic)
	if !ok {
		return [][]expr.Node{{n}}
	}
	left, right := alternativesOf(l.Left), alternativesOf(l.Right)
	if l.Op == syntax.Or {
		return append(left, right...)
	}
	if len(left)*len(right) > maxWays {
		return [][]expr.Node{{n}}
	}
	var both [][]expr.Node
	for _, a := range left {
		for _, b := range right {
			both = append(both, append(slices.Clone(a), b...))
		}
	}
	return both
}

// wayOf finds the part of an alternative that can lead an index.
func (r rules) wayOf(alternative []expr.Node, role pg.Expr) way {
	var conditions, shown []pg.Expr // of the parts: on rows of the model, and on those that are read
	lower := func(nodes []expr.Node) {
		over := make([]expr.Node, len(nodes))
		for i, n := range nodes {
			over[i] = r.over(n)
		}
		condition := r.knowing(r.x.allHold(over))
		if r.shown != nil {
			conditions, shown = append(conditions, condition), append(shown, r.knowing(r.shown(nodes)))
		} else if and, ok := condition.(*pg.And); ok {
			conditions = append(conditions, and.Operands...)
		} else {
			conditions = append(conditions, condition)
		}
	}
	if r.shown != nil && len(expr.Prefixes(alternative...)) == 0 {
		for _, n := range alternative {
			lower([]expr.Node{n})
		}
	} else {
		lower(alternative)
	}
	if r.shown == nil {
		shown = slices.Clone(conditions)
	}
	conditions, shown = append(conditions, r.knowing(role)), append(shown, r.knowing(role))
	w := way{condition: pg.AllOf(shown...)}
	if pg.IsFalse(pg.AllOf(conditions...)) {
		w.condition = pg.False()
	}
	at := -1 // the part that leads
	for i, c := range conditions {
		if f := equalField(r.model, c); f != nil {
			column, value := compared(shown[i])
			if column != nil && w.oneOf == nil && (at < 0 || f.FKOf != nil && w.equal[0].FKOf == nil) {
				w.lead, w.value, at = column, value, i
				w.equal = append([]*model.Field{f}, w.equal...)
			} else {
				w.equal = append(w.equal, f)
			}
		} else if f, values := oneOfField(r.model, c); f != nil && w.oneOf == nil {
			w.lead, w.value, w.oneOf, w.values, at = pg.Col(r.model.Table, f.Column), nil, f, []pg.Expr{values}, i
			if r.lead != nil {
				w.lead = r.lead(f)
			}
		}
	}
	if at >= 0 {
		w.others = pg.AllOf(append(slices.Clone(shown[:at]), shown[at+1:]...)...)
	}
	return w
}

// knowing is a condition with the values of the caller in variables.
func (r rules) knowing(condition pg.Expr) pg.Expr {
	if r.known == nil {
		return condition
	}
	return r.known(condition)
}

// compared returns the column that a condition compares with one value, and the value, if Postgres does not know it when
// it plans a statement of which it keeps the plan.
func compared(condition pg.Expr) (column, value pg.Expr) {
	c, ok := condition.(*pg.Binary)
	if !ok {
		return nil, nil
	}
	for _, side := range [][2]pg.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
		switch side[1].(type) {
		case *pg.Text, *pg.Raw, *pg.ColumnRef:
			continue
		}
		if column, ok := side[0].(*pg.ColumnRef); ok {
			return column, side[1]
		}
	}
	return nil, nil
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

// equalField returns the field that a condition compares with one value, the same for all rows.
func equalField(m *model.Model, condition pg.Expr) *model.Field {
	switch c := condition.(type) {
	case *pg.ColumnRef:
		return ownColumnOf(m, c) // it is true
	case *pg.Not:
		return ownColumnOf(m, c.Operand)
	case *pg.Binary:
		if c.Op != "=" {
			return nil
		}
		for _, side := range [][2]pg.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			if f := ownColumnOf(m, side[0]); f != nil && !pg.Mentions(side[1]).Table(m.Table) {
				return f
			}
		}
	}
	return nil
}

// oneOfField returns the field that a condition compares with several values, and the values as an array.
func oneOfField(m *model.Model, condition pg.Expr) (*model.Field, pg.Expr) {
	switch c := condition.(type) {
	case *pg.In:
		f := ownColumnOf(m, c.Value)
		if f != nil && !pg.Mentions(c.List...).Table(m.Table) {
			return f, pg.As(&pg.Array{Elements: c.List}, castType(f.Type.Kind)+"[]")
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
	conjuncts := []pg.Expr{q.Where}
	if and, ok := q.Where.(*pg.And); ok {
		conjuncts = and.Operands
	}
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
				Columns: []pg.Output{{Value: side[1]}},
				From:    q.From,
				Joins:   q.Joins,
				Where:   pg.AllOf(append(slices.Clone(conjuncts[:i]), conjuncts[i+1:]...)...),
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
func (w way) indexed(keys []sortKey) []*model.Field {
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
	return fields[:min(len(fields), maxKeys-len(keys))]
}

// admission is the condition of a list's rules on rows: as a whole, and taken apart.
type admission struct {
	rule pg.Expr
	ways []way
}

// everything admits all rows.
func everything() admission { return admission{pg.True(), []way{{condition: pg.True()}}} }

// keyColumns are the columns that a way selects of its rows, to merge them with those of others.
func keyColumns(keys []sortKey, table string) []pg.Output {
	columns := make([]pg.Output, len(keys))
	for i, k := range keys {
		columns[i] = pg.Output{Value: k.column(table)}
	}
	return columns
}
