package list

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Filter is an implicit input of a list: a field, of the row or behind relations, and the operators that a request may
// put to it. platform.filter_sql makes their conditions.
type Filter struct {
	Input *model.Input
	path  expr.Node // from the row
}

// listPath is the path of an implicit input of a list, by the copies that the model has.
func listPath(m *model.Model, in *model.Input) *expr.Path {
	var steps []expr.Step
	for _, f := range in.AlongCopies() {
		steps = append(steps, f)
	}
	return expr.RowPath(m.Name, steps, in.Span)
}

// dotted is a path of the filter as the operators of a request spell it.
func dotted(path []string) string { return strings.Join(path, ".") }

// At is the path of an operator, or of any and all, below where.
func (f Filter) At(steps ...string) string {
	return dotted(append(value.FilterPath(f.Input), steps...))
}

// FilterKind is the name of a type in platform.operators.
func FilterKind(t expr.Type) string {
	name := t.Kind.String()
	switch t.Kind {
	case expr.Enum:
		name = "Enum"
	case expr.Markdown:
		name = "Text"
	}
	if t.Array {
		name += "[]"
	}
	return name
}

// listElement is the alias of the elements of an array. No table has this name.
const listElement = "list__element"

// Conditions gathers the conditions of a list on its rows as text: those of @wheres, and of the operators that a request
// puts to the filters. Operands come from the filter, $1.
//
// Conditions on one child of the row are gathered, and become one condition, of those that the request has.
type Conditions struct {
	rows   ListRows
	x      value.Expression // over a row in the statement
	fields []pg.Filter
	groups []*Group
	always []pg.Expr // conditions that every request has
	texts  []pg.Expr // of other conditions
}

// Group is a child of the row that has to satisfy all conditions that are gathered for it.
type Group struct {
	X      value.Expression
	key    string
	number int
	texts  []pg.Expr
}

// theFilter is the filter inside the statement of a list.
var theFilter = pg.Lit("$1")

// ValueInFilter returns the value of an explicit input inside that statement.
func ValueInFilter(in expr.Input) pg.Expr {
	return value.FromJSON(in.InputType(), in.InputOptional(), theFilter, in.InputName())
}

// alsoHolds is a further condition as a fragment of a statement.
func alsoHolds(condition pg.Expr) *pg.Fragment {
	return &pg.Fragment{Prefix: " and ", Value: condition}
}

// listed is a condition of a list: a part of a @where with the inputs without which it does not count, or a filter.
type listed struct {
	value.Conjunct
	inputs []*model.Input
	filter *Filter
}

// ConditionsOf gathers conditions of a list over rows.
func ConditionsOf(rows ListRows, wheres []*model.Where, filters []Filter) *Conditions {
	c := &Conditions{rows: rows, x: rows.Expression(value.WhereLogic, ValueInFilter)}
	var list []listed
	for _, w := range wheres {
		for _, part := range value.PartsOf(rows.Over(w.Expression)) {
			list = append(list, listed{Conjunct: part, inputs: call.OptionalInputs(w)})
		}
	}
	for _, f := range filters {
		list = append(list, listed{Conjunct: value.Conjunct{Prefixes: expr.Prefixes(f.path)}, filter: &f})
	}
	for _, together := range value.Sharing(c.x, list, func(l listed) []expr.Prefix { return l.Prefixes }) {
		c.add(together)
	}
	return c
}

// add adds conditions that share a child of the row, or a single one.
func (c *Conditions) add(together []listed) {
	inputs := together[0].inputs
	switch {
	case !slices.ContainsFunc(together, func(l listed) bool { return l.filter != nil || !slices.Equal(l.inputs, inputs) }):
		condition := c.x.Group(conjunctsIn(together))
		if len(inputs) == 0 {
			c.always = append(c.always, condition)
		} else {
			c.texts = append(c.texts, ifGiven(inputs, condition))
		}
	case !slices.ContainsFunc(together, func(l listed) bool { return l.filter == nil && !needsChildren(c.x, l.Conjunct) }):
		for _, l := range together {
			at := c.groupOf(l.Prefixes)
			if l.filter != nil {
				c.AddFields(at, *l.filter)
			} else {
				at.texts = append(at.texts, ifGiven(l.inputs, l.Lower(at.X)))
			}
		}
	default:
		c.texts = append(c.texts, c.template(together))
	}
}

