package lower

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// filter is an implicit input of a list: a field, of the row or behind relations, and the operators that a request may
// put to it. platform.filter_sql makes their conditions.
type filter struct {
	input *model.Input
	path  expr.Node // from the row
}

// filterPath is the path of an implicit input below where.
func filterPath(in *model.Input) []string {
	if in.Union != nil {
		return []string{in.Union.Name}
	}
	path := make([]string, len(in.Path))
	for i, f := range in.Path {
		path[i] = f.Name
	}
	return path
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

// at is the path of an operator, or of any and all, below where.
func (f filter) at(steps ...string) string { return dotted(append(filterPath(f.input), steps...)) }

// inputOperators returns the operators of a scalar input. The name of the source of a union's rows is filtered as an
// enum.
func inputOperators(in *model.Input) []expr.Filter {
	if isSource(in) {
		return expr.Enum.Filters()
	}
	return in.Type.Kind.Filters()
}

// isSource tells whether an input is the sourceModel or sourceArm of a union.
func isSource(in *model.Input) bool {
	return in.Union != nil && in.Union.BuiltIn && in.Union.Name != "id"
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

// isFolded tells whether an index serves startsWith on an input. Markdown is long, and people search inside it rather
// than by its beginning.
func isFolded(in *model.Input) bool {
	return in.Union == nil && in.Type.Kind == expr.Text && !in.Type.Array
}

// foldedFields returns the fields of a model that lists find by their beginnings.
func foldedFields(s *model.Schema, m *model.Model) []*model.Field {
	isFiltered := func(f *model.Field) bool {
		return slices.ContainsFunc(s.Actions, func(a *model.Action) bool {
			return a.Kind == model.List && !a.Custom && slices.ContainsFunc(a.Reads, func(in *model.Input) bool {
				return len(in.Path) > 0 && in.Path[len(in.Path)-1] == f && isFolded(in)
			})
		})
	}
	return slices.DeleteFunc(slices.Clone(m.Fields), func(f *model.Field) bool { return !isFiltered(f) })
}

// listElement is the alias of the elements of an array. No table has this name.
const listElement = "list__element"

// conditions gathers the conditions of a list on its rows as text: those of @wheres, and of the operators that a request
// puts to the filters. Operands come from the filter, $1.
//
// Conditions on one child of the row are gathered, and become one condition, of those that the request has.
type conditions struct {
	rows   listRows
	x      expression // over a row in the statement
	fields []pg.Filter
	groups []*group
	always []pg.Expr // conditions that every request has
	texts  []pg.Expr // of other conditions
}

// group is a child of the row that has to satisfy all conditions that are gathered for it.
type group struct {
	x      expression
	key    string
	number int
	texts  []pg.Expr
}

// theFilter is the filter inside the statement of a list.
var theFilter = pg.Lit("$1")

// valueInFilter returns the value of an explicit input inside that statement.
func valueInFilter(in expr.Input) pg.Expr {
	return fromJSON(in.InputType(), in.InputOptional(), theFilter, in.InputName())
}

// alsoHolds is a further condition as a fragment of a statement.
func alsoHolds(condition pg.Expr) *pg.Fragment {
	return &pg.Fragment{Prefix: " and ", Value: condition}
}

// listed is a condition of a list: a part of a @where with the inputs without which it does not count, or a filter.
type listed struct {
	conjunct
	inputs []*model.Input
	filter *filter
}

// conditionsOf gathers conditions of a list over rows.
func conditionsOf(rows listRows, wheres []*model.Where, filters []filter) *conditions {
	c := &conditions{rows: rows, x: rows.expression(whereLogic, valueInFilter)}
	var list []listed
	for _, w := range wheres {
		for _, part := range partsOf(rows.over(w.Expression)) {
			list = append(list, listed{conjunct: part, inputs: optionalInputs(w)})
		}
	}
	for _, f := range filters {
		list = append(list, listed{conjunct: conjunct{prefixes: expr.Prefixes(f.path)}, filter: &f})
	}
	for _, together := range sharing(c.x, list, func(l listed) []expr.Prefix { return l.prefixes }) {
		c.add(together)
	}
	return c
}

// add adds conditions that share a child of the row, or a single one.
func (c *conditions) add(together []listed) {
	inputs := together[0].inputs
	switch {
	case !slices.ContainsFunc(together, func(l listed) bool { return l.filter != nil || !slices.Equal(l.inputs, inputs) }):
		condition := c.x.group(conjunctsIn(together))
		if len(inputs) == 0 {
			c.always = append(c.always, condition)
		} else {
			c.texts = append(c.texts, ifGiven(inputs, condition))
		}
	case !slices.ContainsFunc(together, func(l listed) bool { return l.filter == nil && !needsChildren(c.x, l.conjunct) }):
		for _, l := range together {
			at := c.groupOf(l.prefixes)
			if l.filter != nil {
				c.addFields(at, *l.filter)
			} else {
				at.texts = append(at.texts, ifGiven(l.inputs, l.lower(at.x)))
			}
		}
	default:
		c.texts = append(c.texts, c.template(together))
	}
}

func conjunctsIn(list []listed) []conjunct {
	conjuncts := make([]conjunct, len(list))
	for i, l := range list {
		conjuncts[i] = l.conjunct
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
		given[i] = hasMember(member(input, "where"), in.Name)
	}
	return &pg.Case{Whens: []pg.When{{Condition: pg.AllOf(given...), Result: alsoHolds(condition)}}, Else: pg.Str("")}
}

// needsChildren tells whether a condition needs the children that are the witnesses of its prefixes, each the child of
// another: then it can be gathered.
func needsChildren(x expression, c conjunct) bool {
	for i, p := range c.prefixes {
		if i > 0 && !begins(c.prefixes[i-1], p) || p.Root != expr.RootRow {
			return false
		}
		without := x
		without.witnesses = maps.Clone(x.witnesses)
		without.witnesses[p.Key()] = nil
		if !pg.IsFalse(c.lower(without)) {
			return false
		}
		_, x = x.bindWitness(p)
	}
	return true
}

// begins tells whether a prefix is the beginning of another one.
func begins(p, other expr.Prefix) bool {
	return len(p.Steps) < len(other.Steps) && p.Key() == (expr.Prefix{Root: other.Root, Steps: other.Steps[:len(p.Steps)]}).Key()
}

// groupOf returns the group for the children of prefixes, each the child of another: the row itself has the number 0.
func (c *conditions) groupOf(prefixes []expr.Prefix) *group {
	at := &group{x: c.x}
	for _, p := range prefixes {
		known := slices.IndexFunc(c.groups, func(g *group) bool { return g.key == p.Key() })
		if known >= 0 {
			at = c.groups[known]
			continue
		}
		j, with := at.x.bindWitness(p)
		q := j.query(nil, nil)
		at = c.open(at, &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where}, with, p.Key())
	}
	return at
}

// open opens a group within another one.
func (c *conditions) open(in *group, rows *pg.QueryTail, x expression, key string) *group {
	g := &group{x: x, key: key, number: len(c.groups) + 1}
	c.groups = append(c.groups, g)
	c.fields = append(c.fields, pg.Filter{Name: fmt.Sprint(g.number), Rows: rows, Group: in.number})
	return g
}

// addFields adds what platform.filter_sql makes the conditions of a filter of. Those of any are on one and the same
// element of an array.
func (c *conditions) addFields(at *group, f filter) {
	kind, isArray := FilterKind(expr.Type{Kind: f.input.Type.Kind}), f.input.Type.Array
	switch {
	case isFolded(f.input):
		kind = "indexed Text"
	case isSource(f.input):
		kind = "Enum"
	}
	value := at.x.operand(f.path)
	q := &pg.Select{}
	if value.joins != nil {
		q = value.joins.query(nil, nil)
	}
	add := func(name, kind string, mayBeNull bool) {
		field := pg.Filter{Name: name, Kind: kind, Value: value.value, Group: at.number}
		if mayBeNull {
			field.Kind += "?"
		}
		if value.joins != nil {
			field.Rows = &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where}
		} else {
			field.Value = value.scalar()
		}
		c.fields = append(c.fields, field)
	}
	if !isArray {
		add(f.at(), kind, f.input.PassesOptional())
		return
	}
	add(f.at(), kind+"[]", f.input.PassesOptional())
	add(f.at("all"), "all "+kind, f.endsOptional())
	elements := &pg.CallRef{Call: pg.Fn("unnest", value.scalar()), Alias: listElement, Columns: []string{"value"}}
	rows := &pg.QueryTail{From: elements, Where: pg.True()}
	if value.joins != nil {
		elements.Call = pg.Fn("unnest", value.value)
		rows = &pg.QueryTail{
			From: q.From, Joins: append(slices.Clone(q.Joins), pg.Join{Kind: "cross join", With: elements}), Where: q.Where,
		}
	}
	any := c.open(at, rows, at.x, f.at("any"))
	c.fields = append(c.fields, pg.Filter{Name: f.at("any"), Kind: kind, Value: pg.Col(listElement, "value"), Group: any.number})
}

