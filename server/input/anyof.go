package input

import (
	"errors"
	"fmt"

	"github.com/sternpost/sternpost/sql/release"
)

// nullable is a schema that is a component or null. It is filled together with its
// component, since the two may contain each other.
type nullable struct {
	node      *node
	component *node
}

// isNullableReference tells whether a schema is
//
//	{"anyOf": [{"$ref": "#/components/schemas/X"}, {"type": "null"}]}
func isNullableReference(s *release.JSONSchema) bool {
	return len(s.AnyOf) == 2 && s.AnyOf[0].Ref != "" && len(s.AnyOf[0].Keywords) == 1 && s.AnyOf[1].IsNull()
}

// nullableReference compiles such a schema.
func (c *compiler) nullableReference(s *release.JSONSchema) (*node, error) {
	if err := onlyAnnotations(s, "anyOf"); err != nil {
		return nil, err
	}
	component, err := c.reference(s.AnyOf[0])
	if err != nil {
		return nil, err
	}
	n := &node{}
	c.nullables = append(c.nullables, nullable{node: n, component: component})
	return n, nil
}

// fillNullables makes each nullable schema a copy of its component that also accepts
// null.
func (c *compiler) fillNullables() {
	for _, e := range c.nullables {
		n := e.node
		*n = *e.component
		if n.kinds&kindNull != 0 && (n.enum == nil || n.enumNull) {
			continue
		}
		n.kinds |= kindNull
		if n.types != nil {
			n.types = append(n.types[:len(n.types):len(n.types)], "null")
		}
		if n.enum != nil {
			n.enumNull = true
		}
	}
}

// setAlternatives reads
//
//	{"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
//
// beside properties: of these sets of properties one must be given.
func (n *node) setAlternatives(branches []*release.JSONSchema) error {
	for _, branch := range branches {
		if len(branch.Keywords) != 1 || branch.Value("required") == nil {
			return errors.New("only sets of required properties, and a $ref or null, are supported")
		}
		names := branch.Required
		if len(names) == 0 {
			return errors.New("a set of required properties is empty")
		}
		var set []int
		for _, name := range names {
			i, ok := n.index[name]
			if !ok {
				return fmt.Errorf("%s is not a property", name)
			}
			set = append(set, i)
		}
		n.alternatives = append(n.alternatives, set)
	}
	return nil
}

// lacksAlternative tells whether an object has none of the required alternative sets of
// properties.
func (n *node) lacksAlternative(has func(property int) bool) bool {
	for _, set := range n.alternatives {
		complete := true
		for _, i := range set {
			complete = complete && has(i)
		}
		if complete {
			return false
		}
	}
	return len(n.alternatives) > 0
}
