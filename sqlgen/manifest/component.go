package manifest

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// publisher gathers the JSON Schemas of a release, one per component, in the
// order in which they are first needed.
type publisher struct {
	list     release.Schemas
	known    map[string]bool
	derived  derivedNames
	received map[*model.Message]bool // that a request may hold
	split    map[*model.Message]bool // those that are another schema where they are sent than where they are answered
}

func newPublisher(s *model.Schema) *publisher {
	return &publisher{
		known:    map[string]bool{},
		derived:  newDerivedNames(s),
		received: receivedMessages(s),
		split:    splitMessages(s),
	}
}

func (p *publisher) schemas() release.Schemas { return p.list }

// component adds a component unless it is there and returns its name. make may
// add others on its way.
func (p *publisher) component(name string, make func() *release.JSONSchema) string {
	if p.known[name] {
		return name
	}
	p.known[name] = true
	at := len(p.list)
	p.list = append(p.list, release.Schema{Name: name})
	p.list[at].JSON = make().Text()
	return name
}

// enum publishes an enum. Every enum is, since schemas refer to them by name.
func (p *publisher) enum(e *model.Enum) {
	p.component(e.Name, func() *release.JSONSchema {
		doc := e.Doc
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = v.Name
			if v.Doc != "" {
				doc += "\n- " + v.Name + ": " + strings.ReplaceAll(v.Doc, "\n", " ")
			}
		}
		return release.Typed("string").With("enum", values).Described(strings.TrimPrefix(doc, "\n"))
	})
}

func upperFirst(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