func conjunctsIn(list []listed) []value.Conjunct {
	conjuncts := make([]value.Conjunct, len(list))
	for i, l := range list {
		conjuncts[i] = l.Conjunct
	}
	return conjuncts
}

// ifGiven is a condition as text, if the request has inputs.
func ifGiven(inputs []*model.Input, condition pg.Expr) pg.Expr {
	if len(inputs) == 0 {
		return alsoHolds(condition)
	}
	given := make([]pg.Expr, len(inputs))
	for i, in := range inputs {
		given[i] = value.HasMember(value.Member(value.Input, "where"), in.Name)
	}
	return &pg.Case{Whens: []pg.When{{Condition: pg.AllOf(given...), Result: alsoHolds(condition)}}, Else: pg.Str("")}
}

// needsChildren tells whether a condition needs the children that are the witnesses of its prefixes, each the child of
// another: then it can be gathered.
func needsChildren(x value.Expression, c value.Conjunct) bool {
	for i, p := range c.Prefixes {
		if i > 0 && !begins(c.Prefixes[i-1], p) || p.Root != expr.RootRow {
			return false
		}
		without := x
		without.Witnesses = maps.Clone(x.Witnesses)
		without.Witnesses[p.Key()] = nil
		if !pg.IsFalse(c.Lower(without)) {
			return false
		}
		_, x = x.BindWitness(p)
	}
	return true
}

// begins tells whether a prefix is the beginning of another one.
func begins(p, other expr.Prefix) bool {
	return len(p.Steps) < len(other.Steps) && p.Key() == (expr.Prefix{Root: other.Root, Steps: other.Steps[:len(p.Steps)]}).Key()
}

// groupOf returns the group for the children of prefixes, each the child of another: the row itself has the number 0.
func (c *Conditions) groupOf(prefixes []expr.Prefix) *Group {
	at := &Group{X: c.x}
	for _, p := range prefixes {
		known := slices.IndexFunc(c.groups, func(g *Group) bool { return g.key == p.Key() })
		if known >= 0 {
			at = c.groups[known]
			continue
		}
		j, with := at.X.BindWitness(p)
		q := j.Query(nil, nil)
		at = c.open(at, &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where}, with, p.Key())
	}
	return at
}

// open opens a group within another one.
func (c *Conditions) open(in *Group, rows *pg.QueryTail, x value.Expression, key string) *Group {
	g := &Group{X: x, key: key, number: len(c.groups) + 1}
	c.groups = append(c.groups, g)
	c.fields = append(c.fields, pg.Filter{Name: fmt.Sprint(g.number), Rows: rows, Group: in.number})
	return g
}

// AddFields adds what platform.filter_sql makes the conditions of a filter of. Those of any are on one and the same
// element of an array.
func (c *Conditions) AddFields(at *Group, f Filter) {
	kind, isArray := FilterKind(expr.Type{Kind: f.Input.Type.Kind}), f.Input.Type.Array
	switch {
	case isFolded(f.Input):
		kind = "indexed Text"
	case value.IsSource(f.Input):
		kind = "Enum"
	}
	value := at.X.Operand(f.path)
	q := &pg.Select{}
	if value.Joins != nil {
		q = value.Joins.Query(nil, nil)
	}
	add := func(name, kind string, mayBeNull bool) {
		field := pg.Filter{Name: name, Kind: kind, Value: value.Value, Group: at.number}
		if mayBeNull {
			field.Kind += "?"
		}
		if value.Joins != nil {
			field.Rows = &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where}
		} else {
			field.Value = value.Scalar()
		}
		c.fields = append(c.fields, field)
	}
	if !isArray {
		add(f.At(), kind, f.Input.PassesOptional())
		return
	}
	add(f.At(), kind+"[]", f.Input.PassesOptional())
	add(f.At("all"), "all "+kind, f.endsOptional())
	elements := &pg.CallRef{Call: pg.Fn("unnest", value.Scalar()), Alias: listElement, Columns: []string{"value"}}
	rows := &pg.QueryTail{From: elements, Where: pg.True()}
	if value.Joins != nil {
		elements.Call = pg.Fn("unnest", value.Value)
		rows = &pg.QueryTail{
			From: q.From, Joins: append(slices.Clone(q.Joins), pg.Join{Kind: "cross join", With: elements}), Where: q.Where,
		}
	}
	any := c.open(at, rows, at.X, f.At("any"))
	c.fields = append(c.fields, pg.Filter{Name: f.At("any"), Kind: kind, Value: pg.Col(listElement, "value"), Group: any.number})
}

