package schema

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkMessages checks the fields of messages, and that every message can be
// written down: required fields must not lead back to it.
func (c *checker) checkMessages() {
	for _, m := range c.messages {
		seen := map[string]syntax.Span{}
		for _, tree := range m.tree.Fields {
			if earlier, found := seen[tree.Name.Name]; found {
				c.report(DuplicateField, tree.Name.Span(), duplicateField(m.Name, tree.Name.Name),
					note(earlier, declaredHere(tree.Name.Name)))
				continue
			}
			seen[tree.Name.Name] = tree.Name.Span()
			c.allowedAttributes(onMessageField, tree.Attrs)
			if f := c.messageField(tree); f != nil {
				m.Fields = append(m.Fields, f)
			}
		}
	}
	c.checkMessageCycles()
}

// messageField checks a field of a message. It is nil if its type is in error.
func (c *checker) messageField(tree *syntax.Field) *MessageField {
	f := &MessageField{
		Name:     tree.Name.Name,
		Doc:      text(tree.Doc),
		Optional: tree.Optional != nil,
		Span:     tree.Type.Span(),
	}
	name := tree.Type.Name
	t := c.types[name]
	kind, isScalar := scalarKind(name)
	switch {
	case isScalar:
		f.Type = expr.Type{Kind: kind}
	case name == "Any":
		f.Type = expr.Type{Kind: expr.Any}
	case t == nil:
		c.unknownType(tree.Type)
		return nil
	case t.enum != nil:
		f.Type, f.Enum = expr.Type{Kind: expr.Enum, Name: name}, t.enum
	case t.model != nil:
		f.Type, f.Model = expr.Type{Kind: expr.Model, Name: name}, t.model
	case t.message != nil:
		f.Type, f.Message = expr.Type{Kind: expr.Message, Name: name}, t.message
	default:
		c.report(TypeNotAllowed, tree.Type.Span(), unionAsType(name), note(t.span, declaredHere(name)))
		return nil
	}
	if tree.Array != nil {
		if !takesArray(f.Type.Kind) {
			c.report(ArrayNotAllowed, tree.Array.Span(), arrayNotAllowed(name))
			return nil
		}
		f.Type.Array = true
	}
	return f
}

// takesArray tells whether there are arrays of a type.
func takesArray(kind expr.Kind) bool {
	return kind != expr.Password && kind != expr.Secret && kind != expr.Vector
}

// unknownType reports that there is no such type, unless a declaration of a
// later stage, or one that did not parse, may have brought it.
func (c *checker) unknownType(name *syntax.Ident) {
	if c.lost[name.Name] {
		return
	}
	candidates := append(scalarNames(), identityName)
	for _, f := range c.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *syntax.Model:
				candidates = append(candidates, d.Name.Name)
			case *syntax.Enum:
				candidates = append(candidates, d.Name.Name)
			case *syntax.Message:
				candidates = append(candidates, d.Name.Name)
			}
		}
	}
	c.report(UnknownType, name.Span(), unknownType(name.Name, syntax.Suggest(name.Name, candidates)))
}

// checkMessageCycles reports each message that required fields, none of them an
// array, lead back to. Of the messages of one cycle only the first is reported.
func (c *checker) checkMessageCycles() {
	reported := map[*Message]bool{}
	for _, m := range c.messages {
		cycle := messageCycle(m.Message)
		if cycle == nil {
			continue
		}
		known := false
		for _, f := range cycle {
			known = known || reported[f.Message]
			reported[f.Message] = true
		}
		if known {
			continue
		}
		var names []string
		for _, f := range cycle {
			names = append(names, f.Name)
		}
		c.report(MessageCycle, cycle[0].Span, messageCycleMessage(m.Name, names))
	}
}

// messageCycle returns the shortest way from a message back to itself through
// required fields that are no arrays, or nil.
func messageCycle(start *Message) []*MessageField {
	type way struct {
		at     *Message
		fields []*MessageField
	}
	visited := map[*Message]bool{}
	queue := []way{{at: start}}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		for _, f := range w.at.Fields {
			if f.Message == nil || f.Optional || f.Type.Array {
				continue
			}
			fields := append(w.fields[:len(w.fields):len(w.fields)], f)
			if f.Message == start {
				return fields
			}
			if !visited[f.Message] {
				visited[f.Message] = true
				queue = append(queue, way{f.Message, fields})
			}
		}
	}
	return nil
}

// checkResultMessage reports what cannot be sent: a field that is write-only, in
// a message that is a result or part of one. Each field is reported once, by way
// of visited.
func (c *checker) checkResultMessage(m *Message, returns syntax.Span, visited map[*Message]bool) {
	if visited[m] {
		return
	}
	visited[m] = true
	for _, f := range m.Fields {
		switch {
		case f.Type.Kind == expr.Password || f.Type.Kind == expr.Secret:
			c.report(TypeNotAllowed, f.Span, writeOnlyResult(f.Name, m.Name), note(returns, returnedHere()))
		case f.Message != nil:
			c.checkResultMessage(f.Message, returns, visited)
		}
	}
}
