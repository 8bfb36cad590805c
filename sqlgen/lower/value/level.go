package value

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Level is a row that an action writes, or, for a to-many, any number of rows: the row of the action's model, and, in a
// create, those that nested inputs insert.
type Level struct {
	Model    *model.Model
	Field    *model.Field // the relation that leads here; nil for the row of the action
	Path     []*model.Field
	Parent   *Level
	Children []*Level // levels that are inserted too, in the order of their inputs
	Writes   []Write  // values of inputs in their order, then of @sets
}

// Write is one value that an action writes to a column of a level.
type Write struct {
	Field *model.Field // the field that has the column
	Input *model.Input // the input that gives the value; nil for a @set
	Set   *model.Set   // the @set that gives it; nil for an input
}

// Levels returns the levels that an action writes, from the row of its model on.
func Levels(a *model.Action) *Level {
	root := &Level{Model: a.Model}
	root.fill(a.Levels(), a.Writes)
	for _, s := range a.Sets {
		at, field := root.target(s.Target)
		at.Writes = append(at.Writes, Write{Field: StoredAs(field), Set: s})
	}
	return root
}

// fill gives a level the writes of the inputs at and below it, in the order of the inputs.
func (l *Level) fill(given *model.Level, order []*model.Input) {
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
			l.Writes = append(l.Writes, Write{Field: p.first.Path[len(l.Path)], Input: p.first})
		case p.below.Field.FK != nil && p.below.IsLink():
			l.Writes = append(l.Writes, Write{Field: p.below.Field.FK, Input: p.first})
		default:
			child := &Level{Model: p.below.Model, Field: p.below.Field, Path: p.below.Path, Parent: l}
			child.fill(p.below, order)
			l.Children = append(l.Children, child)
		}
	}
}

// target returns the level and field that a @set names. f.id means f, unless a row is inserted there.
func (l *Level) target(path []*model.Field) (*Level, *model.Field) {
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

func (l *Level) child(f *model.Field) *Level {
	for _, c := range l.Children {
		if c.Field == f {
			return c
		}
	}
	return nil
}

// Link returns the input that links the row to which a path from the row of the action leads, at the level or below it;
// how many steps lead there; and whether each of many rows has its own.
func (l *Level) Link(path []expr.Step) (link *model.Input, steps int, isOfMany bool) {
	f := Field(path[0])
	if child := l.child(f); child != nil {
		link, steps, isOfMany = child.Link(path[1:])
		return link, steps + 1, isOfMany || f.IsToMany()
	}
	for _, w := range l.Writes {
		if w.Input != nil && w.Field == f.FK {
			return w.Input, 1, false
		}
	}
	panic("lower: no input links " + f.Name)
}

// Inserted returns the level and those below it, each behind its parent.
func (l *Level) Inserted() []*Level {
	list := []*Level{l}
	for _, c := range l.Children {
		list = append(list, c.Inserted()...)
	}
	return list
}

// Back is the FK field of a child by which it refers to its parent; nil if the
// parent refers to the child.
func (l *Level) Back() *model.Field {
	if l.Field == nil || l.Field.FK != nil {
		return nil
	}
	return l.Field.Inverse.FK
}

// Columns returns the fields whose columns an insert of the level writes, in the
// order of the table. The id is among them only if the action gives it.
func (l *Level) Columns() []*model.Field {
	written := map[*model.Field]bool{l.Back(): true}
	for _, w := range l.Writes {
		written[w.Field] = true
	}
	for _, c := range l.Children {
		if c.Field.FK != nil {
			written[c.Field.FK] = true
		}
	}
	var fields []*model.Field
	for _, f := range l.Model.Stored() {
		if written[f] {
			fields = append(fields, f)
		}
	}
	return fields
}

// IsOptional tells whether a level is written only if the request gives something
// in it.
func (l *Level) IsOptional() bool {
	return l.Field != nil && l.Field.IsToOne() && (l.Field.Optional || l.Field.FK == nil)
}

// Demanded returns the optional inputs that a request has to give nevertheless. Without them, a row that is always
// inserted would lack a required value.
func Demanded(a *model.Action) map[*model.Input]bool {
	demanded := map[*model.Input]bool{}
	if a.Kind == model.Create && !a.Custom {
		for _, l := range Levels(a).Inserted() {
			l.demands(demanded)
		}
	}
	return demanded
}

// demands notes the optional inputs without which a row that is always inserted would lack a required value: those
// below a to-many, where each element is a row.
func (l *Level) demands(demanded map[*model.Input]bool) {
	at := l
	for at.Field != nil && !at.Field.IsToMany() {
		if at.IsOptional() {
			return
		}
		at = at.Parent
	}
	if at.Field == nil {
		return // an input that the language demands there is required
	}
	for _, w := range l.Writes {
		if w.Input != nil && !w.Field.Optional && ColumnDefault(w.Field) == nil && w.Field != l.Back() {
			demanded[w.Input] = true
		}
	}
}
