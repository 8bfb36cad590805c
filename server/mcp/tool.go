package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/openapi"
	"github.com/sternpost/sternpost/sql/release"
)

// mostTools is the number of actions that are tools of their own. More would fill an agent's memory before it begins, so
// that it finds them by two tools.
const mostTools = 60

// Tools are the actions of an API as tools.
type Tools struct {
	callers []string // the classes of callers
	list    []tool
}

type tool struct {
	*release.Action
	text []byte // the description, a JSON object
}

// NewTools describes the actions of an API; those that write only if the agents may write.
func NewTools(m *release.Manifest, api *release.API, writes bool) (*Tools, error) {
	t := &Tools{callers: m.Callers}
	for _, name := range api.Actions {
		a := m.Action(name)
		if a == nil || a.Kind.Writes() && !writes {
			continue
		}
		input, err := inputOf(m.Schemas, a.Input)
		if err != nil {
			return nil, fmt.Errorf("describe %s for agents: %w", name, err)
		}
		text, err := answer.Encode(struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema jsontext.Value  `json:"inputSchema"`
			Annotations map[string]bool `json:"annotations"`
		}{a.Name, cmp.Or(a.Doc, openapi.Summary(a.Name, "")), input, hints(a.Kind)})
		if err != nil {
			return nil, err
		}
		t.list = append(t.list, tool{a, text})
	}
	return t, nil
}

// hints say what a call may do. An update may write what depends on what was there, so only a delete is the same twice.
func hints(k release.Kind) map[string]bool {
	if !k.Writes() {
		return map[string]bool{"readOnlyHint": true}
	}
	return map[string]bool{"readOnlyHint": false, "destructiveHint": k != release.Create, "idempotentHint": k == release.Delete}
}

// finders are the tools of an API with many actions.
var finders = [][]byte{
	[]byte(`{"name":"find_action","description":"Finds actions by words. Returns their names, inputs and what they do.","inputSchema":` +
		`{"type":"object","properties":{"words":{"type":"string"}},"required":["words"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`),
	[]byte(`{"name":"call_action","description":"Calls an action that find_action has found.","inputSchema":{"type":"object","properties":` +
		`{"action":{"type":"string"},"input":{"type":"object"}},"required":["action"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":true}}`),
}

// List returns the tools of a caller of some classes: the actions that the rules do not deny to all of them. Rules may still
// refuse a call.
func (t *Tools) List(classes []string) (texts [][]byte) {
	if len(t.list) > mostTools {
		return finders
	}
	for _, tool := range t.list {
		if t.isOpen(tool, classes) {
			texts = append(texts, tool.text)
		}
	}
	return texts
}

// isOpen tells whether the rules of an action may admit one of some classes.
func (t *Tools) isOpen(tool tool, classes []string) bool {
	for i, access := range tool.Access {
		if access != "never" && slices.Contains(classes, t.callers[i]) {
			return true
		}
	}
	return len(tool.Access) == 0
}

// Open returns the action that a call is about, with its input. The action is empty for a search; the input is its result
// then, for a caller of the classes.
func (t *Tools) Open(c Call, classes func() ([]string, error)) (action string, input []byte, err error) {
	if action, input = c.Name, c.Arguments; len(t.list) > mostTools {
		var given struct {
			Words  string         `json:"words"`
			Action string         `json:"action"`
			Input  jsontext.Value `json:"input"`
		}
		err := json.Unmarshal(c.Arguments, &given, json.RejectUnknownMembers(true))
		switch {
		case c.Name != "find_action" && c.Name != "call_action":
			return "", nil, Invalid("Unknown tool: ", c.Name)
		case err != nil:
			return "", nil, Invalid("the arguments do not fit the schema of ", c.Name)
		case c.Name == "find_action":
			open, err := classes()
			return "", t.find(strings.Fields(strings.ToLower(given.Words)), open), err
		}
		if action, input = given.Action, given.Input; input == nil {
			input = []byte("{}")
		}
	}
	if !slices.ContainsFunc(t.list, func(t tool) bool { return t.Name == action }) {
		return "", nil, Invalid("Unknown tool: ", action)
	}
	return action, input, nil
}

