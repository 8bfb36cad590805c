package lsp

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// reference is a stretch of a schema file that names something declared.
type reference struct {
	span     syntax.Span
	spelling spelling
}

// declares tells whether the reference is the declaration of the name.
func (m reference) declares() bool {
	return m.spelling.isPlain() && m.spelling.of[0].Span() == m.span
}

// references returns all references in a project, file by file, in their order.
func (x *index) references() []reference {
	if x.referenced != nil {
		return x.referenced
	}
	var all []reference
	for _, f := range x.files {
		at := len(all)
		for _, s := range cursorsOf(f) {
			if y := x.resolve(s); y != nil && len(y.spelling.of) > 0 {
				all = append(all, reference{spanOf(f.Source, s.start, s.end), y.spelling})
			}
		}
		all = append(all, x.sourceReferences(f)...)
		slices.SortStableFunc(all[at:], func(a, b reference) int { return a.span.Start.Offset - b.span.Start.Offset })
	}
	x.referenced = all
	return all
}

// referencesTo returns the references to one declared name.
func (x *index) referencesTo(name *syntax.Ident) []reference {
	var of []reference
	for _, m := range x.references() {
		if m.spelling.has(name) {
			of = append(of, m)
		}
	}
	return of
}

func spanOf(file *syntax.Source, start, end int) syntax.Span {
	return syntax.Span{File: file, Start: file.Place(start), End: file.Place(end)}
}

// sourceReferences returns the texts in a file that name models and arms: those compared
// with sourceModel and sourceArm of a union.
func (x *index) sourceReferences(file *syntax.File) []reference {
	var found []reference
	for _, d := range file.Decls {
		u, ok := d.(*syntax.Union)
		if !ok {
			continue
		}
		attrs := syntax.AttributesOf(u.Members)
		for _, a := range syntax.ActionsOf(u.Members) {
			attrs = append(attrs, a.Attrs...)
		}
		for _, a := range attrs {
			for _, arg := range a.Args {
				found = append(found, x.sourceTexts(u, arg.Value)...)
			}
		}
	}
	return found
}

// sourceTexts returns the references in the texts of an expression about a union.
func (x *index) sourceTexts(u *syntax.Union, e syntax.Expr) []reference {
	switch e := e.(type) {
	case *syntax.Paren:
		return x.sourceTexts(u, e.Inner)
	case *syntax.Not:
		return x.sourceTexts(u, e.Operand)
	case *syntax.Binary:
		if found := x.comparedSources(u, e.Left, e.Right); found != nil {
			return found
		}
		if found := x.comparedSources(u, e.Right, e.Left); found != nil {
			return found
		}
		return append(x.sourceTexts(u, e.Left), x.sourceTexts(u, e.Right)...)
	}
	return nil
}

// comparedSources returns the references on one side of a comparison whose other side
// is sourceModel or sourceArm.
func (x *index) comparedSources(u *syntax.Union, field, texts syntax.Expr) []reference {
	path, ok := syntax.Unparen(field).(*syntax.Path)
	if !ok || len(path.Steps) != 2 {
		return nil
	}
	of := path.Steps[1].Name
	if of != "sourceModel" && of != "sourceArm" {
		return nil
	}
	list := []syntax.Expr{syntax.Unparen(texts)}
	if l, isList := list[0].(*syntax.List); isList {
		list = l.Elements
	}
	var found []reference
	for _, e := range list {
		text, isText := e.(*syntax.String)
		if !isText {
			continue
		}
		span := text.Span()
		inner := spanOf(span.File, span.Start.Offset+1, span.End.Offset-1) // without the quotes
		for _, a := range syntax.ArmsOf(u.Members) {
			name := a.Name
			if of == "sourceModel" {
				name = nil
				if d := x.declaration(a.Model.Name); d != nil {
					name = declaredName(d)
				}
			}
			if name != nil && name.Name == syntax.SourceOf(inner) {
				found = append(found, reference{inner, plainly(name)})
				break
			}
		}
	}
	return found
}

// nameAt returns the declared name to which a place refers and the reference, nil if there
// is none. The last part of a compound name is meant: email in authorEmail.
func (v *view) nameAt(p position) (*syntax.Ident, *reference) {
	offset := v.lines.offset(p)
	if at := cursorAt(v.file, offset); at.word != "" {
		if y := v.index.resolve(at); y != nil && len(y.spelling.of) > 0 {
			m := &reference{spanOf(v.file.Source, at.start, at.end), y.spelling}
			return y.spelling.of[len(y.spelling.of)-1], m
		}
		return nil, nil
	}
	for _, m := range v.index.sourceReferences(v.file) {
		if m.span.Start.Offset <= offset && offset <= m.span.End.Offset {
			return m.spelling.of[0], &m
		}
	}
	return nil, nil
}

// references answers with every place in the project that names the thing at a
// position, also as part of another name, such as a key.
func (v *view) references(p referenceParams) ([]location, error) {
	var found []location
	for _, m := range v.referencesAt(p.Position) {
		if p.Context.IncludeDeclaration || !m.declares() {
			found = append(found, v.location(m.span))
		}
	}
	return found, nil
}

// highlights answers with the references in the document itself.
func (v *view) highlights(p positionParams) ([]highlight, error) {
	var found []highlight
	for _, m := range v.referencesAt(p.Position) {
		if m.span.File == v.file.Source {
			found = append(found, highlight{v.lines.textRange(m.span.Start.Offset, m.span.End.Offset)})
		}
	}
	return found, nil
}

// referencesAt returns every reference of the thing at a position.
func (v *view) referencesAt(p position) []reference {
	name, _ := v.nameAt(p)
	if name == nil {
		return nil
	}
	return v.index.referencesTo(name)
}
