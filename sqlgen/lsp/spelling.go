package lsp

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// spelling tells the declared names that a name is made of: author itself, the key
// authorId, the variable post of model Post, the flat name authorEmail of an input.
type spelling struct {
	of   []*syntax.Ident             // none of what is built in
	form func(names []string) string // nil means the one name as it is
}

// plainly is the spelling of a name where it is declared.
func plainly(name *syntax.Ident) spelling { return spelling{of: []*syntax.Ident{name}} }

// asVariable is the spelling of the row of a model or union in expressions.
func asVariable(name *syntax.Ident) spelling {
	return spelling{[]*syntax.Ident{name}, func(names []string) string { return model.Variable(names[0]) }}
}

// asKey is the spelling of the foreign key of a to-one.
func asKey(name *syntax.Ident) spelling {
	return spelling{[]*syntax.Ident{name}, func(names []string) string { return names[0] + "Id" }}
}

// flat is the spelling of an input that is given by a path.
func flat(steps []string, path []*symbol) spelling {
	var s spelling
	for _, f := range path {
		s.of = append(s.of, f.spelling.of...)
	}
	s.form = func(names []string) string {
		spelt := append([]string(nil), steps...)
		for i, f := range path {
			if n := len(f.spelling.of); n > 0 {
				spelt[i] = f.spelling.with(names[:n])
				names = names[n:]
			}
		}
		return model.FlatName(spelt)
	}
	return s
}

// with returns the name made of these names.
func (s spelling) with(names []string) string {
	if s.form == nil {
		return names[0]
	}
	return s.form(names)
}

// isPlain tells whether the name is a declared name, unchanged.
func (s spelling) isPlain() bool { return len(s.of) == 1 && s.form == nil }

// name returns the declared name if the name is one unchanged, else nil.
func (s spelling) name() *syntax.Ident {
	if !s.isPlain() {
		return nil
	}
	return s.of[0]
}

// has tells whether a declared name is part of the name.
func (s spelling) has(name *syntax.Ident) bool {
	for _, part := range s.of {
		if part == name {
			return true
		}
	}
	return false
}

// renamed returns the name after a declared one is renamed.
func (s spelling) renamed(name *syntax.Ident, to string) string {
	names := make([]string, len(s.of))
	for i, part := range s.of {
		names[i] = part.Name
		if part == name {
			names[i] = to
		}
	}
	return s.with(names)
}
