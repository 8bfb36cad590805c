package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// filter is an implicit input of a list: a field, of the row or behind relations, and
// the operators that a request may put to it.
type filter struct {
	input *model.Input
	path  expr.Node // from the row; in an arm of a union also a literal
}

// filters returns the implicit inputs of a list.
func filters(a *model.Action) []filter {
	var list []filter
	for _, in := range a.Reads {
		if !in.Explicit {
			list = append(list, filter{in, listPath(a.Model, in)})
		}
	}
	return list
}

// listPath is the path of an implicit input of a list, by the copies that the model has.
func listPath(m *model.Model, in *model.Input) *expr.Path {
	var steps []expr.Step
	for _, f := range in.AlongCopies() {
		steps = append(steps, f)
	}
	return expr.RowPath(m.Name, steps, in.Span)
}

// isNullable tells whether the field has no value in some rows: it is optional, or its
// path passes an optional to-one.
func (f filter) isNullable() bool { return f.input.PassesOptional() }

// operators returns the operators on the value as a whole.
func (f filter) operators() []operator {
	if f.input.Type.Array {
		return operators(expr.ArrayFilters())
	}
	return inputOperators(f.input)
}

// at is the path of an operator, or of any and all, below where.
func (f filter) at(steps ...string) []string { return append(filterPath(f.input), steps...) }

// named is such a path as the operators of a request spell it.
func (f filter) named(steps ...string) pg.Expr { return pg.Str(dotted(f.at(steps...))) }

// sql is what platform.filter_sql makes the conditions on the value as a whole of.
func (f filter) sql(x expression) pg.Filter {
	kind := f.kind()
	if f.input.Type.Array {
		kind += "[]"
	}
	return f.described(x, f.at(), kind, f.isNullable())
}

// allSQL is the same for the conditions that all elements of an array must satisfy.
func (f filter) allSQL(x expression) pg.Filter {
	return f.described(x, f.at("all"), "all "+f.kind(), f.endsOptional())
}

// elementSQL is the same for the conditions on one element.
func (f filter) elementSQL() pg.Filter {
	return pg.Filter{Name: dotted(f.at("any")), Kind: f.kind(), Value: f.element()}
}

func (f filter) described(x expression, path []string, kind string, isNullable bool) pg.Filter {
	if isNullable {
		kind += "?"
	}
	value := x.operand(f.path)
	if value.joins == nil {
		return pg.Filter{Name: dotted(path), Kind: kind, Value: value.scalar()}
	}
	q := value.joins.query(nil, nil)
	return pg.Filter{
		Name: dotted(path), Kind: kind, Value: value.value,
		Rows: &pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where},
	}
}

// kind is the kind of a value, or of the elements of an array, as platform.operators names it.
func (f filter) kind() string {
	switch {
	case isFolded(f.input):
		return indexedText
	case isSource(f.input):
		return "Enum"
	}
	return FilterKind(expr.Type{Kind: f.input.Type.Kind})
}

// indexedText is the kind of a text that an index serves by its beginning.
const indexedText = "indexed Text"

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

// holds is the condition of an operator whose operand is not null. given is the
// filter that holds the operand.
func (f filter) holds(x expression, o operator, given pg.Expr) pg.Expr {
	value := x.operand(f.path)
	path := f.at(o.name)
	return value.rejectingNull(func(v pg.Expr) pg.Expr {
		if f.input.Type.Array {
			return o.condition(v, whole(f.input.Type, given, path))
		}
		if o.name == "startsWith" && isFolded(f.input) {
			return beginsWith(v, memberText(given, path...))
		}
		return o.apply(f.input.Type.Kind, v, given, path)
	})
}

// whole is the operand at a path as a value of a type.
func whole(t expr.Type, given pg.Expr, path []string) pg.Expr {
	if t.Array {
		return castTo(pg.Fn("platform.texts", member(given, path...)), elementType(t), "[]")
	}
	return fromJSON(t, false, given, path...)
}

// holdsOfAll is the condition that an operator holds of all elements of an array.
func (f filter) holdsOfAll(x expression, o operator, given pg.Expr) pg.Expr {
	fails := pg.Negate(o.apply(f.input.Type.Kind, f.element(), given, f.at("all", o.name)))
	return x.operand(f.path).rejectingNull(func(v pg.Expr) pg.Expr {
		holds := pg.Negate(&pg.Exists{Query: &pg.Select{From: f.elements(v), Where: fails}})
		if f.endsOptional() {
			return pg.AllOf(holds, pg.IsNotNull(v)) // null has no elements, yet all matches none of it
		}
		return holds
	})
}

