package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// scope tells package expr what names mean at one place of a schema.
type scope struct {
	c        *checker
	place    expr.Place
	variable string
	model    string // of a model or union
	nameable bool   // whether the row can be named
	action   *actionDecl

	contested    []string // names asked for that Identity lacks because several models claim them
	followsError bool     // whether a name was asked for that was declared in error
}

// check checks a Boolean expression. It returns nil on any error. It does not report
// errors that follow from another.
func (s *scope) check(e syntax.Expr) expr.Node {
	return s.collect(e, func(errs *syntax.Errors) expr.Node { return expr.Check(e, s, errs) })
}

// checkValue checks a value and that the target takes it, as check does.
func (s *scope) checkValue(e syntax.Expr, target expr.Target) expr.Node {
	return s.collect(e, func(errs *syntax.Errors) expr.Node {
		node := expr.CheckValue(e, target, s, errs)
		if t := s.c.types[target.Type.Name]; t != nil && t.enum != nil {
			nameEnum(t.enum, *errs)
		}
		return node
	})
}

// nameEnum says in the error for a value of the enum without the enum's name how to
// write it.
func nameEnum(e *model.Enum, errs syntax.Errors) {
	for _, d := range errs {
		name := written(d.Span)
		if d.Code == expr.UnknownName && slices.ContainsFunc(e.Values, func(v *model.EnumValue) bool { return v.Name == name }) {
			d.Message = enumValueMeant(e.Name, name)
		}
	}
}

// written returns the stretch of a file that a span covers.
func written(s syntax.Span) string {
	return string(s.File.Text[s.Start.Offset:s.End.Offset])
}

// collect runs a check and passes on its reports, unless the expression names
// something that was declared in error.
func (s *scope) collect(e syntax.Expr, check func(*syntax.Errors) expr.Node) expr.Node {
	var errs syntax.Errors
	s.contested = nil
	s.followsError = s.action != nil && s.action.mentionsReserved(e)
	node := check(&errs)
	if s.followsError {
		return nil
	}
	for _, d := range errs {
		if d.Code == expr.UnknownName && s.place == expr.RoleRule {
			d.Code, d.Message = RoleExpression, notInRole(written(d.Span))
		}
		if s.place == expr.EventWhere && (d.Code == expr.UnknownName || d.Code == expr.NotOwnField) {
			d.Code, d.Message = BadEvent, notInEvent(written(d.Span))
		}
		if name := written(d.Span); d.Code == expr.UnknownField && slices.Contains(s.contested, name) {
			d.Notes = append(d.Notes, s.c.contestedNotes(name)...)
		}
	}
	*s.c.errs = append(*s.c.errs, errs...)
	return node
}

// Place returns where the expression is.
func (s *scope) Place() expr.Place { return s.place }

// Row returns the variable, its model or union, and whether it may be named.
func (s *scope) Row() (variable, model string, nameable bool) {
	return s.variable, s.model, s.nameable
}

// Field returns the field of a model or union.
func (s *scope) Field(model, name string) (expr.Step, bool) {
	t := s.c.types[model]
	if t != nil && t.model != nil {
		if f := t.model.Field(name); f != nil {
			s.followsError = s.followsError || s.c.isDoubtful(f)
			return f, true
		}
	}
	if t != nil && t.union != nil {
		if f := t.union.Field(name); f != nil {
			return f, true
		}
	}
	s.followsError = s.followsError || s.c.isBroken(model, name)
	if model == identityName && len(s.c.backlinks[name]) > 1 {
		s.contested = append(s.contested, name)
	}
	return nil, false
}

// FieldNames returns the names of all fields of a model or union.
func (s *scope) FieldNames(model string) []string {
	t := s.c.types[model]
	switch {
	case t == nil:
		return nil
	case t.model != nil:
		names := fieldNames(t.model)
		for _, d := range t.model.Conditions {
			names = append(names, d.Name)
		}
		return names
	case t.union != nil:
		return unionFieldNames(t.union)
	}
	return nil
}

// Input returns the input that a name means. A name in both lists means the read
// input where the row is looked for, the write input where values are made.
func (s *scope) Input(name string) (expr.Input, expr.InputUse) {
	if s.action == nil {
		return nil, expr.NoInput
	}
	s.followsError = s.followsError || s.action.brokenInputs[name]
	reads, writes := s.action.Reads, s.action.Writes
	first, second := writes, reads
	if s.place == expr.Where || s.place == expr.ActionRule {
		first, second = reads, writes
	}
	for _, list := range [][]*model.Input{first, second} {
		for _, in := range list {
			if in.Name == name && in.Message == nil {
				return in, s.use(in)
			}
		}
	}
	return nil, expr.NoInput
}

// use tells whether an input has one value that can be named.
func (s *scope) use(in *model.Input) expr.InputUse {
	switch {
	case in.Explicit:
		return expr.InputNameable
	case s.action.Kind == model.List:
		return expr.InputFiltersList
	case s.action.Kind == model.Create && slices.ContainsFunc(in.Path, (*model.Field).IsToMany):
		return expr.InputBelowToMany
	}
	return expr.InputNameable
}

// InputNames returns the names of the inputs that can be named.
func (s *scope) InputNames() []string {
	if s.action == nil {
		return nil
	}
	var names []string
	for _, in := range slices.Concat(s.action.Reads, s.action.Writes) {
		if in.Message == nil && s.use(in) == expr.InputNameable && !slices.Contains(names, in.Name) {
			names = append(names, in.Name)
		}
	}
	return names
}

// EnumValues returns the values of an enum.
func (s *scope) EnumValues(enum string) ([]string, bool) {
	t := s.c.types[enum]
	if t == nil || t.enum == nil {
		return nil, false
	}
	var names []string
	for _, v := range t.enum.Values {
		names = append(names, v.Name)
	}
	s.followsError = s.followsError || len(names) == 0 || s.c.isIncomplete(enum)
	return names, true
}

// EnumNames returns the names of all enums.
func (s *scope) EnumNames() []string {
	var names []string
	for _, e := range s.c.enums {
		names = append(names, e.Name)
	}
	return names
}

// EnvNames returns the declared names of ctx.env.
func (s *scope) EnvNames() []string {
	s.followsError = s.followsError || s.c.options.Config.Incomplete
	return s.c.options.Config.Environment
}

// SecretNames returns the declared names of ctx.secrets.
func (s *scope) SecretNames() []string {
	s.followsError = s.followsError || s.c.options.Config.Incomplete
	return s.c.options.Config.Secrets
}

// SourceNames returns the values of sourceModel or sourceArm of a union.
func (s *scope) SourceNames(field expr.Step) ([]string, bool) {
	f, ok := field.(*model.UnionField)
	if !ok || !f.BuiltIn || f.Name == "id" {
		return nil, false
	}
	var names []string
	for _, a := range f.Union.Arms {
		name := a.Name
		if f.Name == "sourceModel" {
			name = a.Model.Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s.followsError = s.followsError || s.c.brokenArms[f.Union]
	return names, true
}

// HeaderName returns the name of a header in expressions: its snake form.
func (s *scope) HeaderName(name string) string { return model.SnakeForm(name) }
