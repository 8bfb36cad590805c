package model

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Computed is what a field with @computed is made of.
type Computed struct {
	Expression expr.Node
	Text       string // in its formatted spelling
	Span       syntax.Span
}

// Reads returns the computed fields that a computed field reads.
func (f *Computed) Reads() []*Field {
	var fields []*Field
	for _, p := range expr.Paths(f.Expression) {
		for _, s := range p.Steps {
			read := s.(*Field)
			if read.FKOf != nil {
				read = read.FKOf
			}
			if read.Computed != nil && !slices.Contains(fields, read) {
				fields = append(fields, read)
			}
		}
	}
	return fields
}

// Sources returns the models of other rows that a field is computed from, also through
// other computed fields.
func (f *Field) Sources() []*Model {
	var models []*Model
	passed := map[*Field]bool{}
	var from func(f *Field)
	from = func(f *Field) {
		if f.Computed == nil || passed[f] {
			return
		}
		passed[f] = true
		for _, p := range expr.Paths(f.Computed.Expression) {
			steps := FieldsOf(p)
			for i, step := range steps {
				isRead := step.IsRelation() && (step.FK == nil || i+1 < len(steps) && ReadsRelated(step, steps[i+1]))
				if isRead && !slices.Contains(models, step.Target) {
					models = append(models, step.Target)
				}
				from(step)
			}
		}
	}
	from(f)
	return models
}

// AlongCopies is the path of a list's implicit input by the copies that the model has.
func (in *Input) AlongCopies() []*Field { return AlongCopy(in.Path[0].Model, in.Path) }

// AlongCopy is a path from a row of a model by the copy that leads furthest along it.
func AlongCopy(m *Model, path []*Field) []*Field {
	for n := len(path); n > 1; n-- {
		for _, f := range m.Fields {
			if f.Computed == nil || f.FKOf != nil {
				continue
			}
			for _, source := range f.CopiedFrom() {
				if len(source) != n || !slices.EqualFunc(source, path[:n], func(a, b *Field) bool { return Declared(a) == Declared(b) }) {
					continue
				}
				if path[n-1].FKOf != nil && f.FK != nil {
					f = f.FK
				}
				return append([]*Field{f}, path[n:]...)
			}
		}
	}
	return path
}

// Declared returns the field that the schema declares: for an FK field, its to-one.
func Declared(f *Field) *Field {
	if f.FKOf != nil {
		return f.FKOf
	}
	return f
}

// ReadsRelated tells whether a step behind a relation reads a field of the related row.
// The id of a referenced row is the foreign key itself. A relation without column reads
// a field of the row behind it.
func ReadsRelated(relation, step *Field) bool {
	if step.IsRelation() {
		return step.FK != nil || relation.FK == nil
	}
	return step.Name != "id" || relation.FK == nil
}

// FieldsOf returns the fields that a path of a model's row passes.
func FieldsOf(p *expr.Path) []*Field {
	var fields []*Field
	for _, step := range p.Steps {
		fields = append(fields, step.(*Field))
	}
	return fields
}

// CopiedFrom returns the paths to the fields of other rows whose value a computed field has
// unchanged: the one that it names, and those that this one is a copy of.
func (f *Field) CopiedFrom() [][]*Field {
	if f.Computed == nil {
		return nil
	}
	p, ok := f.Computed.Expression.(*expr.Path)
	if !ok || p.Root != expr.RootRow {
		return nil
	}
	steps := FieldsOf(p)
	if len(steps) > 1 && !ReadsRelated(steps[len(steps)-2], steps[len(steps)-1]) {
		steps = steps[:len(steps)-1] // the id of a referenced row is the key that refers to it
	}
	before, last := steps[:len(steps)-1], steps[len(steps)-1]
	if last.IsRelation() && last.FK == nil { // the id of the row behind
		return [][]*Field{slices.Concat(steps, []*Field{last.Target.Field("id")})}
	}
	var sources [][]*Field
	if len(before) > 0 {
		sources = append(sources, steps)
	}
	for _, source := range last.CopiedFrom() {
		sources = append(sources, slices.Concat(before, source))
	}
	return sources
}
