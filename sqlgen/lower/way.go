package lower

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// way is one of the ways in which rules admit rows: one of their alternatives. The columns that it compares with the
// caller lead an index, behind which the rows lie in the order of the list. So each way is read by itself, no further
// than a page, and the rows that it finds are merged.
type way struct {
	condition pg.Expr // its condition on the row, as a whole
	insisting pg.Expr // the same in a form that makes Postgres take the index, see boundTwice; nil means none

	// equal are the fields that it compares with one value each.
	equal []*schema.Field

	// oneOf is a field that it compares with several values, those of the caller, which are found first. Nil means
	// none.
	oneOf   *schema.Field
	values  pg.Expr // an array
	isShort bool    // whether the array is known to have few values
	others  pg.Expr // the other conditions of the way

	// isInView tells, for an arm of a union, that oneOf is a column of its view.
	isInView bool

	// each is a variable that tells whether rows are looked for behind one value after the other. Nil means
	// that they are only if the values are known to be few.
	each pg.Expr
}

// maxWays is the most ways in which rows are found. Rules with more alternatives are one condition.
const maxWays = 6

// admissionOf takes the rules of a list apart, for rows of a model. For a union, over makes them rules over the rows of
// an arm, and shown, if it is not nil, makes the way of an alternative one to the rows of the arm's view. It omits alternatives that do not ask for
// the row: they are decided before. Values are found before the statement; outside of it an input has the value that
// outside returns.
func admissionOf(
	m *schema.Model, rules []*schema.Rule, x expression, outside func(expr.Input) pg.Expr, over func(expr.Node) expr.Node,
	shown func(alternative []expr.Node, role pg.Expr, w way) way,
) admission {
	before := x
	before.input = outside
	var all, others []pg.Expr
	var ways []way
	for _, r := range rules {
		if r.Expression == nil {
			continue
		}
		for _, alternative := range alternativesOf(r.Expression) {
			if !expr.Mentions(alternative...).Row {
				continue
			}
			ofUnion := slices.Clone(alternative)
			for i, n := range alternative {
				alternative[i] = over(n)
			}
			role := pg.Expr(pg.True())
			if len(r.Roles) > 0 {
				role = hasRole(r.Roles)
			}
			condition := pg.AllOf(x.allHold(alternative), role)
			w := wayOf(m, condition)
			if w.oneOf != nil {
				w.values = wayOf(m, before.allHold(alternative)).values
			}
			if shown != nil {
				w = shown(ofUnion, role, w)
				condition = w.condition
			}
			all = append(all, condition)
			switch {
			case pg.IsFalse(condition), slices.ContainsFunc(ways, func(known way) bool { return reflect.DeepEqual(known.condition, w.condition) }):
			case w.equal == nil && w.oneOf == nil:
				others = append(others, condition)
			default:
				ways = append(ways, w)
			}
		}
	}
	if shown == nil {
		ways = joined(ways)
	}
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
// column with the values of all. Ways to the view of an arm stay apart, since Postgres can start from the caller in each.
func joined(ways []way) []way {
	var list []way
	for _, w := range ways {
		at := slices.IndexFunc(list, func(known way) bool {
			return w.oneOf != nil && known.oneOf == w.oneOf && reflect.DeepEqual(known.equal, w.equal) && reflect.DeepEqual(known.others, w.others)
		})
		if at < 0 {
			list = append(list, w)
			continue
		}
		list[at].condition = pg.AnyOf(list[at].condition, w.condition)
		list[at].values = pg.Op(list[at].values, "||", w.values)
	}
	return list
}

// asItIs leaves an expression over rows of a model as it is.
func asItIs(n expr.Node) expr.Node { return n }

// waysByPolicy are the ways in which rules admit rows, for decisions outside of a function.
func waysByPolicy(m *schema.Model, rules []*schema.Rule, over func(expr.Node) expr.Node) []way {
	row := rowOf(m)
	return admissionOf(m, rules, newExpression(ruleLogic, inQuery, &row, settingOf), settingOf, over, nil).ways
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

// wayOf finds the part of a condition over a model's rows that can lead an index.
func wayOf(m *schema.Model, condition pg.Expr) way {
	w := way{condition: condition}
	conjuncts := []pg.Expr{condition}
	if and, ok := condition.(*pg.And); ok {
		conjuncts = and.Operands
	}
	conjuncts = slices.Clone(conjuncts)
	for i, c := range conjuncts {
		if f, insisting := equalField(m, c); f != nil {
			if !slices.Contains(w.equal, f) {
				w.equal = append(w.equal, f)
			}
			conjuncts[i] = insisting
			continue
		}
		if w.oneOf != nil {
			continue
		}
		if f, values := oneOfField(m, c); f != nil {
			w.oneOf, w.values = f, values
			conjuncts[i] = pg.True()
		}
	}
	if w.oneOf != nil {
		w.others = pg.AllOf(conjuncts...)
	} else {
		w.insisting = pg.AllOf(conjuncts...)
	}
	return w
}

// ownColumnOf returns the field whose column an expression is, nil for any other expression.
func ownColumnOf(m *schema.Model, e pg.Expr) *schema.Field {
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

// equalField returns the field that a condition compares with one value, the same for all rows, and the best form of
// the condition.
func equalField(m *schema.Model, condition pg.Expr) (*schema.Field, pg.Expr) {
	switch c := condition.(type) {
	case *pg.ColumnRef:
		return ownColumnOf(m, c), c // it is true
	case *pg.Not:
		return ownColumnOf(m, c.Operand), c
	case *pg.Binary:
		if c.Op != "=" {
			return nil, nil
		}
		for _, side := range [][2]pg.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			if f := ownColumnOf(m, side[0]); f != nil && !pg.Mentions(side[1]).Table(m.Table) {
				return f, boundTwice(c, side[0], side[1])
			}
		}
	}
	return nil, nil
}

// boundTwice compares twice with one value, so that Postgres expects few rows and takes the index that begins with the
// column. Postgres does not know whose value it plans for. For a column with few values it expects many rows of each.
// It would look for them along the order, past all rows of the others if it is wrong.
func boundTwice(equal, column, value pg.Expr) pg.Expr {
	switch value.(type) {
	case *pg.Text, *pg.Raw:
		return equal
	}
	return pg.AllOf(equal, pg.Op(column, ">=", value), pg.Op(column, "<=", value))
}

// oneOfField returns the field that a condition compares with several values, and the values as an array.
func oneOfField(m *schema.Model, condition pg.Expr) (*schema.Field, pg.Expr) {
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
func decorrelated(m *schema.Model, q *pg.Select) (*schema.Field, pg.Expr) {
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
				Limit:   pg.Op(mostValues, "+", pg.Lit("1")),
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
func (w way) indexed(keys []sortKey) []*schema.Field {
	fields := slices.Clone(w.equal)
	if w.oneOf != nil && !slices.Contains(fields, w.oneOf) {
		fields = append([]*schema.Field{w.oneOf}, fields...)
	}
	if slices.ContainsFunc(fields, func(f *schema.Field) bool { return f.Name == "id" || f.Unique || f.FKOf != nil && f.FKOf.Unique }) {
		return nil
	}
	// References first: then their own indexes are not needed.
	var references, rest []*schema.Field
	for _, f := range fields {
		if f.FKOf != nil {
			references = append(references, f)
		} else {
			rest = append(rest, f)
		}
	}
	fields = append(references, rest...)
	return fields[:min(len(fields), maxKeys-len(keys))]
}

// admission is the condition of a list's rules on rows: as a whole, and taken apart.
type admission struct {
	rule pg.Expr
	ways []way
}

// everything admits all rows.
func everything() admission { return admission{pg.True(), []way{{condition: pg.True()}}} }

// isPlain tells whether an admission is only one condition.
func (a admission) isPlain() bool { return len(a.ways) == 1 && a.ways[0].oneOf == nil }

// gatherValues finds the values that ways compare columns with; null means that there are more than mostValues.
func (b *builder) gatherValues(a *admission) []pg.Statement {
	var statements []pg.Statement
	ways := slices.Clone(a.ways)
	for i, w := range a.ways {
		if w.oneOf == nil {
			continue
		}
		values := b.variableFor(w.oneOf.Column+"_values", castType(w.oneOf.Type.Kind)+"[]", nil)
		most := pg.Expr(mostValues)
		if isShortArray(w.values) {
			most = pg.Lit(strconv.Itoa(fewValues))
		}
		statements = append(statements, &pg.Assign{Variable: values, Value: pg.Fn("platform.few", w.values, most)})
		ways[i].values, ways[i].isShort = values, isShortArray(w.values)
	}
	a.ways = ways
	return statements
}

// isShortArray tells whether an array is known to have few values.
func isShortArray(e pg.Expr) bool {
	cast, ok := e.(*pg.Cast)
	if !ok {
		return false
	}
	array, ok := cast.Value.(*pg.Array)
	return ok && len(array.Elements) <= fewValues
}

// found selects columns of the rows that a way finds under a condition: the first ones in an order, for each value that
// the way compares a column with.
func (b builder) found(w way, columns []pg.Output, condition pg.Expr, order []pg.Order, limit pg.Expr) *pg.Select {
	if w.oneOf == nil {
		asks := w.condition
		if w.insisting != nil {
			asks = w.insisting
		}
		return &pg.Select{Columns: columns, From: b.related(), Where: pg.AllOf(condition, asks), OrderBy: order, Limit: limit}
	}
	alias := rowAlias("access", b.action)
	rows := &pg.Select{
		From:    b.related(),
		Where:   pg.AllOf(condition, w.isValue(b.table, alias), w.others),
		OrderBy: order,
		Limit:   limit,
	}
	for _, c := range columns {
		if _, ok := c.Value.(*pg.ColumnRef); ok {
			rows.Columns = append(rows.Columns, c)
		}
	}
	return &pg.Select{
		Columns: columns,
		From:    &pg.CallRef{Call: pg.Fn("unnest", w.values), Alias: alias, Columns: []string{"value"}},
		Joins:   []pg.Join{{Kind: "cross join lateral", With: &pg.SubqueryRef{Alias: b.table, Query: rows}}},
	}
}

// isValue is the condition that a row has one of the values that the way compares a column with.
func (w way) isValue(table, alias string) pg.Expr {
	column, value := pg.Col(table, w.oneOf.Column), pg.Col(alias, "value")
	return boundTwice(pg.Eq(column, value), column, value)
}

// keyColumns are the columns that a way selects of its rows, to merge them with those of others.
func keyColumns(keys []sortKey, table string) []pg.Output {
	columns := make([]pg.Output, len(keys))
	for i, k := range keys {
		columns[i] = pg.Output{Value: k.column(table)}
	}
	return columns
}
