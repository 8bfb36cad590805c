package dev

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// request is a request to try.
type request struct {
	title   string
	command string
}

// sample returns up to three requests that work as printed: a create that needs no other
// record, a list that needs no filter, and a request that is refused, to see what an
// error looks like. They are made without a login.
func sample(m *release.Manifest, baseURL string) []request {
	if len(m.APIs) == 0 {
		return nil
	}
	url := func(a *release.Action) string { return baseURL + "/" + m.APIs[0].Path + "/json/" + a.Name }
	exposed := map[string]bool{}
	for _, name := range m.APIs[0].Actions {
		exposed[name] = true
	}

	var create, list *release.Action
	var body string
	for _, a := range m.Actions {
		if !exposed[a.Name] || !a.Anonymous {
			continue
		}
		switch {
		case a.Kind == release.Create && create == nil:
			if value, ok := exampleOf(m.Schemas, a.Input); ok {
				create, body = a, value
			}
		case a.Kind == release.List && list == nil:
			if value, ok := exampleOf(m.Schemas, a.Input); ok && value == "{}" {
				list = a
			}
		}
	}
	var requests []request
	if create != nil {
		requests = append(requests, request{
			"make a record with " + create.Name,
			fmt.Sprintf("curl -d '%s' -H 'Content-Type: application/json' %s", body, url(create)),
		})
	}
	if list != nil {
		requests = append(requests, request{
			"read a page with " + list.Name,
			fmt.Sprintf("curl '%s?first=5'", url(list)),
		})
		requests = append(requests, request{
			"see what an error looks like",
			fmt.Sprintf("curl '%s?first=0'", url(list)),
		})
	}
	return requests
}

// exampleOf makes a value that satisfies a component.
func exampleOf(schemas release.Schemas, component string) (string, bool) {
	s, err := schemas.Read(component)
	if err != nil {
		panic(fmt.Sprintf("dev: read a schema of the manifest: %v", err))
	}
	return example(schemas, s, "")
}

// example makes a value that satisfies a published schema, without optional parts. It
// cannot make one that needs the id of another record.
func example(schemas release.Schemas, s *release.JSONSchema, name string) (string, bool) {
	s, _, err := schemas.Resolve(s)
	if err != nil {
		panic(fmt.Sprintf("dev: read a schema of the manifest: %v", err))
	}
	quote := func(text string) string {
		encoded, err := json.Marshal(text)
		if err != nil {
			panic(fmt.Sprintf("dev: write an example: %v", err))
		}
		return strings.ReplaceAll(string(encoded), "'", "")
	}
	if len(s.Types) != 1 {
		return "null", true // one of several types: null is among them
	}
	switch s.Kind() {
	case "object":
		var members []string
		for _, r := range s.Required {
			value, ok := example(schemas, s.Property(r), r)
			if !ok {
				return "", false
			}
			members = append(members, quote(r)+":"+value)
		}
		return "{" + strings.Join(members, ",") + "}", true
	case "array":
		least := s.Count("minItems")
		if least == 0 {
			return "[]", true
		}
		element, ok := example(schemas, s.Items, name)
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", least), ",") + "]", ok
	case "boolean":
		return "true", true
	case "integer", "number":
		return "1", true
	}
	switch {
	case len(s.Enum) > 0:
		return quote(fmt.Sprint(s.Enum[0])), true
	case s.Format == "date":
		return `"2026-03-31"`, true
	case s.Format == "date-time":
		return `"2026-03-31T09:00:00Z"`, true
	case s.Format == "duration":
		return `"PT1H"`, true
	case s.Format == "email":
		return `"ada@example.com"`, true
	case s.Format == "uri":
		return `"https://example.com"`, true
	case s.Matcher() != nil:
		return quote(s.Matcher().Example()), true
	case s.Format == "" && s.Count("minLength") > 0:
		return "", false // an id
	}
	text := []rune("a " + name)
	if most := s.Count("maxLength"); most > 0 {
		text = text[:min(len(text), most)]
	}
	return quote(string(text)), true
}
