package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// symbol is a possible name at a place.
type symbol struct {
	name   string
	class  class
	detail string           // in the form of a declaration
	doc    string           // Markdown
	span   syntax.Span      // of the name where it is declared; the zero Span means built in
	insert string           // what completion writes; "" means the name
	next   func() []*symbol // what can follow behind a dot; nil means nothing
	unseen bool             // of a field: no record shows it

	isCondition bool // whether it is a condition of a model, which only expressions name

	spelling spelling
	typeName string // of a field
	array    bool
	optional bool
	column   string        // of a field; "" means none
	input    *syntax.Input // that it names, or nil
}

// typeText returns the type of a field as a schema writes it.
func (y *symbol) typeText() string { return typeText(y.typeName, y.array, y.optional) }

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

func named(symbols []*symbol, name string) *symbol {
	i := slices.IndexFunc(symbols, func(y *symbol) bool { return y.name == name })
	if i < 0 {
		return nil
	}
	return symbols[i]
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

// variable returns the name of a row in expressions.
func (x *index) variable(modelName string) []*symbol {
	if modelName == "" {
		return nil
	}
	y := &symbol{name: model.Variable(modelName), class: classValue, detail: model.Variable(modelName) + " " + modelName,
		doc: "The row of `" + modelName + "`.", next: func() []*symbol { return x.fields(modelName) }}
	if d := x.declaration(modelName); d != nil {
		y.span, y.spelling = declaredName(d).Span(), asVariable(declaredName(d))
	}
	return []*symbol{y}
}

func (x *index) contextSymbol() *symbol {
	ctx := wordSymbols(contextWords.only("ctx"), classKeyword)[0]
	ctx.next = func() []*symbol {
		members := []string{"identity Identity?", "isAuthenticated Boolean", "secondFactor Boolean", "signedInWithin Boolean", "now Timestamp", "headers"}
		if len(x.config.Environment) > 0 {
			members = append(members, "env")
		}
		if len(x.config.Secrets) > 0 {
			members = append(members, "secrets")
		}
		symbols := contextSymbols(members...)
		named(symbols, "identity").next = func() []*symbol { return x.fields("Identity") }
		for name, values := range map[string][]string{"env": x.config.Environment, "secrets": x.config.Secrets} {
			if y := named(symbols, name); y != nil {
				y.next = func() []*symbol { return configured(values) }
			}
		}
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

// declarationClasses are the classes of declarations, by their keywords.
var declarationClasses = map[string]class{
	"model": classModel, "union": classModel, "enum": classEnum, "message": classMessage, "role": classRole, "api": classAPI, "job": classAction,
}

// declarationsOf returns the symbols of declarations in a project that begin with one of some keywords.
func (x *index) declarationsOf(keywords ...string) []*symbol {
	var symbols []*symbol
	for _, f := range x.files {
		for _, d := range f.Decls {
			if _, keyword, _ := declared(d); slices.Contains(keywords, keyword) {
				symbols = append(symbols, declarationSymbol(d))
			}
		}
	}
	return symbols
}

// declarationSymbol returns the symbol of a declaration.
func declarationSymbol(d syntax.Decl) *symbol {
	name, keyword, doc := declared(d)
	y := declaredSymbol(name, declarationClasses[keyword], keyword+" "+name.Name, doc)
	switch d := d.(type) {
	case *syntax.Model:
		y.doc = paragraphs(y.doc, fmt.Sprintf("Table `app.%s`.", model.SnakeForm(name.Name)))
	case *syntax.Enum:
		var values []string
		for _, v := range d.Values {
			values = append(values, v.Name.Name)
		}
		y.detail += " { " + strings.Join(values, " ") + " }"
		y.next = func() []*symbol { return valueSymbols(d) }
	}
	return y
}

// declaredSymbol returns the symbol of a declared name.
func declaredSymbol(name *syntax.Ident, c class, detail string, doc *syntax.Doc) *symbol {
	return &symbol{name: name.Name, class: c, detail: detail, doc: docText(doc), span: name.Span(), spelling: plainly(name)}
}

func (x *index) identitySymbol() *symbol {
	return &symbol{name: "Identity", class: classModel, detail: "model Identity",
		doc: "A user or machine that can be authenticated. Other callers are anonymous. Built in.\n\nTable `app.identity`."}
}

func valueSymbols(d *syntax.Enum) []*symbol {
	var symbols []*symbol
	for _, v := range d.Values {
		symbols = append(symbols, declaredSymbol(v.Name, classEnumValue, d.Name.Name+"."+v.Name.Name, v.Doc))
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
	y := declaredSymbol(a.Name, classAction, detail, a.Doc)
	y.doc = paragraphs(y.doc, fmt.Sprintf("Action of `%s`. Function `api.%s`.", owner, model.SnakeForm(a.Name.Name)))
	return y
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
