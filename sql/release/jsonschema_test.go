package release

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestReadJSONSchema(t *testing.T) {
	t.Parallel()
	s, err := ReadJSONSchema([]byte(` {"type":["object","null"],"description":"d","properties":{"b":{"type":"string","x-format":"file","maxLength":9},
		"a":{"$ref":"#/components/schemas/A"},"c":{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/C"},{"type":"null"}]}},"d":false},
		"required":["a"],"additionalProperties":false,"minProperties":2,"x-own":{"$ref":"#/components/schemas/No"}} `))
	if err != nil {
		t.Fatal(err)
	}
	var names, mentioned []string
	for _, p := range s.Properties {
		names = append(names, p.Name)
	}
	s.Walk(func(s *JSONSchema) {
		if name := s.Component(); name != "" {
			mentioned = append(mentioned, name)
		}
	})
	if !slices.Equal(names, []string{"b", "a", "c", "d"}) || !slices.Equal(mentioned, []string{"A", "C"}) {
		t.Errorf("got the properties %q, and mentions of %q", names, mentioned)
	}
	if s.Kind() != "object" || !s.IsNullable() || s.Description != "d" || !s.Requires("a") || s.Requires("b") || !s.IsClosed() || s.Count("minProperties") != 2 {
		t.Errorf("got %+v", s)
	}
	b, c := s.Property("b"), s.Property("c").Items
	if b.OwnFormat != "file" || b.Count("maxLength") != 9 || b.Count("minLength") != 0 || b.IsClosed() || !c.AnyOf[1].IsNull() || !s.Property("d").IsNever || s.Property("e") != nil {
		t.Errorf("got %+v, %+v", b, c)
	}
}

func TestReadJSONSchemaRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`7`:                          "7 is not an object",
		`{"type":7}`:                 "type: ",
		`{"type":[]}`:                "type: the list is empty",
		`{"properties":{"a":7}}`:     "properties: a: 7 is not an object",
		`{"items":"x"}`:              "items: ",
		`{"anyOf":{}}`:               "anyOf: ",
		`{"required":"a"}`:           "required: ",
		`{"enum":"a"}`:               "enum: ",
		`{"type":"a","type":"b"}`:    "duplicate",
		`{"dependentSchemas":{"a":`:  "",
		`{"oneOf":[{"format":true}]`: "",
	} {
		if s, err := ReadJSONSchema([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", text, s, err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	var schemas Schemas
	err := json.Unmarshal([]byte(`{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/C"},"C":{"type":"string"},
		"Loop":{"$ref":"#/components/schemas/Loop"},"Lost":{"$ref":"#/components/schemas/Nowhere"}}`), &schemas)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "C string", "C": " string", "Loop": "refers to itself", "Lost": "there is no component Nowhere", "None": "there is no component None"} {
		s, err := schemas.Read(name)
		got := ""
		if err == nil {
			var component string
			if s, component, err = schemas.Resolve(s); err == nil {
				got = component + " " + s.Kind()
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
