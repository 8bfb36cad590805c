package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// lookUp returns the condition that finds the row of a get, update or delete: its implicit read inputs and its @wheres,
// as one expression.
//
// If the request decides which inputs pin the row, the function looks for its id first, by a statement for each set of
// them: one statement for all could use no index, or Postgres would have to plan it for every call.
func (b *Builder) lookUp() pg.Expr {
	sets := PinningInputs(b.Action)
	if len(sets) == 0 {
		return b.isFound(nil)
	}
	id := b.Variable("v_found_id", "text", nil)
	var branches []pg.IfBranch
	for _, set := range sets {
		query := &pg.Select{
			Columns: []pg.Output{{Value: pg.Col(b.Table, "id")}},
			From:    pg.Ref(value.RelatedSchema, b.Table),
			Where:   b.isFound(set),
		}
		branches = append(branches, pg.IfBranch{
			Condition: pg.Negate(b.LacksAny(set)),
			Then:      []pg.Statement{&pg.Assign{Variable: id, Value: &pg.Subquery{Query: query}}},
		})
	}
	b.Step("The row that the inputs pin. A request gives some of them.", &pg.If{Branches: branches})
	found := pg.Eq(pg.Col(b.Table, "id"), id)
	if b.Action.Kind == model.Get {
		return found
	}
	return pg.AllOf(found, b.isFound(nil)) // another call may have changed the row meanwhile
}

// isFound is the condition of all look-up inputs and @wheres that count. Those that need only given inputs always
// count.
func (b *Builder) isFound(given []*model.Input) pg.Expr {
	var conjuncts []value.Conjunct
	for _, in := range b.Action.Reads {
		if in.Explicit {
			continue
		}
		b.Value(in) // declared here, in the order of the inputs
		equal := []value.Conjunct{b.EqualsInput(in, RowPath(b.Model, in))}
		if in.Optional && !slices.Contains(given, in) {
			equal = value.UnlessAbsent(b.IsAbsent(in), equal)
		}
		conjuncts = append(conjuncts, equal...)
	}
	for _, w := range b.Action.Wheres {
		parts := value.PartsOf(w.Expression)
		needed := slices.DeleteFunc(OptionalInputs(w), func(in *model.Input) bool { return slices.Contains(given, in) })
		if len(needed) > 0 {
			parts = value.UnlessAbsent(b.LacksAny(needed), parts)
		}
		conjuncts = append(conjuncts, parts...)
	}
	return b.Expression(value.WhereLogic, value.InQuery).Conjunction(conjuncts)
}

// EqualsInput is the condition that the value at an implicit input's path, in an arm of a union any value, is that of
// the input.
func (b *Builder) EqualsInput(in *model.Input, path expr.Node) value.Conjunct {
	return Passing(path, func(x value.Expression) pg.Expr {
		return x.Compare(syntax.Equal, x.Operand(path), value.Operand{Value: b.Value(in), Typ: in.Type, Nullable: in.Nullable})
	})
}

// RowPath is the path of an implicit input as expressions spell it.
func RowPath(m *model.Model, in *model.Input) *expr.Path {
	steps := make([]expr.Step, len(in.Path))
	for i, f := range in.Path {
		steps[i] = f
	}
	return expr.RowPath(m.Name, steps, in.Span)
}

// Passing is a condition on the field at the end of a path; in an arm of a union a literal may be in its place.
func Passing(n expr.Node, lower func(value.Expression) pg.Expr) value.Conjunct {
	c := value.Conjunct{Prefixes: expr.Prefixes(n)}
	c.Lower = func(x value.Expression) pg.Expr {
		if open := x.Unbound(c.Prefixes); open != nil {
			return x.WithWitness(*open, []value.Conjunct{c})
		}
		if p, ok := n.(*expr.Path); ok {
			if start, _ := x.Start(p.Root, p.Steps); start == nil {
				return pg.False() // it leads through a to-many without child
			}
		}
		return lower(x)
	}
	return c
}

// OptionalInputs returns the inputs whose absence makes a @where be skipped.
func OptionalInputs(w *model.Where) []*model.Input {
	var inputs []*model.Input
	for _, in := range expr.Mentions(w.Expression).Inputs {
		if in := in.(*model.Input); in.Optional {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// LacksAny tells whether a request leaves out any of some inputs.
func (b *Builder) LacksAny(inputs []*model.Input) pg.Expr {
	conditions := make([]pg.Expr, len(inputs))
	for i, in := range inputs {
		conditions[i] = b.IsAbsent(in)
	}
	return pg.AnyOf(conditions...)
}

// IsAbsent tells whether a request leaves out an optional input. It is never null.
func (b *Builder) IsAbsent(in *model.Input) pg.Expr {
	if !in.Nullable {
		return pg.IsNull(b.Value(in))
	}
	given := b.IsGivenInput(in)
	if len(value.RequestPath(b.Action, in)) > 1 {
		return &pg.Is{Value: given, Test: "not true"} // the object around it may be missing too
	}
	return pg.Negate(given)
}
