package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
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
func (c *checker) messageField(tree *syntax.Field) *model.MessageField {
	f := &model.MessageField{
		Name:     tree.Name.Name,
		Doc:      text(tree.Doc),
		Optional: tree.Optional != nil,
		Span:     tree.Type.Span(),
	}
	name := tree.Type.Name
	t := c.types[name]
	kind, isScalar := expr.ScalarNamed(name)
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
		if !f.Type.Kind.HasArrays() {
			c.report(ArrayNotAllowed, tree.Array.Span(), arrayNotAllowed(name))
			return nil
		}
		f.Type.Array = true
	}
	return f
}

// unknownType reports an unknown type, unless a declaration of a later stage, or one
// that did not parse, may have declared it.
func (c *checker) unknownType(name *syntax.Ident) {
	if c.lost[name.Name] {
		return
	}
	if meant := meantBy(structuresMeant, name.Name); meant != "" {
		c.report(UnknownType, name.Span(), structuredType(name.Name, meant))
		return
	}
	near := meantBy(typesMeant, name.Name)
	if near == "" {
		near = c.suggest(name.Name, c.typeNames)
	}
	c.report(UnknownType, name.Span(), unknownType(name.Name, near))
}

// checkMessageCycles reports the cycles of required fields, none of them an
// array, that lead from a message back to it. It reports only the first of several
// cycles that share a message. It follows each field once.
func (c *checker) checkMessageCycles() {
	s := cycleSearch{steps: map[*model.Message]int{}}
	for _, m := range c.messages {
		s.visit(m.Message)
	}
	for _, cycle := range s.cycles {
		var names []string
		for _, step := range cycle {
			names = append(names, step.via.Name)
		}
		c.report(MessageCycle, cycle[0].via.Span, messageCycleMessage(cycle[0].from.Name, names))
	}
}

// cycleSearch looks for cycles of messages depth first.
type cycleSearch struct {
	steps  map[*model.Message]int // of the messages on the way: 1 and up, by their order; doneMessage for those left; 0 for others
	way    []cycleStep
	cycles [][]cycleStep
}

// doneMessage marks a message whose fields have all been followed.
const doneMessage = -1

// cycleStep is a step from one message by way of a field.
type cycleStep struct {
	from     *model.Message
	via      *model.MessageField
	reported int // how many steps there are up to the last one that is part of a cycle found
}

func (s *cycleSearch) visit(m *model.Message) {
	reported := 0
	if len(s.way) > 0 {
		reported = s.way[len(s.way)-1].reported
	}
	s.way = append(s.way, cycleStep{from: m, reported: reported})
	at := len(s.way)
	s.steps[m] = at
	for _, f := range m.Fields {
		if f.Message == nil || f.Optional || f.Type.Array {
			continue
		}
		s.way[at-1].via = f
		switch step := s.steps[f.Message]; {
		case step == 0:
			s.visit(f.Message)
		case step > s.way[at-1].reported:
			s.cycles = append(s.cycles, slices.Clone(s.way[step-1:]))
			for i := step - 1; i < at; i++ {
				s.way[i].reported = i + 1
			}
		}
	}
	s.steps[m] = doneMessage
	s.way = s.way[:at-1]
}

// checkResultMessage reports write-only fields, which cannot be sent, in a message
// that is a result or part of one. visited makes it report each field once.
func (c *checker) checkResultMessage(m *model.Message, returns syntax.Span, visited map[*model.Message]bool) {
	if visited[m] {
		return
	}
	visited[m] = true
	for _, f := range m.Fields {
		switch {
		case f.Type.Kind.IsWriteOnly():
			c.report(TypeNotAllowed, f.Span, writeOnlyResult(f.Name, m.Name), note(returns, returnedHere()))
		case f.Message != nil:
			c.checkResultMessage(f.Message, returns, visited)
		}
	}
}
