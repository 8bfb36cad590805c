package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Text writes a manifest as JSON, since people read it too: with a line for each action,
// record and schema, and one for the constraints of each table.
func (m *Manifest) Text() []byte {
	text := func(v any) []byte {
		encoded, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("publish: write the manifest: %v", err))
		}
		return encoded
	}
	actions := make([][]byte, len(m.Actions))
	for i, a := range m.Actions {
		actions[i] = text(a)
	}
	schemas := make([][]byte, len(m.Schemas))
	for i, s := range m.Schemas {
		schemas[i] = fmt.Appendf(nil, "%s:%s", text(s.Name), s.JSON)
	}
	records := make([][]byte, 0, len(m.Records))
	for _, name := range slices.Sorted(maps.Keys(m.Records)) {
		records = append(records, fmt.Appendf(nil, "%s:%s", text(name), text(m.Records[name])))
	}
	byTable := map[string][][]byte{}
	for _, name := range slices.Sorted(maps.Keys(m.Constraints)) {
		c := m.Constraints[name]
		byTable[c.Table] = append(byTable[c.Table], fmt.Appendf(nil, "%s:%s", text(name), text(c)))
	}
	var constraints [][]byte
	for _, table := range slices.Sorted(maps.Keys(byTable)) {
		constraints = append(constraints, bytes.Join(byTable[table], []byte(",")))
	}
	block := func(open string, lines [][]byte, end string) []byte {
		return fmt.Appendf(nil, "%s\n%s\n%s", open, bytes.Join(lines, []byte(",\n")), end)
	}
	members := [][]byte{
		fmt.Appendf(nil, `"format":%d`, m.Format),
		fmt.Appendf(nil, `"apis":%s`, text(m.APIs)),
		fmt.Appendf(nil, `"models":%s`, text(m.Models)),
		fmt.Appendf(nil, `"callers":%s`, text(m.Callers)),
		fmt.Appendf(nil, `"actions":%s`, block("[", actions, "]")),
		fmt.Appendf(nil, `"records":%s`, block("{", records, "}")),
		fmt.Appendf(nil, `"schemas":%s`, block("{", schemas, "}")),
		fmt.Appendf(nil, `"constraints":%s`, block("{", constraints, "}")),
		fmt.Appendf(nil, `"headers":%s`, text(m.Headers)),
		fmt.Appendf(nil, `"environment":%s`, text(m.Environment)),
		fmt.Appendf(nil, `"secrets":%s`, text(m.Secrets)),
	}
	if len(m.Compared) > 0 {
		members = append(members, fmt.Appendf(nil, `"compared":%s`, text(m.Compared)))
	}
	if len(m.Claims) > 0 {
		members = append(members, fmt.Appendf(nil, `"claims":%s`, text(m.Claims)))
	}
	if len(m.Encrypted) > 0 {
		members = append(members, fmt.Appendf(nil, `"encrypted":%s`, text(m.Encrypted)))
	}
	return block("{", members, "}")
}
