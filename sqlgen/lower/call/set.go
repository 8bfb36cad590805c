package call

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// setValue returns the value that a @set gives to its column. An absent input skips every @set that mentions it. In an
// update json holds the values.
func (b *Builder) setValue(w value.Write, json pg.Expr, at value.Site) written {
	target := w.Field.Type
	v := written{}
	switch n := w.Set.Value.(type) {
	case *expr.Path:
		if value.IsSealed(w.Set) {
			v.value = sealedValue(w.Set)
		} else {
			v.value = value.Convert(b.assigned(n, at), n.Type(), target)
		}
	case *expr.Arithmetic, *expr.Negative, *expr.Function:
		v.value = value.Stored(b.assigned(n, at), n.Type(), target)
	default:
		if value.IsSealed(w.Set) {
			return written{value: sealedValue(w.Set)}
		}
		return written{value: value.Constant(n, target)}
	}
	var given []pg.Expr
	for _, in := range value.OptionalInputsOf(w.Set.Value) {
		if in.IsWrite {
			given = append(given, b.isGivenValue(in, json))
		} else {
			given = append(given, b.IsGivenInput(in))
		}
	}
	if len(given) > 0 {
		v.given = pg.AllOf(given...)
	}
	return v
}

// isGivenValue tells whether a request gives an optional write input.
func (b *Builder) isGivenValue(in *model.Input, json pg.Expr) pg.Expr {
	if b.Given != nil {
		return b.Given[in]
	}
	if b.Action.Kind == model.Create {
		json = value.Input // a @set sees it as a whole, regardless of its level
	}
	w := value.Write{Input: in}
	for _, l := range value.Levels(b.Action).Inserted() {
		for _, other := range l.Writes {
			if other.Input == in {
				w = other
			}
		}
	}
	if w.Field == nil {
		return value.HasMember(json, in.Name) // an explicit input
	}
	return isWrittenTo(w, json, value.WritePath(in))
}

// assigned returns the assigned value of a path, or of arithmetic over paths.
func (b *Builder) assigned(n expr.Node, at value.Site) pg.Expr {
	x := b.Expression(value.WhereLogic, at)
	if b.Action.Kind == model.Create {
		// The row does not exist yet: a path of it begins with a to-one that an input links.
		x.Linked = func(toOne *model.Field) value.TableAlias {
			return value.TableAlias{Model: toOne.Target, ID: b.Value(linkInput(b.Action, toOne))}
		}
	}
	return x.Operand(n).Scalar()
}

// linkInput returns the input by which a create links the row of a to-one.
func linkInput(a *model.Action, toOne *model.Field) *model.Input {
	for _, w := range value.Levels(a).Writes {
		if w.Input != nil && w.Field == toOne.FK {
			return w.Input
		}
	}
	panic("lower: no input links " + toOne.Name + " in " + a.Name)
}
