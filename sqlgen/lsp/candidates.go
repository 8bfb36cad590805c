package lsp

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// resolve returns the meaning of the word at a place, or nil.
func (x *index) resolve(s *cursor) *symbol {
	switch {
	case s.word == "":
		return nil
	case s.slot == slotNew:
		return x.declared(s)
	case s.afterAt: // explained also where it should not stand
		return named(attributeSymbols(attributeWords, true), s.word)
	}
	return named(x.candidates(s), s.word)
}

// candidates returns the possible names at a place.
func (x *index) candidates(s *cursor) []*symbol {
	symbols := x.roots(s)
	for _, step := range s.path {
		y := named(symbols, step)
		if y == nil || y.next == nil {
			return nil
		}
		symbols = y.next()
	}
	return symbols
}

// roots returns the possible beginnings of a path at a place.
func (x *index) roots(s *cursor) []*symbol {
	isUnion := s.keyword == "union"
	switch s.slot {
	case slotDeclaration:
		return wordSymbols(declarationWords.only("model", "union", "enum", "message", "role", "api", "job"), classKeyword)
	case slotMember:
		blocks := blockWords.only("fields", "conditions", "actions")
		switch s.keyword {
		case "union":
			blocks = blockWords.only("fields", "arms", "actions")
		case "job":
			blocks = blockWords.only("inputs")
		}
		return append(wordSymbols(blocks, classKeyword), attributeSymbols(attributeWords, s.afterAt)...)
	case slotAttribute:
		return attributeSymbols(attributeWords, s.afterAt)
	case slotType:
		return x.fieldTypes(s)
	case slotModel:
		if s.keyword == "api" {
			return x.models("union")
		}
		return x.models()
	case slotKind:
		return kinds(isUnion)
	case slotClause:
		attributes := attributeSymbols(attributeWords, s.afterAt)
		if s.afterAt {
			return attributes
		}
		ofActions := slices.DeleteFunc(attributes, func(y *symbol) bool { return y.name == "history" }) // an attribute of models, beside the kind
		return slices.Concat(clauses(s), ofActions, kinds(isUnion))
	case slotInput:
		return x.inputRoots(s)
	case slotBlock:
		return wordSymbols(blockWords.only(map[string][]string{
			"role": {"emails", "domains", "expression"}, "api": {"models"}, "api model": {"actions"},
		}[s.block]...), classKeyword)
	case slotAPIAction:
		return x.actions(s)
	case slotArgument:
		return x.arguments(s)
	}
	return nil
}

func kinds(inUnion bool) []*symbol {
	if inUnion {
		return wordSymbols(kindWords.only("get", "list"), classKeyword)
	}
	return wordSymbols(kindWords, classKeyword)
}

// clauses returns the clauses that may follow the inputs of an action of its kind.
func clauses(s *cursor) []*symbol {
	switch s.name(0) {
	case "create", "update":
		return wordSymbols(clauseWords.only("with"), classKeyword)
	case "read", "write":
		return wordSymbols(clauseWords.only("returns"), classKeyword)
	}
	return nil
}

// fieldTypes returns the types that a field or labelled input can have.
func (x *index) fieldTypes(s *cursor) []*symbol {
	symbols := append(wordSymbols(scalarWords, classScalar), x.declarationsOf("enum")...)
	if s.block != "actions" && s.keyword != "union" && s.keyword != "job" {
		symbols = append(symbols, x.models()...)
	}
	if s.keyword == "message" {
		symbols = append(symbols, x.messages()...)
	}
	return symbols
}

// models returns the models, and declarations of other keywords beside them.
func (x *index) models(beside ...string) []*symbol {
	return append(x.declarationsOf(append(beside, "model")...), x.identitySymbol())
}

// messages returns the types of inputs and results of custom code.
func (x *index) messages() []*symbol {
	return append(x.declarationsOf("message"), wordSymbols(anyWord, classScalar)...)
}