// find returns the actions in whose descriptions most of the words are, those in whose names they are first.
func (t *Tools) find(words []string, classes []string) []byte {
	const most = 8
	hits := map[string]int{}
	found := slices.DeleteFunc(slices.Clone(t.list), func(tool tool) bool {
		name, text := strings.ToLower(tool.Name), strings.ToLower(string(tool.text)+tool.Model)
		for _, word := range words {
			hits[tool.Name] += 2*strings.Count(name, word) + min(1, strings.Count(text, word))
		}
		return hits[tool.Name] == 0 || !t.isOpen(tool, classes)
	})
	slices.SortStableFunc(found, func(a, b tool) int { return hits[b.Name] - hits[a.Name] })
	var texts [][]byte
	for _, tool := range found[:min(most, len(found))] {
		texts = append(texts, tool.text)
	}
	return append(append([]byte(`{"actions":[`), bytes.Join(texts, []byte(","))...), "]}"...)
}

// inputOf returns the schema of a component as an agent needs it: of an object, and without references to others. Only a
// component within itself remains a reference, to the definitions of the schema.
func inputOf(schemas release.Schemas, component string) (jsontext.Value, error) {
	if schema, err := schemas.Read(component); err == nil {
		if schema, _, err = schemas.Resolve(schema); err == nil && schema.Kind() != "object" {
			return jsontext.Value(`{"type":"object"}`), nil // it takes any JSON
		}
	}
	r := resolver{schemas: schemas}
	input, definitions := r.inline(nil, release.RefTo(component).Text(), nil), []byte{}
	for i := 0; i < len(r.circular); i++ { // it grows
		definitions = append(answer.Quote(append(definitions, ','), r.circular[i]), ':')
		definitions = r.inline(definitions, release.RefTo(r.circular[i]).Text(), nil)
	}
	if len(definitions) > 0 {
		input = append(append(append(input[:len(input)-1], `,"$defs":{`...), definitions[1:]...), "}}"...)
	}
	return input, r.err
}

// resolver writes schemas with the components that they refer to in their places.
type resolver struct {
	schemas  release.Schemas
	circular []string // the components within themselves
	err      error
}

// inline writes a part of a schema. within are the components around it.
func (r *resolver) inline(b []byte, part []byte, within []string) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(part))
	switch d.PeekKind() {
	case '{':
		return append(bytes.TrimSuffix(r.members(append(b, '{'), d, within, map[string]bool{}), []byte(",")), '}')
	case '[':
		var items []jsontext.Value
		r.err = cmp.Or(r.err, json.Unmarshal(part, &items))
		b = append(b, '[')
		for _, item := range items {
			b = append(r.inline(b, item, within), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	}
	return append(b, part...)
}

// members writes those of an object that are not there yet, each with a comma.
func (r *resolver) members(b []byte, d *jsontext.Decoder, within []string, there map[string]bool) []byte {
	refers := ""
	for _, _ = d.ReadToken(); d.PeekKind() == '"'; {
		token, _ := d.ReadToken()
		name := token.String()
		value, err := d.ReadValue()
		r.err = cmp.Or(r.err, err)
		switch {
		case name == "$ref":
			refers = strings.TrimPrefix(strings.Trim(string(value), `"`), "#/components/schemas/")
			continue
		case there[name]:
			continue
		case string(value) == "false" && name != "additionalProperties":
			value = jsontext.Value(`{"not":{}}`) // agents that do not know the schema false know this
		}
		there[name] = true
		b = append(r.inline(append(answer.Quote(b, name), ':'), value.Clone(), within), ',')
	}
	switch text := r.schemas.Get(refers); {
	case refers == "":
	case slices.Contains(within, refers):
		if !slices.Contains(r.circular, refers) {
			r.circular = append(r.circular, refers)
		}
		b = append(answer.Quote(append(b, `"$ref":`...), "#/$defs/"+refers), ',')
	case text == nil:
		r.err = cmp.Or(r.err, fmt.Errorf("there is no component %s", refers))
	default:
		b = r.members(b, jsontext.NewDecoder(bytes.NewReader(text)), append(slices.Clip(within), refers), there)
	}
	return b
}
