package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkModelAttrs reads the attributes of models: composites, indexes, checks,
// rules and former names. @renamed of models and unions share one set of names.
func (c *checker) checkModelAttrs() {
	tables := renames{}
	for _, m := range c.models {
		tables.existing = append(tables.existing, m.Name)
	}
	for _, u := range c.unions {
		tables.existing = append(tables.existing, u.Name)
	}
	for _, m := range c.models {
		for _, a := range c.allowedAttributes(onModel, syntax.AttributesOf(m.tree.Members)) {
			switch a.Name.Name {
			case "unique":
				c.compositeUnique(m, a)
			case "index":
				c.compositeIndex(m, a)
			case "renamed":
				m.RenamedFrom, m.RenamedAt = c.renamed(a, &tables)
			case "history":
				m.History = c.history(a)
			case "validate":
				s := &scope{c: c, place: expr.ModelValidate, variable: m.Variable, model: m.Name, nameable: true}
				if v := c.validation(a, s, c.fieldOf(m.Model)); v != nil {
					m.Validations = append(m.Validations, v)
				}
			case "permission":
				m.Rules = append(m.Rules, c.modelRule(a, m.Variable, m.Name, m.ruleCount)...)
			}
		}
	}
	for _, u := range c.unions {
		for _, a := range c.allowedAttributes(onUnion, syntax.AttributesOf(u.tree.Members)) {
			switch a.Name.Name {
			case "renamed":
				u.RenamedFrom, u.RenamedAt = c.renamed(a, &tables)
			case "history":
				c.report(HistoryAction, a.Name.Span(), historyOfUnion(u.Name))
			}
		}
	}
}

// compositeUnique reads a @unique([a, b]) of a model.
func (c *checker) compositeUnique(m *modelDecl, a *syntax.Attribute) {
	if fields := c.compositeFields(m, a); fields != nil {
		for _, u := range m.Uniques {
			last := u.Fields[len(u.Fields)-1]
			if s := last.Sequence; s != nil && s.Per != nil && len(fields) == 2 && slices.Contains(columnsOf(fields), last.Column) && slices.Contains(columnsOf(fields), s.Per.Column) {
				c.report(BadSequence, a.Name.Span(), sequenceNotAlone(last, "unique"))
			}
		}
		m.Uniques = append(m.Uniques, &model.Unique{Fields: fields, Span: a.Span()})
	} else {
		c.badUniques = true
	}
}

// compositeFields returns the fields that a @unique([a, b]) lists, nil if it is in
// error.
func (c *checker) compositeFields(m *modelDecl, a *syntax.Attribute) []*model.Field {
	value := c.oneArgument(a)
	if value == nil {
		return nil
	}
	list, ok := value.(*syntax.List)
	if !ok || len(list.Elements) < 2 {
		c.badArguments(a, value.Span())
		return nil
	}
	fields, ok := c.ownColumns(m, list.Elements, UniqueNotAllowed, uniqueNotAllowed)
	if !ok {
		return nil
	}
	return fields
}

// compositeIndex reads an @index(a, b) of a model.
func (c *checker) compositeIndex(m *modelDecl, a *syntax.Attribute) {
	var names []syntax.Expr
	for _, arg := range a.Args {
		if value := c.plainArgument(a, arg); value != nil {
			names = append(names, value)
		}
	}
	if len(a.Args) == 0 {
		c.badArguments(a, a.Name.Span())
	}
	if len(names) == 0 || len(names) < len(a.Args) {
		return
	}
	fields, ok := c.ownColumns(m, names, IndexNotAllowed, indexNotAllowed)
	if ok {
		m.Indexes = append(m.Indexes, &model.Index{Fields: fields, Span: a.Span()})
	}
}

