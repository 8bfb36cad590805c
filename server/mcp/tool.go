package mcp

import (
	"cmp"
	"fmt"
	"net/http"
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
	action *release.Action
	text   []byte // the description, a JSON object
}

// NewTools describes the actions of an API; those that write only if the agents may write.
func NewTools(m *release.Manifest, api *release.API, writes bool) (*Tools, error) {
	t := &Tools{callers: m.Callers}
	for _, name := range api.Actions {
		a := m.Action(name)
		if a == nil || a.Kind.Writes() && !writes {
			continue
		}
		schema, err := inputOf(m.Schemas, a.Input)
		if err != nil {
			return nil, fmt.Errorf("describe %s for agents: %w", name, err)
		}
		text, err := describe(a.Name, cmp.Or(a.Doc, openapi.Summary(a.Name, "")), schema, hints(a.Kind))
		if err != nil {
			return nil, err
		}
		t.list = append(t.list, tool{a, text})
	}
	return t, nil
}

// describe writes the description of a tool.
func describe(name, description string, input *release.JSONSchema, annotations map[string]bool) ([]byte, error) {
	return answer.Encode(struct {
		Name        string              `json:"name"`
		Description string              `json:"description"`
		InputSchema *release.JSONSchema `json:"inputSchema"`
		Annotations map[string]bool     `json:"annotations"`
	}{name, description, input, annotations})
}

// hints say what a call may do. An update may write what depends on what was there, so only a delete is the same twice.
func hints(k release.Kind) map[string]bool {
	if !k.Writes() {
		return map[string]bool{"readOnlyHint": true}
	}
	return map[string]bool{"readOnlyHint": false, "destructiveHint": k != release.Create, "idempotentHint": k == release.Delete}
}

// List returns the tools of a caller of some classes: the actions that the rules do not deny to all of them. Rules may still
// refuse a call.
func (t *Tools) List(classes []string) [][]byte {
	if t.isLarge() {
		return finders
	}
	var texts [][]byte
	for _, tool := range t.list {
		if t.isOpen(tool.action, classes) {
			texts = append(texts, tool.text)
		}
	}
	return texts
}

func (t *Tools) isLarge() bool { return len(t.list) > mostTools }

// isOpen tells whether the rules of an action may admit one of some classes.
func (t *Tools) isOpen(a *release.Action, classes []string) bool {
	for i, access := range a.Access {
		if access != "never" && slices.Contains(classes, t.callers[i]) {
			return true
		}
	}
	return len(a.Access) == 0
}

// The tools of an API with many actions.
const (
	findAction = "find_action"
	callAction = "call_action"
)

var finders = func() [][]byte {
	find, err := describe(findAction, "Finds actions by words, with the descriptions of their inputs. Without words it lists the names of all.",
		release.ObjectOf(release.Properties{}.With("words", release.Typed("string"))).Closed(), hints(release.Get))
	if err != nil {
		panic(err)
	}
	call, err := describe(callAction, "Calls an action. find_action says which there are, and what input each takes.",
		release.ObjectOf(release.Properties{}.With("action", release.Typed("string")).With("input", release.Typed("object"))).
			Requiring("action").Closed(), hints(release.Write))
	if err != nil {
		panic(err)
	}
	return [][]byte{find, call}
}()

// Open returns the action that a call is about, with its input. The action is empty for a search; found is its result then,
// for a caller of the classes.
func (t *Tools) Open(c *Call, classes func() ([]string, error)) (action string, found []byte, err error) {
	var given struct {
		Words  string         `json:"words"`
		Action string         `json:"action"`
		Input  jsontext.Value `json:"input"`
	}
	switch name := c.Name; {
	case !t.isLarge():
		if !slices.ContainsFunc(t.list, func(t tool) bool { return t.action.Name == name }) {
			return "", nil, UnknownTool(name)
		}
		return name, nil, nil
	case name != findAction && name != callAction:
		return "", nil, UnknownTool(name)
	}
	if err := json.Unmarshal(c.Arguments, &given, json.RejectUnknownMembers(true)); err != nil {
		return "", nil, BadArguments("the arguments of " + c.Name + " do not fit its schema")
	}
	if c.Name == callAction {
		if !slices.ContainsFunc(t.list, func(t tool) bool { return t.action.Name == given.Action }) {
			return "", nil, &fault{http.StatusOK, invalidParams, "Unknown action: " + cut(given.Action), nil}
		}
		if c.Arguments = given.Input; c.Arguments == nil {
			c.Arguments = []byte("{}")
		}
		return given.Action, nil, nil
	}
	open, err := classes()
	if err != nil {
		return "", nil, err
	}
	found, err = answer.Encode(map[string]any{"actions": t.find(given.Words, open)})
	return "", found, err
}

