package manifest

import (
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// receivedMessages returns the messages that a request may hold.
func receivedMessages(s *model.Schema) map[*model.Message]bool {
	received := map[*model.Message]bool{}
	for _, a := range s.Actions {
		for _, in := range a.Reads {
			addMessages(received, in.Message)
		}
	}
	return received
}

// answeredMessages returns the messages that an answer may hold.
func answeredMessages(s *model.Schema) map[*model.Message]bool {
	answered := map[*model.Message]bool{}
	for _, a := range s.Actions {
		if a.Returns != nil {
			addMessages(answered, a.Returns.Message)
		}
	}
	return answered
}

// addMessages adds a message and those in it to a set.
func addMessages(set map[*model.Message]bool, m *model.Message) {
	if m == nil || set[m] {
		return
	}
	set[m] = true
	for _, f := range m.Fields {
		addMessages(set, f.Message)
	}
}

// splitMessages returns the messages that are both sent and answered and hold a File, or
// a message that does: a client sends the content, and is answered where it lies.
func splitMessages(s *model.Schema) map[*model.Message]bool {
	received, answered := receivedMessages(s), answeredMessages(s)
	split := map[*model.Message]bool{}
	for _, m := range s.Messages {
		if received[m] && answered[m] && holdsFile(m, map[*model.Message]bool{}) {
			split[m] = true
		}
	}
	return split
}

// holdsFile tells whether a message has a File, or a message that does. It looks into
// each message once.
func holdsFile(m *model.Message, seen map[*model.Message]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	return slices.ContainsFunc(m.Fields, func(f *model.MessageField) bool {
		return f.Type.Kind == expr.File || f.Message != nil && holdsFile(f.Message, seen)
	})
}

// message publishes the schema of a message as it is sent or answered. One that a
// request may hold has no further members; to one that is only answered, later releases
// may add some.
func (p *publisher) message(m *model.Message, isSent bool) string {
	name := m.Name
	switch {
	case p.split[m] && isSent:
		name = p.derived.take("sent "+m.Name, m.Name+"Input")
	case !p.split[m]:
		isSent = p.received[m]
	}
	return p.component(name, func() *release.JSONSchema {
		var members []property
		for _, f := range m.Fields {
			members = append(members, property{f.Name, p.messageMember(f, isSent).Described(f.Doc), !f.Optional})
		}
		if isSent {
			return objectOf(members).Described(m.Doc)
		}
		return resultObject(members).Described(m.Doc)
	})
}

// messageMember is the schema of a field of a message. An optional one may also be
// null.
func (p *publisher) messageMember(f *model.MessageField, isSent bool) *release.JSONSchema {
	if !f.Type.Array {
		return p.messageValue(f, isSent, f.Optional)
	}
	return release.TypedOrNull("array", f.Optional).With("items", p.messageValue(f, isSent, false))
}

func (p *publisher) messageValue(f *model.MessageField, isSent, nullable bool) *release.JSONSchema {
	component := ""
	switch f.Type.Kind {
	case expr.Any:
		return release.Anything() // null is any JSON too
	case expr.Model:
		component = p.record(f.Model)
	case expr.Message:
		component = p.message(f.Message, isSent)
	case expr.File:
		if isSent {
			return scalar(expr.Type{Kind: expr.File}, nil, nullable)
		}
		component = p.file()
	default:
		if f.Type.Kind.IsWriteOnly() {
			return asSent(f.Type.Kind, nullable)
		}
		return scalar(expr.Type{Kind: f.Type.Kind, Name: f.Type.Name}, f.Enum, nullable)
	}
	if nullable {
		return release.AnyOf(release.RefTo(component), release.Typed("null"))
	}
	return release.RefTo(component)
}

// asSent is the schema of what comes to custom code as it is sent: nothing is hashed or
// encrypted before, so that it has no format.
func asSent(k expr.Kind, nullable bool) *release.JSONSchema {
	text := scalar(expr.Type{Kind: expr.Text}, nil, nullable)
	return withKeywords(text, slices.DeleteFunc(slices.Clone(k.JSON().Keywords), expr.Keyword.IsFormat))
}
