package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// readInputs returns the inputs that expressions can name by their flat names, in the form
// of literals. The request has been checked against the published schema, and its values
// are in the one form in which the server passes them on. A name that both lists of an
// update have means the read input, as in rules.
func readInputs(a *model.Action, request json.RawMessage) (map[string]any, error) {
	var body map[string]any
	if len(request) > 0 {
		decoder := json.NewDecoder(strings.NewReader(string(request)))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			return nil, fmt.Errorf("read the input: %w", err)
		}
	}
	inputs := map[string]any{}
	for _, in := range a.Writes {
		path := in.Name
		if !in.Explicit {
			path = pathName(in.Path)
		}
		if a.Kind == model.Update {
			path = "values." + path
		}
		if value, given := at(body, path); given {
			inputs[in.Name] = literal(in.Type, value)
		}
	}
	for _, in := range a.Reads {
		if in.Message != nil || a.Kind == model.List && !in.Explicit {
			continue // no expression can name it
		}
		path := in.Name
		if a.Kind == model.Update || a.Kind == model.List {
			path = "where." + path
		}
		if value, given := at(body, path); given {
			inputs[in.Name] = literal(in.Type, value)
		} else {
			delete(inputs, in.Name)
		}
	}
	return inputs, nil
}

func pathName(path []*model.Field) string {
	var names []string
	for _, f := range path {
		names = append(names, f.Name)
	}
	return strings.Join(names, ".")
}

// at returns the value at a path of objects. Below null everything is null; below
// an array there is no single value.
func at(body map[string]any, path string) (value any, given bool) {
	name, rest, deeper := strings.Cut(path, ".")
	value, given = body[name]
	if !given || !deeper || value == nil {
		return value, given
	}
	inner, isObject := value.(map[string]any)
	if !isObject {
		return nil, false
	}
	return at(inner, rest)
}

// literal returns a value of a request in the form of a literal of its type. For a
// Password, Secret or File it only keeps that there is one.
func literal(t expr.Type, value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		values := []any{}
		for _, v := range value {
			values = append(values, literal(expr.Type{Kind: t.Kind, Name: t.Name}, v))
		}
		return values
	case json.Number:
		return value.String()
	}
	if t.Kind.IsOpaque() {
		return true
	}
	return value
}