// find returns the actions in whose descriptions most of the words are, or the names of all without words.
func (t *Tools) find(words string, classes []string) []any {
	const most = 8
	type hit struct {
		tool  tool
		count int
	}
	wanted := strings.Fields(strings.ToLower(words))
	var hits []hit
	for _, tool := range t.list {
		if !t.isOpen(tool.action, classes) {
			continue
		}
		text, count := strings.ToLower(string(tool.text)+tool.action.Model), 0
		for _, word := range wanted {
			if strings.Contains(strings.ToLower(tool.action.Name), word) {
				count += 2 // the name says more than the rest
			} else if strings.Contains(text, word) {
				count++
			}
		}
		if count > 0 || len(wanted) == 0 {
			hits = append(hits, hit{tool, count})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.count - a.count })
	found := []any{}
	for _, h := range hits {
		switch {
		case len(wanted) == 0:
			found = append(found, h.tool.action.Name)
		case len(found) < most:
			found = append(found, jsontext.Value(h.tool.text))
		}
	}
	return found
}

// inputOf returns the schema of a component as an agent needs it: of an object, and without references to others. Only a
// component within itself remains a reference, to the definitions of the schema.
func inputOf(schemas release.Schemas, component string) (*release.JSONSchema, error) {
	r := resolver{schemas: schemas}
	input, err := r.resolve(release.RefTo(component), nil)
	if err != nil {
		return nil, err
	}
	if input.Kind() != "object" {
		input = release.Typed("object") // any JSON
	}
	var definitions release.Properties
	for i := 0; i < len(r.circular); i++ { // it grows
		schema, err := schemas.Read(r.circular[i])
		if err == nil {
			schema, err = r.resolve(schema, []string{r.circular[i]})
		}
		if err != nil {
			return nil, err
		}
		definitions = definitions.With(r.circular[i], schema)
	}
	if definitions != nil {
		input.With("$defs", definitions)
	}
	return input, nil
}

type resolver struct {
	schemas  release.Schemas
	circular []string // the components within themselves
}

// resolve returns a schema with the components in the place of references. within are the components around it.
func (r *resolver) resolve(s *release.JSONSchema, within []string) (*release.JSONSchema, error) {
	if s.IsNever {
		return release.Anything().With("not", release.Anything()), nil // agents that do not know the schema false know this
	}
	resolved := release.Anything()
	if name := s.Component(); slices.Contains(within, name) {
		if !slices.Contains(r.circular, name) {
			r.circular = append(r.circular, name)
		}
		resolved.With("$ref", "#/$defs/"+name)
	} else if name != "" {
		target, err := r.schemas.Read(name)
		if err != nil {
			return nil, err
		}
		if resolved, err = r.resolve(target, append(slices.Clip(within), name)); err != nil {
			return nil, err
		}
	}
	for _, k := range s.Keywords {
		var value any = k.Value
		var err error
		switch k.Name {
		case "$ref":
			continue
		case "properties":
			value, err = r.properties(s.Properties, within)
		case "dependentSchemas":
			value, err = r.properties(s.Dependent, within)
		case "items":
			value, err = r.resolve(s.Items, within)
		case "anyOf":
			value, err = r.all(s.AnyOf, within)
		case "oneOf":
			value, err = r.all(s.OneOf, within)
		case "allOf":
			value, err = r.all(s.AllOf, within)
		}
		if err != nil {
			return nil, err
		}
		resolved.With(k.Name, value)
	}
	return resolved, nil
}

func (r *resolver) properties(list release.Properties, within []string) (release.Properties, error) {
	resolved := release.Properties{}
	for _, p := range list {
		schema, err := r.resolve(p.Schema, within)
		if err != nil {
			return nil, err
		}
		resolved = resolved.With(p.Name, schema)
	}
	return resolved, nil
}

func (r *resolver) all(list []*release.JSONSchema, within []string) ([]*release.JSONSchema, error) {
	var err error
	resolved := make([]*release.JSONSchema, len(list))
	for i, s := range list {
		if resolved[i], err = r.resolve(s, within); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}
