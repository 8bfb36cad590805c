package check

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

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

func isTypeName(name string) bool { return hasForm(name, true) }

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

// isReservedAction tells whether the name belongs to an action of Identity.
func isReservedAction(name string) bool {
	return slices.ContainsFunc(model.IdentityActions(), func(own string) bool { return model.SnakeForm(own) == model.SnakeForm(name) })
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
