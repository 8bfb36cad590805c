package model

import "slices"

// Level is a row, or for a to-many any number of rows, that the implicit inputs of a create
// or update make, change or link. The root is the row of the action's model.
type Level struct {
	Model    *Model
	Field    *Field // the relation that leads here from the parent; nil for the root
	Path     []*Field
	Inputs   []*Input // those that end here
	Children []*Level
	First    *Input // the first input at or below the level; nil for a root without inputs
}

// Levels arranges the implicit inputs that an action writes.
func (a *Action) Levels() *Level {
	root := &Level{Model: a.Model}
	for _, in := range a.Writes {
		if in.Explicit {
			continue
		}
		l := root
		if l.First == nil {
			l.First = in
		}
		for i, f := range in.Path[:len(in.Path)-1] {
			next := l.Child(f)
			if next == nil {
				next = &Level{Model: f.Target, Field: f, Path: in.Path[:i+1], First: in}
				l.Children = append(l.Children, next)
			}
			l = next
		}
		l.Inputs = append(l.Inputs, in)
	}
	return root
}

// IsLink tells whether the level links a row that exists: nothing but id is
// declared at or below it.
func (l *Level) IsLink() bool {
	return l.Field != nil && len(l.Children) == 0 && !slices.ContainsFunc(l.Inputs, func(in *Input) bool {
		return in.Path[len(in.Path)-1].Name != "id"
	})
}

// Child returns the level that a field leads to, or nil.
func (l *Level) Child(f *Field) *Level {
	for _, child := range l.Children {
		if child.Field == f {
			return child
		}
	}
	return nil
}

// At returns the level that a path from the root leads to, or nil.
func (l *Level) At(path []*Field) *Level {
	for _, f := range path {
		if l = l.Child(f); l == nil {
			return nil
		}
	}
	return l
}

// Input returns the input of the level that gives a field, or nil. The FK field
// or the id of the linked row gives a to-one.
func (l *Level) Input(f *Field) *Input {
	for _, in := range l.Inputs {
		if last := in.Path[len(in.Path)-1]; last == f || last.FKOf == f && f.IsToOne() {
			return in
		}
	}
	if child := l.Child(f); child != nil && child.IsLink() {
		return child.Inputs[0]
	}
	return nil
}

// IsLoose tells whether the level may be missing from a request although its
// inputs are required: below an optional to-one or a to-many.
func (l *Level) IsLoose() bool {
	return slices.ContainsFunc(l.Path, func(f *Field) bool { return f.Optional || f.IsToMany() })
}
