package check

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxSuggestions is the number of unknown names for which a similar declaration of the
// project is searched. More of them are not slips, and each search goes through the
// whole project.
const maxSuggestions = 100

// suggest returns the name of a declaration that was probably meant. It returns "" if
// none is near or the limit is reached, and calls candidates only if needed.
func (c *checker) suggest(name string, candidates func() []string) string {
	if c.suggestions == maxSuggestions {
		return ""
	}
	c.suggestions++
	return syntax.Suggest(name, candidates())
}

// scalarNames returns the names of the scalar types.
func scalarNames() []string {
	var names []string
	for _, kind := range expr.Scalars() {
		names = append(names, kind.String())
	}
	return names
}

// typeNames returns the names of all types that a field can have.
func (c *checker) typeNames() []string {
	names := append(scalarNames(), identityName)
	for _, f := range c.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *syntax.Model:
				names = append(names, d.Name.Name)
			case *syntax.Enum:
				names = append(names, d.Name.Name)
			case *syntax.Message:
				names = append(names, d.Name.Name)
			}
		}
	}
	return names
}

// messageNames returns the names of all messages.
func (c *checker) messageNames() []string {
	var names []string
	for _, m := range c.messages {
		names = append(names, m.Name)
	}
	return names
}

// roleNames returns the names of all roles.
func (c *checker) roleNames() []string {
	var names []string
	for _, r := range c.schema.Roles {
		names = append(names, r.Name)
	}
	return names
}