// endsOptional tells whether the field itself is optional, regardless of its path.
func (f filter) endsOptional() bool {
	if f.input.Union != nil {
		return f.input.Union.Optional
	}
	return f.input.Path[len(f.input.Path)-1].Optional
}

// template is the text of conditions of which some may hold without the child that the others need. Operators that are
// sent are put into it. Where there is no child, it holds if none was sent.
func (c *conditions) template(together []listed) pg.Expr {
	var sent []pg.Expr
	insert := func(text pg.Expr) pg.Expr {
		sent = append(sent, text)
		return pg.Lit(fmt.Sprintf("%%%d$s", len(sent)))
	}
	conjuncts := conjunctsIn(together)
	for i, l := range together {
		var absent []pg.Expr
		for _, in := range l.inputs {
			absent = append(absent, pg.IsNull(member(theFilter, in.Name)))
		}
		if absent != nil {
			conjuncts[i].absent = pg.AnyOf(absent...)
		}
		if l.filter == nil {
			continue
		}
		conjuncts[i].lower = func(x expression) pg.Expr {
			if open := x.unbound(l.prefixes); open != nil {
				return x.withWitness(*open, conjuncts[i:i+1])
			}
			if slices.ContainsFunc(l.prefixes, func(p expr.Prefix) bool { start, _ := x.start(p.Root, p.Steps); return start == nil }) {
				bound := c.x
				for _, p := range l.prefixes {
					_, bound = bound.bindWitness(p)
				}
				isNone := pg.Op(l.filter.operators(bound), "=", pg.Str(""))
				return insert(&pg.Case{Whens: []pg.When{{Condition: isNone, Result: pg.Str("true")}}, Else: pg.Str("false")})
			}
			return insert(concatenated(pg.Str("true"), l.filter.operators(x)))
		}
		c.leaveOut(*l.filter)
	}
	condition := pg.Replace(c.x.group(conjuncts), func(e pg.Expr) pg.Expr {
		if t, ok := e.(*pg.Text); ok {
			return pg.Str(strings.ReplaceAll(t.Value, "%", "%%"))
		}
		return nil
	})
	return pg.Fn("format", append([]pg.Expr{alsoHolds(condition)}, sent...)...)
}