// endsOptional tells whether the field itself is optional, regardless of its path.
func (f Filter) endsOptional() bool {
	if f.Input.Union != nil {
		return f.Input.Union.Optional
	}
	return f.Input.Path[len(f.Input.Path)-1].Optional
}

// template is the text of conditions of which some may hold without the child that the others need. Operators that are
// sent are put into it. Where there is no child, it holds if none was sent.
func (c *Conditions) template(together []listed) pg.Expr {
	var sent []pg.Expr
	insert := func(text pg.Expr) pg.Expr {
		sent = append(sent, text)
		return pg.Lit(fmt.Sprintf("%%%d$s", len(sent)))
	}
	conjuncts := conjunctsIn(together)
	for i, l := range together {
		var absent []pg.Expr
		for _, in := range l.inputs {
			absent = append(absent, pg.IsNull(value.Member(theFilter, in.Name)))
		}
		if absent != nil {
			conjuncts[i].Absent = pg.AnyOf(absent...)
		}
		if l.filter == nil {
			continue
		}
		conjuncts[i].Lower = func(x value.Expression) pg.Expr {
			if open := x.Unbound(l.Prefixes); open != nil {
				return x.WithWitness(*open, conjuncts[i:i+1])
			}
			if slices.ContainsFunc(l.Prefixes, func(p expr.Prefix) bool { start, _ := x.Start(p.Root, p.Steps); return start == nil }) {
				bound := c.x
				for _, p := range l.Prefixes {
					_, bound = bound.BindWitness(p)
				}
				isNone := pg.Op(l.filter.operators(bound), "=", pg.Str(""))
				return insert(&pg.Case{Whens: []pg.When{{Condition: isNone, Result: pg.Str("true")}}, Else: pg.Str("false")})
			}
			return insert(call.Concatenated(pg.Str("true"), l.filter.operators(x)))
		}
		c.leaveOut(*l.filter)
	}
	condition := pg.Replace(c.x.Group(conjuncts), func(e pg.Expr) pg.Expr {
		if t, ok := e.(*pg.Text); ok {
			return pg.Str(strings.ReplaceAll(t.Value, "%", "%%"))
		}
		return nil
	})
	return pg.Fn("format", append([]pg.Expr{alsoHolds(condition)}, sent...)...)
}

// operators is the text of the conditions of a filter alone.
func (f Filter) operators(x value.Expression) pg.Expr {
	c := &Conditions{}
	c.AddFields(&Group{X: x}, f)
	return c.Operators(Anywhere)
}

// leaveOut tells that the operators of a filter have their conditions in another place.
func (c *Conditions) leaveOut(f Filter) {
	c.fields = append(c.fields, pg.Filter{Name: f.At()})
	if f.Input.Type.Array {
		c.fields = append(c.fields, pg.Filter{Name: f.At("all")}, pg.Filter{Name: f.At("any")})
	}
}

// Text is all of the conditions.
func (c *Conditions) Text(elsewhere pg.Expr) pg.Expr {
	return call.Concatenated(slices.Concat([]pg.Expr{alsoHolds(pg.AllOf(c.always...))}, c.texts, []pg.Expr{c.Operators(elsewhere)})...)
}

// Anywhere tells platform.filter_sql that other operators have their conditions in another place.
var Anywhere = pg.Null()

// Operators is the text of the conditions of operators and of groups.
func (c *Conditions) Operators(elsewhere pg.Expr) pg.Expr {
	arguments := []pg.Expr{value.Input, &pg.Filters{Fields: c.fields}}
	if len(c.groups) > 0 {
		texts := make([]pg.Expr, len(c.groups))
		for i, g := range c.groups {
			texts[i] = call.Concatenated(append([]pg.Expr{pg.Str("")}, g.texts...)...)
		}
		if elsewhere == nil {
			elsewhere = pg.Str("{}")
		}
		arguments = append(arguments, elsewhere, &pg.Array{Elements: texts})
	} else if elsewhere != nil {
		arguments = append(arguments, elsewhere)
	}
	return pg.Fn("platform.filter_sql", arguments...)
}
