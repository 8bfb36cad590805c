package lsp

import (
	"regexp"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// signatureForms are the forms of the parentheses of actions, by the kind of the action.
// The first argument is the content of the first parentheses.
var signatureForms = map[string]string{
	"get":    "get name(inputs that pin a row)",
	"list":   "list name(filters)",
	"create": "create name() with (values)",
	"update": "update name(inputs that pin a row) with (values)",
	"delete": "delete name(inputs that pin a row)",
	"read":   "read name(inputs) returns (message)",
	"write":  "write name(inputs) returns (message)",

	"history": "history name(id)",
}

// signatureHelp answers with the possible content of the parentheses around a place: the
// arguments of an attribute or function, or the inputs of an action.
func (v *view) signatureHelp(p positionParams) (*signatureHelp, error) {
	at := cursorAt(v.file, v.lines.offset(p.Position))
	switch {
	case at.call != "":
		return functionHelp(at), nil
	case at.attribute != "":
		return attributeHelp(at), nil
	case at.clause != "":
		return v.index.inputHelp(at), nil
	}
	return nil, nil
}

// attributeHelp shows the forms of an attribute, like the compiler's messages.
func attributeHelp(at *cursor) *signatureHelp {
	a, found := attributeNamed(at.attribute)
	if !found {
		return nil
	}
	help := &signatureHelp{}
	for _, form := range regexp.MustCompile(`@\w+\(((?:[^()"]|"[^"]*")*)\)`).FindAllStringSubmatch(a.Usage, -1) {
		parameters := splitArguments(form[1])
		active := min(at.argument, len(parameters)-1) // the last one may come again
		for n, text := range parameters {
			if label, _, found := strings.Cut(text, ":"); found && label == at.label {
				active = n
			}
		}
		help.Signatures = append(help.Signatures, signature{form[0], &markup{"markdown", a.Text}, parametersOf(parameters), active})
		if len(parameters) <= at.argument {
			help.ActiveSignature = len(help.Signatures) // the next one has more
		}
	}
	if len(help.Signatures) == 0 {
		return nil
	}
	help.ActiveSignature = min(help.ActiveSignature, len(help.Signatures)-1)
	help.ActiveParameter = help.Signatures[help.ActiveSignature].ActiveParameter
	return help
}

// splitArguments splits arguments at the commas that are in no brackets or text.
func splitArguments(text string) []string {
	var parts []string
	depth, quoted, from := 0, false, 0
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[from:]))
}

func parametersOf(labels []string) []parameter {
	var list []parameter
	for _, label := range labels {
		list = append(list, parameter{label})
	}
	return list
}

// functionHelp shows the arguments of a function.
func functionHelp(at *cursor) *signatureHelp {
	f, found := expr.BuiltinNamed(at.call)
	if !found {
		return nil
	}
	active := min(at.argument, len(f.Parameters)-1)
	return &signatureHelp{ActiveParameter: active, Signatures: []signature{
		{f.Name + "(" + strings.Join(f.Parameters, ", ") + ")", &markup{"markdown", f.Doc}, parametersOf(f.Parameters), active},
	}}
}

// inputHelp shows the parentheses of an action, with the fields that can be inputs there.
func (x *index) inputHelp(at *cursor) *signatureHelp {
	form, found := signatureForms[at.name(0)]
	if !found {
		return nil
	}
	groups := regexp.MustCompile(`\(([^()]*)\)`).FindAllStringSubmatch(form, -1)
	active := 0
	if at.clause != "reads" {
		active = len(groups) - 1
	}
	w, _ := kindWords.find(at.name(0))
	var fields []string
	if at.clause != "returns" {
		for _, f := range withoutConditions(x.fields(ownerName(at))) {
			fields = append(fields, "`"+f.name+" "+f.typeText()+"`")
		}
	}
	text := w.text
	if len(fields) > 0 {
		text = paragraphs(text, "Fields of `"+ownerName(at)+"`: "+strings.Join(fields, ", ")+".")
	}
	var labels []string
	for _, g := range groups {
		labels = append(labels, g[0])
	}
	return &signatureHelp{ActiveParameter: active, Signatures: []signature{{form, &markup{"markdown", text}, parametersOf(labels), active}}}
}