// ownColumns reads a list of bare names of a model's fields that can be indexed.
// It is false if anything in it is wrong, or doubtful already.
func (c *checker) ownColumns(m *modelDecl, names []syntax.Expr, code syntax.Code, message func(*model.Field) string) ([]*model.Field, bool) {
	var fields []*model.Field
	good := true
	seen := map[string]bool{} // by column
	for _, e := range names {
		f := c.ownField(m.Model, e)
		if f == nil {
			good = false
			continue
		}
		switch {
		case !takesIndex(f):
			good = false
			if d := c.fields[f]; d == nil || !d.doubtful || f.IsToMany() {
				c.report(code, e.Span(), message(f))
			}
		case seen[f.Column]:
			good = false
			c.report(BadFieldList, e.Span(), fieldTwice(f.Name))
		default:
			seen[f.Column] = true
			fields = append(fields, f)
		}
	}
	return fields, good
}

// ownField returns the field of a model that an expression names bare. It reports a
// missing field, unless that is broken, and returns nil.
func (c *checker) ownField(m *model.Model, e syntax.Expr) *model.Field {
	name := bareName(e)
	if name == nil {
		c.report(BadFieldList, e.Span(), notOwnField(m.Name))
		return nil
	}
	if f := m.Field(name.Name); f != nil {
		return f
	}
	if !c.isBroken(m.Name, name.Name) {
		c.report(BadFieldList, name.Span(), unknownField(m.Name, name.Name, c.suggestField(m, name.Name)))
	}
	return nil
}

// suggestField returns the field's name that is meant, if one is near.
func (c *checker) suggestField(m *model.Model, name string) string {
	return syntax.Suggest(name, fieldNames(m))
}

// fieldNames returns the names of a model's fields.
func fieldNames(m *model.Model) []string {
	var names []string
	for _, f := range m.Fields {
		names = append(names, f.Name)
	}
	return names
}

// fieldOf finds the field that the refusal of a @validate names.
func (c *checker) fieldOf(m *model.Model) func(*model.Validation, *syntax.Ident) bool {
	return func(v *model.Validation, name *syntax.Ident) bool {
		if v.Field = m.Field(name.Name); v.Field == nil {
			c.report(expr.UnknownField, name.Span(), unknownField(m.Name, name.Name, c.suggestField(m, name.Name)))
		}
		return v.Field != nil
	}
}

// inputOf finds the input that the refusal of a @validate names: of two by one name, the one that is written.
func (c *checker) inputOf(a *actionDecl) func(*model.Validation, *syntax.Ident) bool {
	return func(v *model.Validation, name *syntax.Ident) bool {
		var names []string
		for _, in := range slices.Concat(a.Reads, a.Writes) {
			names = append(names, in.Name)
			if in.Name == name.Name {
				v.Input = in
			}
		}
		if v.Input == nil && !a.inputsInError {
			c.report(expr.UnknownName, name.Span(), noSuchInput(a.Name, name.Name, syntax.Suggest(name.Name, names)))
		}
		return v.Input != nil
	}
}

// validation reads a @validate. It is nil if it is in error.
func (c *checker) validation(a *syntax.Attribute, s *scope, find func(*model.Validation, *syntax.Ident) bool) *model.Validation {
	var field *syntax.Ident
	var condition syntax.Expr
	message, hasMessage := "", false
	for _, arg := range a.Args {
		switch {
		case arg.Target == nil && condition == nil && (arg.Label == nil || arg.Label.Name == "expression"):
			condition = arg.Value
		case arg.Target == nil && !hasMessage && arg.Label != nil && arg.Label.Name == "message":
			literal, ok := arg.Value.(*syntax.String)
			if !ok {
				c.badArguments(a, arg.Value.Span())
				return nil
			}
			message, hasMessage = literal.Value, true
		case arg.Target == nil && field == nil && arg.Label != nil && arg.Label.Name == "field":
			if field = bareName(arg.Value); field == nil {
				c.badArguments(a, arg.Value.Span())
				return nil
			}
		default:
			c.badArgument(a, arg)
			return nil
		}
	}
	if condition == nil {
		c.badArguments(a, a.Name.Span())
		return nil
	}
	node := s.check(condition)
	if node == nil {
		return nil
	}
	v := &model.Validation{Expression: node, Message: message, Text: syntax.FormatExpr(condition), Span: a.Span()}
	if !hasMessage {
		v.Message = v.Text
	}
	if field != nil && !find(v, field) {
		return nil
	}
	return v
}
