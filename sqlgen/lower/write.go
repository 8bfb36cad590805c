package lower

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// written is the value that an action gives to a column. It is not given if an input that it needs is absent; given is
// nil if it always is.
type written struct {
	value pg.Expr
	given pg.Expr
}

// or returns the value, or another one if it is not given.
func (w written) or(other pg.Expr) pg.Expr {
	if w.given == nil {
		return w.value
	}
	if is, ok := w.given.(*pg.Is); ok && is.Test == "not null" && is.Value == w.value {
		return pg.Fn("coalesce", w.value, other)
	}
	return &pg.Case{Whens: []pg.When{{Condition: w.given, Result: w.value}}, Else: other}
}

// writtenValue returns the value that a write gives to its column. It reads inputs from a JSON value, after depth steps
// of their paths.
func (b *builder) writtenValue(w write, json pg.Expr, depth int, at site) written {
	if w.set != nil {
		return b.setValue(w, json, at)
	}
	path := writePath(w.input)[depth:]
	value := written{value: b.inputFrom(w.input, w.input.Nullable, json, path)}
	switch {
	case !w.input.Optional:
	case b.given != nil:
		value.given = b.given[w.input]
	case !w.mayBeNull() && !isList(w.input.Type): // an absent array would read as an empty one
		value.given = pg.IsNotNull(value.value)
	default:
		value.given = isWrittenTo(w, json, path)
	}
	return value
}

// mayBeNull tells whether a request may give null for the input of a write.
func (w write) mayBeNull() bool { return w.input.Nullable || w.links() && w.field.Optional }

// valueOrNull is the value that a write gives to its column, or null.
func (b *builder) valueOrNull(w write, json pg.Expr, depth int, at site) pg.Expr {
	if w.set != nil {
		return b.setValue(w, json, at).value // of an absent input, which is null
	}
	return b.inputFrom(w.input, w.input.Nullable || w.input.Optional, json, writePath(w.input)[depth:])
}

// holdSetInputs holds the inputs that @sets mention in variables, so that all other code reads them from there.
func (b *builder) holdSetInputs() {
	for _, s := range b.action.Sets {
		if isSealed(s) {
			continue
		}
		for _, p := range expr.Paths(s.Value) {
			switch {
			case p.Root == expr.RootInput:
				b.inputValue(p.Input)
			case p.Root == expr.RootRow && b.action.Kind == model.Create:
				b.value(linkInput(b.action, field(p.Steps[0])))
			}
		}
	}
}

// inputFrom reads an input from a JSON value, unless a variable holds it already.
func (b *builder) inputFrom(in *model.Input, nullable bool, json pg.Expr, path []string) pg.Expr {
	if held, ok := b.values[in]; ok {
		return held
	}
	return fromJSON(in.Type, nullable, json, path...)
}

// isWrittenTo tells whether a request gives the value that a write takes from an input. The object of a linked to-one
// may be null, which links nothing.
func isWrittenTo(w write, json pg.Expr, path []string) pg.Expr {
	if w.links() {
		return isGiven(json, path)
	}
	if len(path) > 1 {
		json = member(json, path[:len(path)-1]...)
	}
	return hasMember(json, path[len(path)-1])
}

// links tells whether a write takes the id below a to-one that it links.
func (w write) links() bool {
	return w.input != nil && w.field.FKOf != nil && w.input.Path[len(w.input.Path)-1].Name == "id"
}

// isGiven tells whether a request gives a value, null included: f in the object,
// or id in the object of f, or f itself as null.
func isGiven(root pg.Expr, path []string) pg.Expr {
	if len(path) == 1 {
		return hasMember(root, path[0])
	}
	outer := member(root, path[:len(path)-1]...)
	return pg.AnyOf(
		hasMember(outer, path[len(path)-1]),
		pg.Eq(outer, pg.Str("null")),
	)
}

// convert returns a value as a column of another type takes it, where Postgres would not do so itself.
func convert(value pg.Expr, from, to expr.Type) pg.Expr {
	switch {
	case from.Kind == expr.Timestamp && to.Kind == expr.Date:
		return pg.As(pg.Fn("timezone", pg.Str("UTC"), value), "date")
	case from.Kind == expr.Date && to.Kind == expr.Timestamp:
		return pg.Fn("platform.midnight", value)
	}
	return value
}

// publishedInputs says which input of an action writes which field, directly or by a @set, in the order of the levels
// and their fields.
func publishedInputs(a *model.Action) []release.Input {
	if a.Kind != model.Create && a.Kind != model.Update {
		return nil
	}
	if a.Custom {
		return inputsOfCode(a)
	}
	var list []release.Input
	for _, l := range levels(a).inserted() {
		for _, w := range l.writes {
			in := w.input
			if in == nil {
				p, isPath := w.set.Value.(*expr.Path)
				if !isPath || p.Root != expr.RootInput {
					continue
				}
				in = p.Input.(*model.Input)
			}
			list = append(list, release.Input{
				Path:  strings.Join(requestPath(a, in), "."),
				Table: l.model.Table,
				Field: w.field.Name,
			})
		}
	}
	return list
}

// publishedFromCaller returns the required fields that an action sets from values that a caller may lack. If a path has
// several such steps, it cannot be known which one was null.
func publishedFromCaller(a *model.Action) []release.FromCaller {
	if a.Kind != model.Create && a.Kind != model.Update || a.Custom {
		return nil
	}
	var list []release.FromCaller
	for _, l := range levels(a).inserted() {
		for _, w := range l.writes {
			if w.set == nil || w.field.Optional {
				continue
			}
			p, isPath := w.set.Value.(*expr.Path)
			if !isPath || p.Root != expr.RootIdentity {
				continue
			}
			var lacks []string
			for _, s := range p.Steps {
				if s.StepOptional() {
					lacks = append(lacks, s.StepName())
				}
			}
			if len(lacks) > 0 {
				list = append(list, release.FromCaller{Table: l.model.Table, Field: w.field.Name, Lacks: strings.Join(lacks, " or ")})
			}
		}
	}
	return list
}
