package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// setValue returns what a @set gives to its column. It is skipped as a whole where
// an input that it mentions is absent. Of an update json holds the values.
func (b *builder) setValue(w write, json pg.Expr, at site) written {
	target := w.field.Type
	p, isPath := w.set.Value.(*expr.Path)
	if !isPath && isSealed(w.set) {
		return written{value: sealedValue(w.set)}
	}
	if !isPath {
		return written{value: constant(w.set.Value, target)}
	}
	value := written{}
	if isSealed(w.set) {
		value.value = sealedValue(w.set)
	} else {
		value.value = convert(b.pathValue(p, at), p.Type(), target)
	}
	if in, ok := p.Input.(*schema.Input); ok && in.Optional {
		if value.given = b.isGivenInput(in); in.IsWrite {
			value.given = b.isGivenValue(in, json)
		}
	}
	return value
}

// isGivenValue tells whether a request gives an optional write input.
func (b *builder) isGivenValue(in *schema.Input, json pg.Expr) pg.Expr {
	if b.action.Kind == schema.Create {
		json = input // which a @set sees as a whole, whatever level it is about
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

// pathValue returns the value of a path that is assigned.
func (b *builder) pathValue(p *expr.Path, at site) pg.Expr {
	if p.Root != expr.RootRow || b.action.Kind != schema.Create {
		return b.expression(whereLogic, at).operand(p).scalar()
	}
	// The row is not there yet: the path begins with a to-one that an input links.
	first := field(p.Steps[0])
	linked := place{model: first.Target, id: b.value(linkInput(b.action, first))}
	rest := expr.RowPath(first.Target.Name, p.Steps[1:], p.Span())
	return newExpression(whereLogic, at, &linked, b.inputValue).operand(rest).scalar()
}

// linkInput returns the input by which a create links the row of a to-one.
func linkInput(a *schema.Action, toOne *schema.Field) *schema.Input {
	for _, w := range levels(a).writes {
		if w.input != nil && w.field == toOne.FK {
			return w.input
		}
	}
	panic("lower: no input links " + toOne.Name + " in " + a.Name)
}
