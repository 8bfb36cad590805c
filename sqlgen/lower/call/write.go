package call

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
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
func (b *Builder) writtenValue(w value.Write, json pg.Expr, depth int, at value.Site) written {
	if w.Set != nil {
		return b.setValue(w, json, depth, at)
	}
	path := value.WritePath(w.Input)[depth:]
	v := written{value: b.inputFrom(w.Input, w.Input.Nullable, json, path)}
	switch {
	case !w.Input.Optional:
	case b.Given != nil:
		v.given = b.Given[w.Input]
	case !mayBeNull(w) && !value.IsList(w.Input.Type): // an absent array would read as an empty one
		v.given = pg.IsNotNull(v.value)
	default:
		v.given = isWrittenTo(w, json, path)
	}
	return v
}

// mayBeNull tells whether a request may give null for the input of a write.
func mayBeNull(w value.Write) bool { return w.Input.Nullable || links(w) && w.Field.Optional }

// valueOrNull is the value that a write gives to its column, or null.
func (b *Builder) valueOrNull(w value.Write, json pg.Expr, depth int, at value.Site) pg.Expr {
	if w.Set != nil {
		return b.setValue(w, json, depth, at).value // of an absent input, which is null
	}
	return b.inputFrom(w.Input, w.Input.Nullable || w.Input.Optional, json, value.WritePath(w.Input)[depth:])
}

// holdSetInputs holds the inputs that @sets mention in variables, so that all other code reads them from there.
func (b *Builder) holdSetInputs() {
	if b.Action.Many {
		return // each row has its own
	}
	for _, s := range b.Action.Sets {
		if value.IsSealed(s) {
			continue
		}
		for _, p := range expr.Paths(s.Value) {
			switch {
			case p.Root == expr.RootInput:
				b.InputValue(p.Input)
			case p.Root == expr.RootRow && b.Action.Kind == model.Create:
				if link, _, isOfMany := value.Levels(b.Action).Link(p.Steps); !isOfMany {
					b.Value(link)
				}
			}
		}
	}
}

// inputFrom reads an input from a JSON value, unless a variable holds it already.
func (b *Builder) inputFrom(in *model.Input, nullable bool, json pg.Expr, path []string) pg.Expr {
	if held, ok := b.Values[in]; ok {
		return held
	}
	return value.FromJSON(in.Type, nullable, json, path...)
}

// isWrittenTo tells whether a request gives the value that a write takes from an input. The object of a linked to-one
// may be null, which links nothing.
func isWrittenTo(w value.Write, json pg.Expr, path []string) pg.Expr {
	if links(w) {
		return isGiven(json, path)
	}
	if len(path) > 1 {
		json = value.Member(json, path[:len(path)-1]...)
	}
	return value.HasMember(json, path[len(path)-1])
}

// links tells whether a write takes the id below a to-one that it links.
func links(w value.Write) bool {
	return w.Input != nil && w.Field.FKOf != nil && w.Input.Path[len(w.Input.Path)-1].Name == "id"
}

// isGiven tells whether a request gives a value, null included: f in the object,
// or id in the object of f, or f itself as null.
func isGiven(root pg.Expr, path []string) pg.Expr {
	if len(path) == 1 {
		return value.HasMember(root, path[0])
	}
	outer := value.Member(root, path[:len(path)-1]...)
	return pg.AnyOf(
		value.HasMember(outer, path[len(path)-1]),
		pg.Eq(outer, pg.Str("null")),
	)
}

// PublishedInputs says which input of an action writes which field, directly or by a @set, in the order of the levels
// and their fields.
func PublishedInputs(a *model.Action) []release.Input {
	if a.Kind != model.Create && a.Kind != model.Update {
		return nil
	}
	if a.Custom {
		return inputsOfCode(a)
	}
	var list []release.Input
	for _, l := range value.Levels(a).Inserted() {
		for _, w := range l.Writes {
			in := w.Input
			if in == nil {
				p, isPath := w.Set.Value.(*expr.Path)
				if !isPath || p.Root != expr.RootInput {
					continue
				}
				in = p.Input.(*model.Input)
			}
			list = append(list, release.Input{
				Path:  strings.Join(value.RequestPath(a, in), "."),
				Table: l.Model.Table,
				Field: w.Field.Name,
			})
		}
	}
	return list
}

// PublishedFromCaller returns the required fields that an action sets from values that a caller may lack. If a path has
// several such steps, it cannot be known which one was null.
func PublishedFromCaller(a *model.Action) []release.FromCaller {
	if a.Kind != model.Create && a.Kind != model.Update || a.Custom {
		return nil
	}
	var list []release.FromCaller
	for _, l := range value.Levels(a).Inserted() {
		for _, w := range l.Writes {
			if w.Set == nil || w.Field.Optional {
				continue
			}
			p, isPath := w.Set.Value.(*expr.Path)
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
				list = append(list, release.FromCaller{Table: l.Model.Table, Field: w.Field.Name, Lacks: strings.Join(lacks, " or ")})
			}
		}
	}
	return list
}

// PublishedFromLinks returns the required fields that a create sets from one linked row, and that are null only if that row
// is not there.
func PublishedFromLinks(a *model.Action) []release.FromLink {
	if a.Kind != model.Create || a.Custom {
		return nil
	}
	var list []release.FromLink
	root := value.Levels(a)
	for _, l := range root.Inserted() {
		for _, w := range l.Writes {
			if w.Set == nil || w.Field.Optional || expr.MayBeNull(w.Set.Value) {
				continue
			}
			var links []*model.Input
			from := release.FromLink{Table: l.Model.Table, Field: w.Field.Name}
			for _, p := range expr.Paths(w.Set.Value) {
				if p.Root != expr.RootRow {
					continue
				}
				link, steps, _ := root.Link(p.Steps)
				toOne := value.Field(p.Steps[steps-1])
				from.LinkTable, from.Link = toOne.Model.Table, toOne.FK.Name
				if !slices.Contains(links, link) {
					links = append(links, link)
				}
			}
			if len(links) == 1 {
				list = append(list, from)
			}
		}
	}
	return list
}
