package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Text writes a manifest as JSON, since people read it too: with a line for each action,
// record and schema, and one for all else of a kind. Lists without elements are left out.
func (m *Manifest) Text() []byte {
	members := []string{fmt.Sprintf(`"format":%d`, m.Format)}
	add := func(name string, count int, value any) {
		if count > 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, text(value)))
		}
	}
	lines := func(name, open string, list []string, end string) {
		members = append(members, fmt.Sprintf("%q:%s\n%s\n%s", name, open, strings.Join(list, ",\n"), end))
	}
	var actions, records, schemas []string
	for _, a := range m.Actions {
		actions = append(actions, text(a))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Records)) {
		records = append(records, text(name)+":"+text(m.Records[name]))
	}
	for _, s := range m.Schemas {
		schemas = append(schemas, text(s.Name)+":"+string(s.JSON))
	}
	add("apis", len(m.APIs), m.APIs)
	add("models", len(m.Models), m.Models)
	add("callers", len(m.Callers), m.Callers)
	add("byExpression", len(m.ByExpression), m.ByExpression)
	lines("actions", "[", actions, "]")
	lines("records", "{", records, "}")
	lines("schemas", "{", schemas, "}")
	add("constraints", len(m.Constraints), m.Constraints)
	add("headers", len(m.Headers), m.Headers)
	add("environment", len(m.Environment), m.Environment)
	add("secrets", len(m.Secrets), m.Secrets)
	add("compared", len(m.Compared), m.Compared)
	add("claims", len(m.Claims), m.Claims)
	add("encrypted", len(m.Encrypted), m.Encrypted)
	add("jobs", len(m.Jobs), m.Jobs)
	add("subscribers", len(m.Subscribers), m.Subscribers)
	add("histories", len(m.Histories), m.Histories)
	add("mails", len(m.Mails), m.Mails)
	return []byte("{\n" + strings.Join(members, ",\n") + "\n}")
}

// text writes a part of a manifest.
func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("release: write the manifest: %v", err))
	}
	return string(encoded)
}
