package syntax

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The forms of names where they are declared.
var (
	declForm  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)      // models, unions, enums, messages, roles, apis
	itemForm  = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)      // fields, actions, arms, input labels
	valueForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) // enum values
)

// newName reads a name where something is declared, and checks its form. The
// kind is the kind of a declaration, in the words of the language.
func (p *parser) newName(kind string) *Ident {
	name := p.ident()
	form := formOf(kind)
	if !form.MatchString(name.Name) {
		meant := respell(name.Name, form == declForm)
		if !form.MatchString(meant) || form == valueForm {
			meant = ""
		}
		p.errs.Add(BadName, name.span, badName(kind, name.Name, meant))
	}
	return name
}

func formOf(kind string) *regexp.Regexp {
	switch kind {
	case "field", "action", "arm", "input", "condition":
		return itemForm
	case "enum value":
		return valueForm
	}
	return declForm
}

// respell writes a name without underscores, each of which makes the next
// letter a capital, and with the first letter as asked for.
func respell(name string, capital bool) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' }) {
		first, size := utf8.DecodeRuneInString(word)
		if b.Len() == 0 && !capital {
			b.WriteRune(unicode.ToLower(first))
		} else {
			b.WriteRune(unicode.ToUpper(first))
		}
		b.WriteString(word[size:])
	}
	return b.String()
}
