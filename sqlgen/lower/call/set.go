package call

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// setValue returns the value that a @set gives to its column. An absent input skips every @set that mentions it. In an
// update json holds the values, in a create the rows of the level, behind depth steps of their paths.
func (b *Builder) setValue(w value.Write, json pg.Expr, depth int, at value.Site) written {
	target := w.Field.Type
	v := written{}
	switch n := w.Set.Value.(type) {
	case *expr.Path:
		if value.IsSealed(w.Set) {
			v.value = sealedValue(w.Set)
		} else {
			v.value = value.Convert(b.assigned(n, json, depth, at), n.Type(), target)
		}
	case *expr.Arithmetic, *expr.Negative, *expr.Function:
		v.value = value.Stored(b.assigned(n, json, depth, at), n.Type(), target)
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
		json = b.sent() // a @set sees it as a whole, regardless of its level
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

// assigned returns the assigned value of a path, or of what is made of paths. On create the row does not exist yet: a path
// of it begins with a to-one that an input links, in the JSON of each row if there are many.
func (b *Builder) assigned(n expr.Node, json pg.Expr, depth int, at value.Site) pg.Expr {
	x := b.Expression(value.WhereLogic, at)
	if b.Action.Kind == model.Create {
		if rows, ok := json.(*pg.ColumnRef); ok {
			x.Aliases[rows.Table] = true
		}
		x.Linked = func(path []expr.Step) (value.TableAlias, []expr.Step) {
			link, steps, isOfMany := value.Levels(b.Action).Link(path)
			linked := value.TableAlias{Model: value.Field(path[steps-1]).Target}
			if isOfMany {
				linked.ID = value.FromJSON(link.Type, true, json, value.WritePath(link)[depth:]...)
			} else {
				linked.ID = b.Value(link)
			}
			return linked, path[steps:]
		}
	}
	return x.Operand(n).Scalar()
}
