package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// level is a row that an action writes, or, for a to-many, any number of rows: the row of the action's model, and, in a
// create, those that nested inputs insert.
type level struct {
	model    *model.Model
	field    *model.Field // the relation that leads here; nil for the row of the action
	path     []*model.Field
	parent   *level
	children []*level // levels that are inserted too, in the order of their inputs
	writes   []write  // values of inputs in their order, then of @sets
}

// write is one value that an action writes to a column of a level.
type write struct {
	field *model.Field // the field that has the column
	input *model.Input // the input that gives the value; nil for a @set
	set   *model.Set   // the @set that gives it; nil for an input
}

// levels returns the levels that an action writes, from the row of its model on.
func levels(a *model.Action) *level {
	root := &level{model: a.Model}
	root.fill(a.Levels(), a.Writes)
	for _, s := range a.Sets {
		at, field := root.target(s.Target)
		at.writes = append(at.writes, write{field: storedAs(field), set: s})
	}
	return root
}

// fill gives a level the writes of the inputs at and below it, in the order of the inputs.
func (l *level) fill(given *model.Level, order []*model.Input) {
	type part struct {
		first *model.Input
		below *model.Level // nil for an input that ends here
	}
	var parts []part
	for _, in := range given.Inputs {
		parts = append(parts, part{first: in})
	}
	for _, below := range given.Children {
		parts = append(parts, part{below.First, below})
	}
	slices.SortFunc(parts, func(a, b part) int { return slices.Index(order, a.first) - slices.Index(order, b.first) })
	for _, p := range parts {
		switch {
		case p.below == nil:
			l.writes = append(l.writes, write{field: p.first.Path[len(l.path)], input: p.first})
		case p.below.Field.FK != nil && p.below.IsLink():
			l.writes = append(l.writes, write{field: p.below.Field.FK, input: p.first})
		default:
			child := &level{model: p.below.Model, field: p.below.Field, path: p.below.Path, parent: l}
			child.fill(p.below, order)
			l.children = append(l.children, child)
		}
	}
}

// target returns the level and field that a @set names. f.id means f, unless a row is inserted there.
func (l *level) target(path []*model.Field) (*level, *model.Field) {
	at := l
	for i, f := range path[:len(path)-1] {
		child := at.child(f)
		if child == nil {
			return at, path[i]
		}
		at = child
	}
	return at, path[len(path)-1]
}

func (l *level) child(f *model.Field) *level {
	for _, c := range l.children {
		if c.field == f {
			return c
		}
	}
	return nil
}

// inserted returns the level and those below it, each behind its parent.
func (l *level) inserted() []*level {
	list := []*level{l}
	for _, c := range l.children {
		list = append(list, c.inserted()...)
	}
	return list
}

// back is the FK field of a child by which it refers to its parent; nil if the
// parent refers to the child.
func (l *level) back() *model.Field {
	if l.field == nil || l.field.FK != nil {
		return nil
	}
	return l.field.Inverse.FK
}

// columns returns the fields whose columns an insert of the level writes, in the
// order of the table. The id is among them only if the action gives it.
func (l *level) columns() []*model.Field {
	written := map[*model.Field]bool{l.back(): true}
	for _, w := range l.writes {
		written[w.field] = true
	}
	for _, c := range l.children {
		if c.field.FK != nil {
			written[c.field.FK] = true
		}
	}
	var fields []*model.Field
	for _, f := range l.model.Stored() {
		if written[f] {
			fields = append(fields, f)
		}
	}
	return fields
}

// isOptional tells whether a level is written only if the request gives something
// in it.
func (l *level) isOptional() bool {
	return l.field != nil && l.field.IsToOne() && (l.field.Optional || l.field.FK == nil)
}

// nested is a level that an action inserts beside its own row.
type nested struct {
	action *model.Action
	level  *level
}

// nestedInserts returns the levels that actions insert beside their own rows, by
// model.
func nestedInserts(s *model.Schema) map[*model.Model][]nested {
	inserts := map[*model.Model][]nested{}
	for _, a := range s.Actions {
		if a.Kind != model.Create || a.Custom {
			continue
		}
		for _, l := range levels(a).inserted()[1:] {
			inserts[l.model] = append(inserts[l.model], nested{a, l})
		}
	}
	return inserts
}

// Demanded returns the optional inputs that a request has to give nevertheless. Without them, a row that is always
// inserted would lack a required value.
func Demanded(a *model.Action) map[*model.Input]bool {
	demanded := map[*model.Input]bool{}
	if a.Kind == model.Create && !a.Custom {
		for _, l := range levels(a).inserted() {
			l.demands(demanded)
		}
	}
	return demanded
}

// demands notes the optional inputs without which a row that is always inserted would lack a required value: those
// below a to-many, where each element is a row.
func (l *level) demands(demanded map[*model.Input]bool) {
	at := l
	for at.field != nil && !at.field.IsToMany() {
		if at.isOptional() {
			return
		}
		at = at.parent
	}
	if at.field == nil {
		return // an input that the language demands there is required
	}
	for _, w := range l.writes {
		if w.input != nil && !w.field.Optional && columnDefault(w.field) == nil && w.field != l.back() {
			demanded[w.input] = true
		}
	}
}