// endsOptional tells whether the field itself is optional, regardless of its path.
func (f filter) endsOptional() bool {
	if f.input.Union != nil {
		return f.input.Union.Optional
	}
	return f.input.Path[len(f.input.Path)-1].Optional
}

// holdsOfElement is the condition of an operator on one element of an array.
func (f filter) holdsOfElement(o operator, given pg.Expr) pg.Expr {
	return o.apply(f.input.Type.Kind, f.element(), given, f.at("any", o.name))
}

// elementsQuery is the part of a query that yields the elements of an array. The conditions on one of them may follow.
func (f filter) elementsQuery(x expression) *pg.QueryTail {
	value := x.operand(f.path)
	if value.joins == nil {
		return &pg.QueryTail{From: f.elements(value.scalar()), Where: pg.True()}
	}
	q := value.joins.query(nil, nil)
	elements := pg.Join{Kind: "cross join", With: f.elements(value.value)}
	return &pg.QueryTail{From: q.From, Joins: append(q.Joins[:len(q.Joins):len(q.Joins)], elements), Where: q.Where}
}

// element is the element of the array that a condition is about.
func (f filter) element() pg.Expr { return pg.Col(listElement, "value") }

// elements is the rows source of an array's elements.
func (f filter) elements(array pg.Expr) *pg.CallRef {
	return &pg.CallRef{Call: pg.Fn("unnest", array), Alias: listElement, Columns: []string{"value"}}
}

// listElement is the alias of the elements of an array. No table has this name.
const listElement = "list__element"

// conjuncts returns the conditions of a filter on a row as conjuncts. Each counts where the request has its operator.
// It serves where the conditions of a list share a child with other conditions of the list.
func (f filter) conjuncts(given pg.Expr) []conjunct {
	var list []conjunct
	add := func(absent pg.Expr, lower func(expression) pg.Expr) {
		list = append(list, unlessAbsent(absent, []conjunct{passing(f.path, lower)})...)
	}
	for _, o := range f.operators() {
		add(pg.IsNull(member(given, f.at(o.name)...)), func(x expression) pg.Expr {
			if o.nullable && f.isNullable() {
				// An operand that is JSON's null reads as null.
				op := "is not distinct from"
				if o.unset {
					op = "is distinct from"
				}
				return pg.Op(x.operand(f.path).scalar(), op, fromJSON(f.input.Type, true, given, f.at(o.name)...))
			}
			return f.holds(x, o, given)
		})
	}
	if !f.input.Type.Array {
		return list
	}
	for _, o := range elementOperatorsOf(f.input.Type.Kind) {
		add(pg.IsNull(member(given, f.at("all", o.name)...)), func(x expression) pg.Expr { return f.holdsOfAll(x, o, given) })
	}
	add(pg.IsNull(member(given, f.at("any")...)), func(x expression) pg.Expr {
		q := f.elementsQuery(x)
		var conditions []pg.Expr
		for _, o := range elementOperatorsOf(f.input.Type.Kind) {
			conditions = append(conditions, pg.AnyOf(pg.IsNull(member(given, f.at("any", o.name)...)), f.holdsOfElement(o, given)))
		}
		return &pg.Exists{Query: &pg.Select{From: q.From, Joins: q.Joins, Where: pg.AllOf(append(conditions, q.Where)...)}}
	})
	return list
}

// isFolded tells whether an index serves startsWith on an input. Markdown is long, and people search inside it rather
// than by its beginning.
func isFolded(in *model.Input) bool {
	return in.Union == nil && in.Type.Kind == expr.Text && !in.Type.Array
}

// foldedFields returns the fields of a model that lists find by their beginnings.
func foldedFields(s *model.Schema, m *model.Model) []*model.Field {
	var fields []*model.Field
	for _, f := range m.Fields {
		if slices.ContainsFunc(s.Actions, func(a *model.Action) bool { return a.Kind == model.List && !a.Custom && filtersBy(a, f) }) {
			fields = append(fields, f)
		}
	}
	return fields
}

func filtersBy(a *model.Action, f *model.Field) bool {
	return slices.ContainsFunc(a.Reads, func(in *model.Input) bool {
		return len(in.Path) > 0 && in.Path[len(in.Path)-1] == f && isFolded(in)
	})
}