// inputRoots returns the possible beginnings of an input: a field of the action's
// model, or as the only one of a read or write, and in returns, a message.
func (x *index) inputRoots(s *cursor) []*symbol {
	symbols := withoutConditions(x.fields(ownerName(s)))
	if kind := s.name(0); kind == "read" || kind == "write" {
		symbols = append(symbols, x.messages()...)
	}
	return symbols
}

func ownerName(s *cursor) string {
	if s.owner == nil {
		return ""
	}
	return s.owner.Text
}

// actions returns the actions of the model that an api lists at a place.
func (x *index) actions(s *cursor) []*symbol {
	modelName := apiModelAt(s)
	var symbols []*symbol
	if modelName == "Identity" {
		for _, name := range model.IdentityActions() {
			symbols = append(symbols, &symbol{name: name, class: classAction, detail: "action of Identity"})
		}
	}
	if d := x.declaration(modelName); d != nil {
		for _, a := range syntax.ActionsOf(members(d)) {
			symbols = append(symbols, actionSymbol(modelName, a))
		}
	}
	return symbols
}

// apiModelAt returns the model of an api around a place.
func apiModelAt(s *cursor) string {
	for _, d := range s.file.Decls {
		api, ok := d.(*syntax.API)
		if !ok {
			continue
		}
		for _, m := range api.Models {
			if m.Span().Start.Offset <= s.start && s.start <= m.Span().End.Offset {
				return m.Name.Name
			}
		}
	}
	return ""
}

// arguments returns the possible names in the arguments of an attribute.
func (x *index) arguments(s *cursor) []*symbol {
	own := func() []*symbol { return x.fields(ownerName(s)) }
	labels := func(names ...string) []*symbol {
		if !s.first && !s.isLabel {
			return nil
		}
		symbols := wordSymbols(argumentWords.only(names...), classKeyword)
		for _, y := range symbols {
			y.insert = y.name + ": "
		}
		return symbols
	}
	bare := func(names ...string) []*symbol { return wordSymbols(argumentWords.only(names...), classKeyword) }
	switch at := s.attribute + " " + s.label; {
	case s.attribute == "unique", s.attribute == "index":
		return withoutConditions(own())
	case s.attribute == "sortable", s.attribute == "facet", s.attribute == "select", at == "orderBy ":
		return seen(own())
	case s.attribute == "orderBy":
		return bare("asc", "desc")
	case s.attribute == "relation":
		return x.relationFields(s)
	case s.attribute == "allow":
		return wordSymbols(warningWords, classValue)
	case s.attribute == "onDelete":
		return bare("cascade", "restrict", "setNull")
	case s.attribute == "format":
		return bare("email", "url")
	case at == "pattern ":
		return labels("message")
	case at == "renamed ":
		return labels("from")
	case at == "on ":
		return slices.Concat(bareKinds(kinds(false)), x.subscriberSymbols(), labels("fields", "where"))
	case at == "schedule ":
		return labels("timeZone")
	case at == "on fields":
		return own()
	case at == "permission ":
		return labels("expression", "roles", "actions", "jobs")
	case at == "permission jobs":
		return append(x.subscriberSymbols(), x.declarationsOf("job")...)
	case at == "permission roles":
		return x.declarationsOf("role")
	case at == "permission actions":
		return slices.DeleteFunc(kinds(s.keyword == "union"), func(y *symbol) bool { return y.name == "history" })
	case at == "live ":
		return labels("of")
	case at == "live of":
		return x.models("Identity")
	case at == "history ":
		return labels("keep")
	case at == "computed ":
		return append(x.expressionRoots(s), labels("expression")...)
	case at == "sequence ":
		return labels("per")
	case at == "sequence per":
		return own()
	case at == "validate field" && s.block == "model":
		return own()
	case at == "validate field":
		return x.inputSymbols(s)
	case at == "validate message", s.attribute == "renamed":
		return nil
	case at == "validate ":
		return append(x.expressionRoots(s), labels("expression", "message", "field")...)
	case s.attribute == "embed":
		return relations(seen(own()))
	case s.attribute == "set" && !s.assigned:
		return x.variable(ownerName(s))
	case s.attribute == "default":
		return x.defaults(s)
	case at == "where ":
		return append(x.expressionRoots(s), labels("expression")...)
	case s.block == "expression", s.block == "conditions", s.attribute == "on", s.attribute == "permission", s.attribute == "validate", s.attribute == "where", s.attribute == "set", s.attribute == "computed":
		return x.expressionRoots(s)
	}
	return nil
}