// operators is the text of the conditions of a filter alone.
func (f filter) operators(x expression) pg.Expr {
	c := &conditions{}
	c.addFields(&group{x: x}, f)
	return c.operators(anywhere)
}

// leaveOut tells that the operators of a filter have their conditions in another place.
func (c *conditions) leaveOut(f filter) {
	c.fields = append(c.fields, pg.Filter{Name: f.at()})
	if f.input.Type.Array {
		c.fields = append(c.fields, pg.Filter{Name: f.at("all")}, pg.Filter{Name: f.at("any")})
	}
}

// text is all of the conditions.
func (c *conditions) text(elsewhere pg.Expr) pg.Expr {
	return concatenated(slices.Concat([]pg.Expr{alsoHolds(pg.AllOf(c.always...))}, c.texts, []pg.Expr{c.operators(elsewhere)})...)
}

// anywhere tells platform.filter_sql that other operators have their conditions in another place.
var anywhere = pg.Null()

// operators is the text of the conditions of operators and of groups.
func (c *conditions) operators(elsewhere pg.Expr) pg.Expr {
	arguments := []pg.Expr{input, &pg.Filters{Fields: c.fields}}
	if len(c.groups) > 0 {
		texts := make([]pg.Expr, len(c.groups))
		for i, g := range c.groups {
			texts[i] = concatenated(append([]pg.Expr{pg.Str("")}, g.texts...)...)
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
