package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// setValue returns the value that a @set gives to its column. An absent input skips every @set that mentions it. In an
// update json holds the values.
func (b *builder) setValue(w write, json pg.Expr, at site) written {
	target := w.field.Type
	value := written{}
	switch n := w.set.Value.(type) {
	case *expr.Path:
		if isSealed(w.set) {
			value.value = sealedValue(w.set)
		} else {
			value.value = convert(b.assigned(n, at), n.Type(), target)
		}
	case *expr.Arithmetic, *expr.Negative:
		value.value = stored(b.assigned(n, at), n.Type(), target)
	default:
		if isSealed(w.set) {
			return written{value: sealedValue(w.set)}
		}
		return written{value: constant(n, target)}
	}
	var given []pg.Expr
	for _, in := range optionalInputsOf(w.set.Value) {
		if in.IsWrite {
			given = append(given, b.isGivenValue(in, json))
		} else {
			given = append(given, b.isGivenInput(in))
		}
	}
	if len(given) > 0 {
		value.given = pg.AllOf(given...)
	}
	return value
}

// isGivenValue tells whether a request gives an optional write input.
func (b *builder) isGivenValue(in *model.Input, json pg.Expr) pg.Expr {
	if b.given != nil {
		return b.given[in]
	}
	if b.action.Kind == model.Create {
		json = input // a @set sees it as a whole, regardless of its level
	}
	w := write{input: in}
	for _, l := range levels(b.action).inserted() {
		for _, other := range l.writes {
			if other.input == in {
				w = other
			}
		}
	}
	if w.field == nil {
		return hasMember(json, in.Name) // an explicit input
	}
	return isWrittenTo(w, json, writePath(in))
}

// assigned returns the assigned value of a path, or of arithmetic over paths.
func (b *builder) assigned(n expr.Node, at site) pg.Expr {
	x := b.expression(whereLogic, at)
	if b.action.Kind == model.Create {
		// The row does not exist yet: a path of it begins with a to-one that an input links.
		x.linked = func(toOne *model.Field) tableAlias {
			return tableAlias{model: toOne.Target, id: b.value(linkInput(b.action, toOne))}
		}
	}
	return x.operand(n).scalar()
}

// linkInput returns the input by which a create links the row of a to-one.
func linkInput(a *model.Action, toOne *model.Field) *model.Input {
	for _, w := range levels(a).writes {
		if w.input != nil && w.field == toOne.FK {
			return w.input
		}
	}
	panic("lower: no input links " + toOne.Name + " in " + a.Name)
}