// bareKinds keeps the kinds of writes to one row.
func bareKinds(kinds []*symbol) []*symbol {
	return slices.DeleteFunc(kinds, func(y *symbol) bool { return !slices.Contains([]string{"create", "update", "delete"}, y.name) })
}

// subscriberSymbols returns the subscribers that the @on of models name.
func (x *index) subscriberSymbols() []*symbol {
	var list words
	for _, d := range x.types {
		for _, a := range syntax.AttributesOf(members(d)) {
			if a.Name.Name != "on" || len(a.Args) < 2 {
				continue
			}
			if p, ok := a.Args[1].Value.(*syntax.Path); ok && len(p.Steps) == 1 {
				named := word{name: p.Steps[0].Name, text: "A subscriber of events, by `functions/" + p.Steps[0].Name + ".sql`."}
				if !slices.Contains(list, named) {
					list = append(list, named)
				}
			}
		}
	}
	return wordSymbols(list, classValue)
}

// relationFields returns the fields by which the type of a field leads back.
func (x *index) relationFields(s *cursor) []*symbol {
	return slices.DeleteFunc(slices.Clone(x.fields(s.name(1))), func(y *symbol) bool { return y.typeName != ownerName(s) })
}

// seen keeps the fields that records can show, or that lead to such fields.
func seen(symbols []*symbol) []*symbol {
	return kept(symbols, func(y *symbol) bool { return !y.unseen })
}

// withoutConditions keeps the fields.
func withoutConditions(symbols []*symbol) []*symbol {
	return kept(symbols, func(y *symbol) bool { return !y.isCondition })
}

// relations keeps the relations of fields, and of what follows them.
func relations(symbols []*symbol) []*symbol {
	return kept(symbols, func(y *symbol) bool { return y.next != nil })
}

// kept keeps some symbols, and of what follows them.
func kept(symbols []*symbol, keeps func(*symbol) bool) []*symbol {
	var list []*symbol
	for _, y := range symbols {
		if !keeps(y) {
			continue
		}
		of := *y
		if y.next != nil {
			of.next = func() []*symbol { return kept(y.next(), keeps) }
		}
		list = append(list, &of)
	}
	return list
}

// defaults returns the possible values of a @default.
func (x *index) defaults(s *cursor) []*symbol {
	symbols := wordSymbols(literalWords, classValue)
	if y := named(x.declarationsOf("enum"), s.name(1)); y != nil {
		symbols = append(symbols, y)
	}
	ctx := wordSymbols(contextWords.only("ctx"), classKeyword)[0]
	ctx.next = func() []*symbol { return contextSymbols("now Timestamp") }
	return append(symbols, ctx)
}

// expressionRoots returns the possible beginnings of a path in an expression: the row,
// the inputs, ctx and enums, as far as they can be named there.
func (x *index) expressionRoots(s *cursor) []*symbol {
	row, withContext := ownerName(s), true
	switch {
	case s.block == "expression", s.keyword == "job": // of a role, or who starts a job
		row = ""
	case s.attribute == "computed":
		withContext = false
	case s.block == "arms":
		row, withContext = s.name(1), false
	case s.block == "model" && s.attribute == "validate", s.attribute == "on":
		withContext = false
	}
	var symbols []*symbol
	if s.block != "actions" || s.attribute != "validate" {
		symbols = append(symbols, x.variable(row)...)
	}
	symbols = append(symbols, x.inputSymbols(s)...)
	if withContext {
		symbols = append(symbols, x.contextSymbol())
	}
	functions := slices.DeleteFunc(slices.Clone(functionWords), func(w word) bool {
		f, _ := expr.BuiltinNamed(w.name)
		return f.IsAggregate && s.attribute != "computed"
	})
	symbols = append(symbols, wordSymbols(functions, classKeyword)...)
	return slices.Concat(symbols, x.declarationsOf("enum"), wordSymbols(literalWords, classValue))
}

