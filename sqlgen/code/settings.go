package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// prefix begins the names of the settings of a call.
const prefix = "sternpost."

// entering are the functions of the platform that set those.
var entering = []string{"enter", "enter_caller", "enter_request"}

// suspicious matches a text in quotes that may be code.
var suspicious = regexp.MustCompile(`(?i)sternpost|set_config|pg_settings|platform|related|api|\breset\b`)

// settings reports where code sets the platform's settings, and warns where it names objects
// that row security does not bind: in the text itself, and in the texts in quotes within it,
// such as bodies, and statements that are executed. It goes by words, which are the same in
// each language that is made like SQL. It cannot see names that code builds at run
// time.
func (c *checker) settings(q quoted, tokens []token) {
	w := words{q.text, tokens}
	span := func(first, last int) syntax.Span {
		return c.span(q.place(tokens[first].start), q.place(tokens[last].end-1)+1)
	}
	for i := range tokens {
		first, last, message := w.sets(i)
		if message != "" {
			c.errs.Add(check.FunctionSetting, span(first, last), message)
		}
		if w.at(i) == "related" && w.at(i+1) == "." && w.at(i-1) != "." {
			*c.errs = append(*c.errs, &syntax.Diagnostic{
				Span: span(i, i+1), Code: check.FunctionUnguarded, Message: readsRelated(), Warning: true,
			})
		}
		if tokens[i].kind != constant || message != "" {
			continue
		}
		inner := q.within(tokens[i])
		if !suspicious.MatchString(inner.text) {
			continue
		}
		if within, refused := scan(inner.text); refused == nil {
			c.settings(inner, within)
		}
	}
}

// words are the tokens of a text.
type words struct {
	text   string
	tokens []token
}

// at returns a token in lower case, a name without quotes; "" beyond the ends.
func (w words) at(i int) string {
	if i < 0 || i >= len(w.tokens) {
		return ""
	}
	return strings.ToLower(w.identifier(i))
}

// isWord tells whether a token is a word of the grammar.
func (w words) isWord(i int, text string) bool {
	return i >= 0 && i < len(w.tokens) && w.tokens[i].kind == word && w.at(i) == text
}

func (w words) isConstant(i int) bool { return i < len(w.tokens) && w.tokens[i].kind == constant }

// constant returns the text in the quotes of a token.
func (w words) constant(i int) string { return unquote(w.text, w.tokens[i]).text }

// sets tells whether the tokens from one on set something of the platform's, and returns
// the first and the last token that do so.
func (w words) sets(i int) (first, last int, message string) {
	switch word := w.at(i); {
	case word == "set_config" && w.at(i+1) == "(":
		return w.setsByFunction(i)
	case word == "set" || word == "reset":
		return w.setsByStatement(i)
	case word == "update":
		j := i + 1
		for slices.Contains([]string{"only", "pg_catalog", "."}, w.at(j)) {
			j++
		}
		if w.at(j) == "pg_settings" {
			return i, j, updatesSettings()
		}
	case word == "platform" && w.at(i+1) == "." && slices.Contains(entering, w.at(i+2)) && w.at(i+3) == "(":
		return i, i + 2, enters("platform." + w.at(i+2))
	case word == "api" && w.at(i+1) == "." && w.at(i+3) == "(":
		return i, i + 2, enters("api." + w.at(i+2))
	case w.isConstant(i) && isOurs(w.constant(i)) && !(w.at(i-1) == "(" && w.at(i-2) == "current_setting") && !w.isNamed(i):
		return i, i, setsOurs(w.constant(i))
	}
	return 0, 0, ""
}

// isNamed tells whether a text is the name of a setting in a call of set_config. The call
// itself is reported.
func (w words) isNamed(i int) bool {
	if w.at(i-2) == "setting_name" {
		i -= 2
	}
	return w.at(i-1) == "(" && w.at(i-2) == "set_config"
}

func isOurs(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return strings.HasPrefix(name, prefix) && len(strings.Fields(name)) == 1
}

// setsByFunction checks a call of set_config, whose name is a text or cannot be known.
func (w words) setsByFunction(i int) (first, last int, message string) {
	name := i + 2
	if w.at(name) == "setting_name" {
		name += 2 // => or :=
	}
	if !w.isConstant(name) || name+1 >= len(w.tokens) || !slices.Contains([]string{",", "::"}, w.at(name+1)) {
		return i, i, setsUnknown()
	}
	if isOurs(w.constant(name)) {
		return i, name, setsOurs(w.constant(name))
	}
	return 0, 0, ""
}

// setsByStatement checks set and reset, as statements or as clauses.
func (w words) setsByStatement(i int) (first, last int, message string) {
	name := i + 1
	if w.at(name) == "local" || w.at(name) == "session" {
		name++
	}
	switch word := w.at(name); {
	case strings.HasPrefix(word, prefix): // in quotes
		return i, name, setsOurs(word)
	case word+"." == prefix && w.at(name+1) == ".":
		return i, name + 2, setsOurs(prefix + w.at(name+2))
	case word == "all" && w.at(i) == "reset" && (w.at(name+1) == "" || w.at(name+1) == ";"):
		return i, name, setsAll()
	}
	return 0, 0, ""
}
