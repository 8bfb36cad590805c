package install

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkStatements refuses files of custom code that do more than make functions in
// schema functions, and types for these. Anything else would be done again at each
// installation, by the owner: to tables, rows and the platform alike.
func checkStatements(files []*syntax.Source) error {
	var errs syntax.Errors
	for _, f := range files {
		for _, at := range statements(f.Text) {
			head := headOf(f.Text, at)
			if !isAllowed(head) {
				span := syntax.Span{File: f, Start: f.Place(at), End: f.Place(wordEnd(f.Text, at))}
				errs.Add(schema.FunctionStatement, span, "custom code makes functions in schema functions, and does nothing else when it is installed")
			}
		}
	}
	if len(errs) > 0 {
		return &CodeError{Errors: errs.Sorted()}
	}
	return nil
}

// headLength is more than the words in front of the name in any statement that is
// allowed: of grants, each right is one.
const headLength = 16

// headOf returns the first words and marks of a statement, in lower case and without
// quotes.
func headOf(text []byte, at int) []string {
	var head []string
	for at < len(text) && len(head) < headLength {
		end := tokenEnd(text, at)
		token := text[at:end]
		at = end
		if isBlank(token) {
			continue
		}
		if string(token) == ";" {
			break
		}
		word := strings.ToLower(string(token))
		if token[0] == '"' {
			word = strings.Trim(string(token), `"`)
		}
		head = append(head, word)
	}
	return head
}

// routines are the words by which statements name what schema functions is for.
var routines = []string{"function", "procedure", "aggregate", "routine", "type", "domain"}

// isAllowed tells whether a statement is about a function or type in schema functions.
func isAllowed(head []string) bool {
	if len(head) == 0 {
		return true
	}
	rest := head[1:]
	switch head[0] {
	case "create":
		if len(rest) > 1 && rest[0] == "or" && rest[1] == "replace" {
			rest = rest[2:]
		}
	case "comment", "grant", "revoke":
		on := slices.Index(rest, "on")
		if on < 0 {
			return false
		}
		rest = rest[on+1:]
	default:
		return false
	}
	return len(rest) > 2 && slices.Contains(routines, rest[0]) && rest[1] == "functions" && rest[2] == "."
}
