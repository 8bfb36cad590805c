package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// lookUp returns the condition that finds the row of a get, update or delete: its implicit read inputs and its @wheres,
// as one expression.
//
// If the request decides which inputs pin the row, the function looks for its id first, by a statement for each set of
// them: one statement for all could use no index, or Postgres would have to plan it for every call.
func (b *builder) lookUp() pg.Expr {
	sets := PinningInputs(b.action)
	if len(sets) == 0 {
		return b.isFound(nil)
	}
	id := b.variable("v_found_id", "text", nil)
	var branches []pg.IfBranch
	for _, set := range sets {
		query := &pg.Select{
			Columns: []pg.Output{{Value: pg.Col(b.table, "id")}},
			From:    pg.Ref(relatedSchema, b.table),
			Where:   b.isFound(set),
		}
		branches = append(branches, pg.IfBranch{
			Condition: pg.Negate(b.lacksAny(set)),
			Then:      []pg.Statement{&pg.Assign{Variable: id, Value: &pg.Subquery{Query: query}}},
		})
	}
	b.step("The row that the inputs pin. A request gives some of them.", &pg.If{Branches: branches})
	found := pg.Eq(pg.Col(b.table, "id"), id)
	if b.action.Kind == model.Get {
		return found
	}
	return pg.AllOf(found, b.isFound(nil)) // another call may have changed the row meanwhile
}

// isFound is the condition of all look-up inputs and @wheres that count. Those that need only given inputs always
// count.
func (b *builder) isFound(given []*model.Input) pg.Expr {
	var conjuncts []conjunct
	for _, in := range b.action.Reads {
		if in.Explicit {
			continue
		}
		b.value(in) // declared here, in the order of the inputs
		equal := []conjunct{b.equalsInput(in, rowPath(b.model, in))}
		if in.Optional && !slices.Contains(given, in) {
			equal = unlessAbsent(b.isAbsent(in), equal)
		}
		conjuncts = append(conjuncts, equal...)
	}
	for _, w := range b.action.Wheres {
		parts := partsOf(w.Expression)
		needed := slices.DeleteFunc(optionalInputs(w), func(in *model.Input) bool { return slices.Contains(given, in) })
		if len(needed) > 0 {
			parts = unlessAbsent(b.lacksAny(needed), parts)
		}
		conjuncts = append(conjuncts, parts...)
	}
	return b.expression(whereLogic, inQuery).conjunction(conjuncts)
}

// equalsInput is the condition that the value at an implicit input's path, in an arm of a union any value, is that of
// the input.
func (b *builder) equalsInput(in *model.Input, path expr.Node) conjunct {
	return passing(path, func(x expression) pg.Expr {
		return x.compare(syntax.Equal, x.operand(path), operand{value: b.value(in), typ: in.Type, nullable: in.Nullable})
	})
}

// rowPath is the path of an implicit input as expressions spell it.
func rowPath(m *model.Model, in *model.Input) *expr.Path {
	steps := make([]expr.Step, len(in.Path))
	for i, f := range in.Path {
		steps[i] = f
	}
	return expr.RowPath(m.Name, steps, in.Span)
}

// passing is a condition on the field at the end of a path; in an arm of a union a literal may be in its place.
func passing(n expr.Node, lower func(expression) pg.Expr) conjunct {
	c := conjunct{prefixes: expr.Prefixes(n)}
	c.lower = func(x expression) pg.Expr {
		if open := x.unbound(c.prefixes); open != nil {
			return x.withWitness(*open, []conjunct{c})
		}
		if p, ok := n.(*expr.Path); ok {
			if start, _ := x.start(p.Root, p.Steps); start == nil {
				return pg.False() // it leads through a to-many without child
			}
		}
		return lower(x)
	}
	return c
}

// optionalInputs returns the inputs whose absence makes a @where be skipped.
func optionalInputs(w *model.Where) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(w.Expression).Inputs {
		if in := in.(*model.Input); in.Optional {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// lacksAny tells whether a request leaves out any of some inputs.
func (b *builder) lacksAny(inputs []*model.Input) pg.Expr {
	conditions := make([]pg.Expr, len(inputs))
	for i, in := range inputs {
		conditions[i] = b.isAbsent(in)
	}
	return pg.AnyOf(conditions...)
}

// isAbsent tells whether a request leaves out an optional input. It is never null.
func (b *builder) isAbsent(in *model.Input) pg.Expr {
	if !in.Nullable {
		return pg.IsNull(b.value(in))
	}
	given := b.isGivenInput(in)
	if len(requestPath(b.action, in)) > 1 {
		return &pg.Is{Value: given, Test: "not true"} // the object around it may be missing too
	}
	return pg.Negate(given)
}
