package input

import (
	"encoding/json"
	"errors"
	"fmt"
)

// nullable is a schema that is a component or null. It is filled when its
// component is: the two may contain each other.
type nullable struct {
	node      *node
	component *node
}

// nullableReference compiles
//
//	{"anyOf": [{"$ref": "#/components/schemas/X"}, {"type": "null"}]}
//
// and returns nil if the alternatives are others.
func (c *compiler) nullableReference(keywords []member, raw []byte) (*node, error) {
	var branches []json.RawMessage
	if err := json.Unmarshal(raw, &branches); err != nil || len(branches) != 2 {
		return nil, nil
	}
	first, err1 := members(branches[0])
	second, err2 := members(branches[1])
	isReference := err1 == nil && len(first) == 1 && first[0].name == "$ref"
	isNull := err2 == nil && len(second) == 1 && second[0].name == "type" && string(second[0].value) == `"null"`
	if !isReference || !isNull {
		return nil, nil
	}
	if err := onlyAnnotations(keywords, "anyOf"); err != nil {
		return nil, err
	}
	component, err := c.reference(first, first[0].value)
	if err != nil {
		return nil, err
	}
	n := &node{}
	c.nullables = append(c.nullables, nullable{node: n, component: component})
	return n, nil
}

// fillNullables makes each nullable schema a copy of its component that accepts
// null as well.
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
			n.enumText = enumText(n.members, true)
		}
	}
}

// setAlternatives reads
//
//	{"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
//
// beside properties: of these sets of properties one must be given.
func (n *node) setAlternatives(raw []byte) error {
	if raw == nil {
		return nil
	}
	var branches []json.RawMessage
	if err := json.Unmarshal(raw, &branches); err != nil {
		return err
	}
	for _, branch := range branches {
		keywords, err := members(branch)
		if err != nil {
			return err
		}
		if len(keywords) != 1 || keywords[0].name != "required" {
			return errors.New("only sets of required properties, and a $ref or null, are supported")
		}
		var names []string
		if err := json.Unmarshal(keywords[0].value, &names); err != nil {
			return err
		}
		if len(names) == 0 {
			return errors.New("a set of required properties is empty")
		}
		var set []int
		for _, name := range names {
			i, ok := n.index[name]
			if !ok {
				return fmt.Errorf("%s is no property", name)
			}
			set = append(set, i)
		}
		n.alternatives = append(n.alternatives, set)
	}
	return nil
}

// lacksAlternative tells whether an object has none of the sets of properties of
// which it needs one.
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
