package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// symbol is something that can be named at a place.
type symbol struct {
	name   string
	class  class
	detail string           // as it would be declared
	doc    string           // Markdown
	span   syntax.Span      // of the name where it is declared; the zero Span means built in
	insert string           // what completion writes; "" means the name
	next   func() []*symbol // what can follow behind a dot; nil means nothing
}

// resolve returns what the word at a place stands for, or nil.
func (x *index) resolve(s *spot) *symbol {
	if s.word == "" {
		return nil
	}
	switch {
	case s.slot == slotNew:
		return x.declared(s)
	case s.afterAt: // explained also where it should not stand
		return named(attributeSymbols(attributeWords, true), s.word)
	}
	return named(x.candidates(s), s.word)
}

func named(symbols []*symbol, name string) *symbol {
	i := slices.IndexFunc(symbols, func(y *symbol) bool { return y.name == name })
	if i < 0 {
		return nil
	}
	return symbols[i]
}

// candidates returns what can be named at a place.
func (x *index) candidates(s *spot) []*symbol {
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

// roots returns what a path at a place can begin with.
func (x *index) roots(s *spot) []*symbol {
	isUnion := s.keyword == "union"
	switch s.slot {
	case slotDeclaration:
		return wordSymbols(declarationWords.only("model", "union", "enum", "message", "role", "api"), classKeyword)
	case slotMember:
		blocks := blockWords.only("fields", "actions")
		if isUnion {
			blocks = blockWords.only("fields", "arms", "actions")
		}
		return append(wordSymbols(blocks, classKeyword), x.attributes(s)...)
	case slotAttribute:
		return x.attributes(s)
	case slotType:
		return x.fieldTypes(s)
	case slotModel:
		return x.models(s.keyword == "api")
	case slotKind:
		return kinds(isUnion)
	case slotClause:
		return slices.Concat(clauses(s), x.attributes(s), kinds(isUnion))
	case slotInput:
		return x.inputRoots(s)
	case slotBlock:
		return wordSymbols(blockWords.only(map[string][]string{
			"role": {"emails", "domains"}, "api": {"models"}, "api model": {"actions"},
		}[s.block]...), classKeyword)
	case slotAPIAction:
		return x.actions(s)
	case slotArgument:
		return x.arguments(s)
	}
	return nil
}

func wordSymbols(list words, c class) []*symbol {
	var symbols []*symbol
	for _, w := range list {
		y := &symbol{name: w.name, class: c, doc: w.text}
		if w.example != "" {
			y.doc += "\n\n" + fenced(w.example)
		}
		symbols = append(symbols, y)
	}
	return symbols
}

func kinds(inUnion bool) []*symbol {
	if inUnion {
		return wordSymbols(kindWords.only("get", "list"), classKeyword)
	}
	return wordSymbols(kindWords, classKeyword)
}

// clauses returns what may follow the inputs of an action of its kind.
func clauses(s *spot) []*symbol {
	switch s.name(0) {
	case "create", "update":
		return wordSymbols(clauseWords.only("with"), classKeyword)
	case "read", "write":
		return wordSymbols(clauseWords.only("returns"), classKeyword)
	}
	return nil
}

// attributes returns the attributes that can stand at a place, with the @ that
// is not there yet.
func (x *index) attributes(s *spot) []*symbol {
	bearer := x.bearerOf(s)
	var allowed words
	for _, w := range attributeWords {
		if w.isOn(bearer) {
			allowed = append(allowed, w)
		}
	}
	return attributeSymbols(allowed, s.afterAt)
}

func attributeSymbols(list words, afterAt bool) []*symbol {
	symbols := wordSymbols(list, classAttribute)
	for _, y := range symbols {
		y.detail = "@" + y.name
		if !afterAt {
			y.insert = y.detail
		}
	}
	return symbols
}

// bearerOf returns what an attribute at a place would stand on, in the words of
// the attributes' table.
func (x *index) bearerOf(s *spot) string {
	switch {
	case s.block == "model", s.block == "union":
		return s.block
	case s.block == "enum":
		return "enumValue"
	case s.block == "arms":
		return "arm"
	case s.block == "actions" && s.keyword == "union":
		return map[string]string{"get": "unionGet", "list": "unionList"}[s.name(0)]
	case s.block == "actions":
		return s.name(0)
	case s.block != "fields" || s.keyword == "union":
		return ""
	case s.name(1) == "File":
		return "file"
	case !x.isModel(s.name(1)):
		return "scalar"
	}
	if f := x.fieldOf(s); f != nil && f.array {
		return "toMany"
	}
	return "toOne"
}

// fieldOf returns the field in whose attributes a place is, or nil.
func (x *index) fieldOf(s *spot) *field {
	if s.owner == nil {
		return nil
	}
	for _, f := range x.fields(s.owner.Text) {
		if f.name == s.name(0) {
			return f
		}
	}
	return nil
}

// fieldTypes returns the types that a field or labelled input can have.
func (x *index) fieldTypes(s *spot) []*symbol {
	symbols := wordSymbols(scalarWords, classScalar)
	inInput := s.block == "actions"
	for _, d := range x.types {
		switch d.(type) {
		case *syntax.Enum:
		case *syntax.Model:
			if inInput || s.keyword == "union" {
				continue
			}
		case *syntax.Message:
			if s.keyword != "message" {
				continue
			}
		default:
			continue
		}
		symbols = append(symbols, x.typeSymbol(d))
	}
	if !inInput && s.keyword != "union" {
		symbols = append(symbols, x.identitySymbol())
	}
	if s.keyword == "message" {
		symbols = append(symbols, wordSymbols(anyWord, classScalar)...)
	}
	return symbols
}

func (x *index) models(withUnions bool) []*symbol {
	var symbols []*symbol
	for _, d := range x.types {
		_, isModel := d.(*syntax.Model)
		_, isUnion := d.(*syntax.Union)
		if isModel || isUnion && withUnions {
			symbols = append(symbols, x.typeSymbol(d))
		}
	}
	if !withUnions {
		symbols = append(symbols, x.identitySymbol())
	}
	return symbols
}

// inputRoots returns what an input can begin with: a field of the action's
// model, or as the only one of a read or write, and in returns, a message.
func (x *index) inputRoots(s *spot) []*symbol {
	symbols := x.fieldSymbols(ownerName(s))
	if kind := s.name(0); kind == "read" || kind == "write" {
		for _, d := range x.types {
			if _, isMessage := d.(*syntax.Message); isMessage {
				symbols = append(symbols, x.typeSymbol(d))
			}
		}
		symbols = append(symbols, wordSymbols(anyWord, classScalar)...)
	}
	return symbols
}

func ownerName(s *spot) string {
	if s.owner == nil {
		return ""
	}
	return s.owner.Text
}

// actions returns the actions of the model that an api lists them of.
func (x *index) actions(s *spot) []*symbol {
	// The api's model is the last name before the braces around the place.
	model := x.apiModelAt(s)
	var symbols []*symbol
	if d := x.declaration(model); d != nil {
		for _, a := range syntax.ActionsOf(members(d)) {
			symbols = append(symbols, actionSymbol(model, a))
		}
	}
	return symbols
}

func (x *index) apiModelAt(s *spot) string {
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

// arguments returns what can be named in the arguments of an attribute.
func (x *index) arguments(s *spot) []*symbol {
	own := func() []*symbol { return x.fieldSymbols(ownerName(s)) }
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
	case s.attribute == "unique", s.attribute == "index", s.attribute == "sortable", at == "orderBy ":
		return own()
	case s.attribute == "orderBy":
		return bare("asc", "desc")
	case s.attribute == "relation":
		return x.relationFields(s)
	case s.attribute == "onDelete":
		return bare("cascade", "restrict", "setNull")
	case at == "renamed ":
		return labels("from")
	case at == "permission ":
		return labels("expression", "roles", "actions")
	case at == "permission roles":
		return x.roleSymbols()
	case at == "permission actions":
		return kinds(s.keyword == "union")
	case at == "validate message", s.attribute == "renamed":
		return nil
	case at == "validate ":
		return append(x.expressionRoots(s), labels("expression", "message")...)
	case s.attribute == "embed":
		return relations(own())
	case s.attribute == "set" && !s.assigned:
		return x.variable(ownerName(s))
	case s.attribute == "default":
		return x.defaults(s)
	case at == "where ":
		return append(x.expressionRoots(s), labels("expression")...)
	case s.attribute == "permission", s.attribute == "validate", s.attribute == "where", s.attribute == "set":
		return x.expressionRoots(s)
	}
	return nil
}

// relationFields returns the fields by which the type of a field leads back.
func (x *index) relationFields(s *spot) []*symbol {
	return slices.DeleteFunc(x.fieldSymbols(s.name(1)), func(y *symbol) bool {
		return !slices.ContainsFunc(x.fields(s.name(1)), func(f *field) bool { return f.name == y.name && f.typeName == ownerName(s) })
	})
}

// relations keeps the relations of fields, and of what follows them.
func relations(symbols []*symbol) []*symbol {
	var kept []*symbol
	for _, y := range symbols {
		if next := y.next; next != nil {
			kept = append(kept, y)
			y.next = func() []*symbol { return relations(next()) }
		}
	}
	return kept
}

// defaults returns what a @default can take.
func (x *index) defaults(s *spot) []*symbol {
	symbols := wordSymbols(literalWords, classValue)
	if _, isEnum := x.declaration(s.name(1)).(*syntax.Enum); isEnum {
		symbols = append(symbols, x.typeSymbol(x.declaration(s.name(1))))
	}
	ctx := wordSymbols(contextWords.only("ctx"), classKeyword)[0]
	ctx.next = func() []*symbol { return contextSymbols("now Timestamp") }
	return append(symbols, ctx)
}

// contextSymbols makes members of ctx, each given by its name and type.
func contextSymbols(declarations ...string) []*symbol {
	var symbols []*symbol
	for _, d := range declarations {
		name, _, _ := strings.Cut(d, " ")
		w, _ := contextWords.find(name)
		symbols = append(symbols, &symbol{name: name, class: classField, detail: d, doc: w.text})
	}
	return symbols
}

// expressionRoots returns what a path in an expression can begin with: the row,
// the inputs, ctx and enums, as far as they can be named there.
func (x *index) expressionRoots(s *spot) []*symbol {
	row, withContext := ownerName(s), true
	switch {
	case s.block == "arms":
		row, withContext = s.name(1), false
	case s.block == "model" && s.attribute == "validate":
		withContext = false
	}
	var symbols []*symbol
	if s.block != "actions" || s.attribute != "validate" {
		symbols = append(symbols, x.variable(row)...)
	}
	if s.block == "actions" && len(s.item) == 2 {
		symbols = append(symbols, x.inputSymbols(s)...)
	}
	if withContext {
		symbols = append(symbols, x.contextSymbol())
	}
	for _, d := range x.types {
		if _, isEnum := d.(*syntax.Enum); isEnum {
			symbols = append(symbols, x.typeSymbol(d))
		}
	}
	return append(symbols, wordSymbols(literalWords, classValue)...)
}

// variable returns the name of a row in expressions.
func (x *index) variable(model string) []*symbol {
	if model == "" {
		return nil
	}
	y := &symbol{name: schema.Variable(model), class: classValue, detail: schema.Variable(model) + " " + model,
		doc: "The row of `" + model + "`.", next: func() []*symbol { return x.fieldSymbols(model) }}
	if d := x.declaration(model); d != nil {
		y.span = declaredName(d).Span()
	}
	return []*symbol{y}
}

// inputSymbols returns the inputs of the action in whose attributes a place is,
// by the names that expressions call them.
func (x *index) inputSymbols(s *spot) []*symbol {
	action, owner := x.action(s.file, s.item[1])
	if action == nil {
		return nil
	}
	inputs := action.Reads.List
	if action.With != nil {
		inputs = append(slices.Clone(inputs), action.With.List...)
	}
	var symbols []*symbol
	for _, in := range inputs {
		var steps []string
		for _, step := range in.Path.Steps {
			steps = append(steps, step.Name)
		}
		y := &symbol{class: classValue, doc: "An input of `" + action.Name.Name + "`.", span: in.Span()}
		if in.Label != nil {
			y.name, y.span = in.Label.Name, in.Label.Span()
			y.detail = y.name + ": " + typeText(steps[0], in.Array != nil, in.Optional != nil)
		} else {
			y.name = schema.FlatName(steps)
			y.detail = typeText(strings.Join(steps, "."), false, in.Optional != nil)
			if f := x.walkPath(owner, steps); f != nil {
				y.detail += " // " + f.typeText()
			}
		}
		symbols = append(symbols, y)
	}
	return symbols
}

// walkPath returns the field that a path from a model leads to, or nil.
func (x *index) walkPath(owner string, steps []string) *field {
	var last *field
	for _, step := range steps {
		fields := x.fields(owner)
		i := slices.IndexFunc(fields, func(f *field) bool { return f.name == step })
		if i < 0 {
			return nil
		}
		last, owner = fields[i], fields[i].typeName
	}
	return last
}

func (x *index) contextSymbol() *symbol {
	ctx := wordSymbols(contextWords.only("ctx"), classKeyword)[0]
	ctx.next = func() []*symbol {
		symbols := contextSymbols("identity Identity?", "isAuthenticated Boolean", "now Timestamp", "headers", "env", "secrets")
		named(symbols, "identity").next = func() []*symbol { return x.fieldSymbols("Identity") }
		named(symbols, "env").next = func() []*symbol { return configured(x.config.Environment) }
		named(symbols, "secrets").next = func() []*symbol { return configured(x.config.Secrets) }
		return symbols
	}
	return ctx
}

func configured(names []string) []*symbol {
	var symbols []*symbol
	for _, name := range names {
		symbols = append(symbols, &symbol{name: name, class: classField, detail: name + " Text", doc: "Declared in `sternpost.yaml`."})
	}
	return symbols
}

func (x *index) roleSymbols() []*symbol {
	var symbols []*symbol
	for _, r := range x.roles {
		symbols = append(symbols, roleSymbol(r))
	}
	return symbols
}

func roleSymbol(r *syntax.Role) *symbol {
	return &symbol{name: r.Name.Name, class: classRole, detail: "role " + r.Name.Name, doc: docText(r.Doc), span: r.Name.Span()}
}

// typeSymbol returns the symbol of a declared type.
func (x *index) typeSymbol(d syntax.Decl) *symbol {
	name := declaredName(d)
	y := &symbol{name: name.Name, span: name.Span()}
	switch d := d.(type) {
	case *syntax.Model:
		y.class, y.detail = classModel, "model "+name.Name
		y.doc = paragraphs(docText(d.Doc), fmt.Sprintf("Table `app.%s`.", schema.SnakeForm(name.Name)))
	case *syntax.Union:
		y.class, y.detail, y.doc = classModel, "union "+name.Name, docText(d.Doc)
	case *syntax.Message:
		y.class, y.detail, y.doc = classMessage, "message "+name.Name, docText(d.Doc)
	case *syntax.Enum:
		var values []string
		for _, v := range d.Values {
			values = append(values, v.Name.Name)
		}
		y.class, y.detail, y.doc = classEnum, "enum "+name.Name+" { "+strings.Join(values, " ")+" }", docText(d.Doc)
		y.next = func() []*symbol { return valueSymbols(d) }
	}
	return y
}

func (x *index) identitySymbol() *symbol {
	return &symbol{name: "Identity", class: classModel, detail: "model Identity",
		doc: "Whoever can be authenticated: the caller of an action is one, or anonymous. Built in.\n\nTable `app.identity`."}
}

func valueSymbols(d *syntax.Enum) []*symbol {
	var symbols []*symbol
	for _, v := range d.Values {
		symbols = append(symbols, &symbol{name: v.Name.Name, class: classEnumValue, detail: d.Name.Name + "." + v.Name.Name,
			doc: docText(v.Doc), span: v.Name.Span()})
	}
	return symbols
}

// fieldSymbols returns the symbols of the fields of a model, union or message.
func (x *index) fieldSymbols(owner string) []*symbol {
	var symbols []*symbol
	for _, f := range x.fields(owner) {
		y := &symbol{name: f.name, class: classField, detail: f.name + " " + f.typeText(), span: f.span}
		stored := ""
		switch {
		case f.column != "":
			stored = fmt.Sprintf("Column `%s` of table `app.%s`.", f.column, schema.SnakeForm(owner))
		case x.isModel(owner) && x.isModel(f.typeName):
			stored = fmt.Sprintf("No column: the key is in table `app.%s`.", schema.SnakeForm(f.typeName))
		}
		y.doc = paragraphs(f.doc, strings.TrimSpace(f.note+" "+stored))
		if x.isModel(f.typeName) {
			y.next = func() []*symbol { return x.fieldSymbols(f.typeName) }
		}
		symbols = append(symbols, y)
	}
	return symbols
}

func actionSymbol(owner string, a *syntax.Action) *symbol {
	detail := fmt.Sprintf("%s %s%s", a.Kind.Name, a.Name.Name, inputsText(a.Reads))
	if a.With != nil {
		detail += " with " + inputsText(a.With)
	}
	if a.Returns != nil {
		detail += " returns " + inputsText(a.Returns)
	}
	return &symbol{name: a.Name.Name, class: classAction, detail: detail, span: a.Name.Span(),
		doc: paragraphs(docText(a.Doc), fmt.Sprintf("Action of `%s`. Function `api.%s`.", owner, schema.SnakeForm(a.Name.Name)))}
}

// inputsText returns inputs as they are written, on one line.
func inputsText(in *syntax.Inputs) string {
	span := in.Span()
	return strings.Join(strings.Fields(string(span.File.Text[span.Start.Offset:span.End.Offset])), " ")
}

// paragraphs joins texts that are not empty.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}

// declared returns the thing whose declaration has its name at a place.
func (x *index) declared(s *spot) *symbol {
	var symbols []*symbol
	switch {
	case s.block == "file" || s.keyword == "":
		symbols = x.declarationSymbols(s.file)
	case s.label != "" || s.isLabel:
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
			symbols = append(symbols, &symbol{name: a.Name.Name, class: classArm, detail: a.Name.Name + " " + a.Model.Name,
				doc: docText(a.Doc), span: a.Name.Span()})
		}
	default:
		symbols = x.fieldSymbols(ownerName(s))
	}
	return named(symbols, s.word)
}

// declarationSymbols returns what is declared in a file.
func (x *index) declarationSymbols(file *syntax.File) []*symbol {
	var symbols []*symbol
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *syntax.Role:
			symbols = append(symbols, roleSymbol(d))
		case *syntax.API:
			symbols = append(symbols, &symbol{name: d.Name.Name, class: classAPI, detail: "api " + d.Name.Name, doc: docText(d.Doc), span: d.Name.Span()})
		case *syntax.Later:
		default:
			symbols = append(symbols, x.typeSymbol(d))
		}
	}
	return symbols
}