// inputSymbols returns the inputs of the action around a place, by their names in
// expressions.
func (x *index) inputSymbols(s *cursor) []*symbol {
	if s.keyword == "job" {
		return x.fields(ownerName(s))
	}
	if s.block != "actions" || len(s.item) < 2 {
		return nil
	}
	action, owner := x.action(s.file, s.item[1])
	if action == nil {
		return nil
	}
	inputs := action.Reads.List
	if action.With != nil {
		inputs = append(slices.Clone(inputs), action.With.List...)
		if s.attribute == "set" || s.attribute == "validate" { // of two by one name, the value is meant
			inputs = append(slices.Clone(action.With.List), action.Reads.List...)
		}
	}
	var symbols []*symbol
	for _, in := range inputs {
		var steps []string
		for _, step := range in.Path.Steps {
			steps = append(steps, step.Name)
		}
		y := &symbol{class: classValue, doc: "An input of `" + action.Name.Name + "`.", span: in.Span(), input: in}
		if in.Label != nil {
			y.name, y.span, y.spelling = in.Label.Name, in.Label.Span(), plainly(in.Label)
			y.detail = y.name + ": " + typeText(steps[0], in.Array != nil, in.Optional != nil)
		} else {
			y.name = model.FlatName(steps)
			y.detail = typeText(strings.Join(steps, "."), false, in.Optional != nil)
			if path := x.fieldPath(owner, steps); path != nil {
				y.detail += " // " + path[len(path)-1].typeText()
				y.spelling = flat(steps, path)
			}
		}
		symbols = append(symbols, y)
	}
	return symbols
}

// fieldPath returns the fields that a path from a model names, nil if one is
// missing.
func (x *index) fieldPath(owner string, steps []string) []*symbol {
	var path []*symbol
	for _, step := range steps {
		f := named(x.fields(owner), step)
		if f == nil {
			return nil
		}
		path, owner = append(path, f), f.typeName
	}
	return path
}

// declared returns the thing whose declaration has its name at a place.
func (x *index) declared(s *cursor) *symbol {
	var symbols []*symbol
	switch {
	case s.block == "file" || s.keyword == "":
		for _, d := range s.file.Decls {
			if declaredName(d) != nil {
				symbols = append(symbols, declarationSymbol(d))
			}
		}
	case s.block == "actions" && s.isLabel:
		symbols = x.inputSymbols(s)
	case s.block == "enum":
		if d, ok := x.declaration(ownerName(s)).(*syntax.Enum); ok {
			symbols = valueSymbols(d)
		}
	case s.block == "actions":
		for _, a := range syntax.ActionsOf(members(x.declaration(ownerName(s)))) {
			symbols = append(symbols, actionSymbol(ownerName(s), a))
		}
	case s.block == "arms":
		for _, a := range syntax.ArmsOf(members(x.declaration(ownerName(s)))) {
			symbols = append(symbols, declaredSymbol(a.Name, classArm, a.Name.Name+" "+a.Model.Name, a.Doc))
		}
	default:
		symbols = x.fields(ownerName(s))
	}
	// The one here, if two declarations have one name.
	if i := slices.IndexFunc(symbols, func(y *symbol) bool { return y.name == s.word && y.span.Start.Offset == s.start }); i >= 0 {
		return symbols[i]
	}
	return named(symbols, s.word)
}
