package schema

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The longest snake forms, in bytes. Names derived from a table's name must still
// fit into the 63 bytes of a Postgres identifier.
const (
	maxTableName  = 52
	maxColumnName = 63
)

// SnakeForm returns the snake form of a name: lower case, with an underscore
// between a lower-case and an upper-case letter, between a letter and a digit in
// either order, and between two capitals of which the second is followed by a
// lower-case letter.
func SnakeForm(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && isBoundary(runes, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// isBoundary tells whether a word of the name begins at i > 0.
func isBoundary(name []rune, i int) bool {
	left, right := name[i-1], name[i]
	switch {
	case unicode.IsLower(left) && unicode.IsUpper(right):
		return true
	case unicode.IsLetter(left) && unicode.IsDigit(right), unicode.IsDigit(left) && unicode.IsLetter(right):
		return true
	case unicode.IsUpper(left) && unicode.IsUpper(right):
		return i+1 < len(name) && unicode.IsLower(name[i+1])
	}
	return false
}

// Variable returns the name of a row of a model or union in
// expressions: the leading run of capitals is lower-cased, but for the run's last
// one if the run is longer than one and a lower-case letter follows.
func Variable(name string) string {
	runes := []rune(name)
	run := 0
	for run < len(runes) && unicode.IsUpper(runes[run]) {
		run++
	}
	if run > 1 && run < len(runes) && unicode.IsLower(runes[run]) {
		run--
	}
	for i := range run {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// FlatName returns the flat name of a path: the steps joined, each but the first
// with its first letter in upper case.
func FlatName(steps []string) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			s = capitalize(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

// capitalize returns the name with its first letter in upper case.
func capitalize(name string) string {
	runes := []rune(name)
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}

// hasForm tells whether a name has the required form: a first letter of the case
// given, then letters and digits. The parser reported names without it. Errors that
// follow from them are not reported again.
func hasForm(name string, upper bool) bool {
	for i, r := range name {
		isUpper, isLower := 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z'
		switch {
		case i == 0 && (upper && !isUpper || !upper && !isLower):
			return false
		case !isUpper && !isLower && (r < '0' || r > '9'):
			return false
		}
	}
	return name != ""
}

func isTypeName(name string) bool  { return hasForm(name, true) }
func isFieldName(name string) bool { return hasForm(name, false) }

// isReservedType tells whether a model, union, enum or message cannot have that
// name in any schema.
func isReservedType(name string) bool {
	if _, ok := expr.ScalarNamed(name); ok || name == "Any" || name == identityName {
		return true
	}
	switch name {
	case "Error", "PageInfo", "UploadRequest", "UploadResponse",
		"RequestPasswordResetInput", "RequestPasswordResetResponse", "ResetPasswordInput", "ResetPasswordResponse":
		return true
	}
	return strings.HasSuffix(name, "QueryInput")
}

// isReservedVariable tells whether the variable of a model or union of that name
// could not be written in an expression.
func isReservedVariable(name string) bool {
	switch name {
	case "Ctx", "True", "False", "Null", "In":
		return true
	}
	return false
}

// isReservedField tells whether a field of a model cannot have that name because
// the model or its table has it already.
func isReservedField(name string) bool {
	switch name {
	case "id", "createdAt", "updatedAt", "tableoid", "xmin", "xmax", "cmin", "cmax", "ctid":
		return true
	}
	return false
}

// isReservedUnionField tells whether every union has a field of that name.
func isReservedUnionField(name string) bool {
	return name == "id" || name == "sourceModel" || name == "sourceArm"
}

// IdentityActions lists the actions of Identity, which are the server's own.
func IdentityActions() []string {
	return []string{"requestPasswordReset", "resetPassword", "requestEmailVerification", "verifyEmail", "changePassword", "changeEmail", "signOutEverywhere"}
}

// isReservedAction tells whether the name belongs to an action of Identity.
func isReservedAction(name string) bool {
	return slices.ContainsFunc(IdentityActions(), func(own string) bool { return SnakeForm(own) == SnakeForm(name) })
}

// isReservedAPI tells whether the api's path is one of the server's own.
func isReservedAPI(name string) bool {
	switch strings.ToLower(name) {
	case "auth", "docs", "storage":
		return true
	}
	return false
}

// isReservedLabel tells whether an input with that label could not be named in
// the expressions of an action, whose row has the variable given.
func isReservedLabel(name, variable string) bool {
	switch name {
	case "ctx", "true", "false", "null", "in", variable:
		return true
	}
	return false
}

// text returns the text of a description, which may be absent.
func text(doc *syntax.Doc) string {
	if doc == nil {
		return ""
	}
	return doc.Text
}

// clashes finds names that become equal in another form, such as their snake
// form. The zero value is ready.
type clashes struct {
	seen map[string]namedPlace
}

// namedPlace is a name and where it is.
type namedPlace struct {
	name string
	span syntax.Span
}

// add notes a name under its form. It returns the earlier name of that form.
func (c *clashes) add(form, name string, span syntax.Span) (earlier namedPlace, found bool) {
	if c.seen == nil {
		c.seen = map[string]namedPlace{}
	}
	earlier, found = c.seen[form]
	if !found {
		c.seen[form] = namedPlace{name, span}
	}
	return earlier, found
}
