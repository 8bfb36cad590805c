package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// Declared is the message that a read or write declares as its answer. The answer is JSON
// that custom code makes, so nothing else ensures that it fits.
type Declared struct {
	component  string
	components map[string]*release.JSONSchema // those that the answer may hold
}

// NewDeclared reads the schema of an answer.
func NewDeclared(schemas release.Schemas, component string) (*Declared, error) {
	reached, err := schemas.Reached([]string{component})
	if err != nil {
		return nil, err
	}
	d := &Declared{component, map[string]*release.JSONSchema{}}
	for _, e := range reached {
		if d.components[e.Name], err = schemas.Read(e.Name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// maxFaults is the number of faults that Misfit names: the rows of a list have the same.
const maxFaults = 4

// Misfit says where an answer is not as declared: members that are missing or not declared,
// and values of another type. It does not look at the formats of texts. It is empty if the
// answer fits.
func (d *Declared) Misfit(result []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(result))
	decoder.UseNumber()
	var value any
	faults := []string{"it is not JSON"}
	if err := decoder.Decode(&value); err == nil {
		faults = d.faultsOf(value, d.components[d.component], "")
	}
	if len(faults) == 0 {
		return ""
	}
	listed := strings.Join(faults[:min(len(faults), maxFaults)], "; ")
	if len(faults) > maxFaults {
		listed += "; and more"
	}
	return "does not answer the message " + d.component + ": " + listed
}

// faultsOf compares a value with its schema; at is its path, empty for the answer as a whole.
func (d *Declared) faultsOf(value any, s *release.JSONSchema, at string) []string {
	if name := s.Component(); name != "" {
		return d.faultsOf(value, d.components[name], at)
	}
	if either := append(slices.Clone(s.AnyOf), s.OneOf...); len(either) > 0 {
		return d.faultsOfEither(value, either, at)
	}
	kind := kindOf(value)
	switch {
	case len(s.Types) > 0 && !slices.Contains(s.Types, kind) && (kind != "integer" || !slices.Contains(s.Types, "number")):
		if at == "" {
			at = "it"
		}
		return []string{fmt.Sprintf("%s is of type %s, not %s", at, kind, strings.Join(s.Types, " or "))}
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, value):
		return []string{fmt.Sprintf("%s is not a value of its enum", at)}
	}
	var faults []string
	switch v := value.(type) {
	case map[string]any:
		faults = d.faultsOfObject(v, s, at)
	case []any:
		for i, element := range v {
			if s.Items == nil || len(faults) > maxFaults {
				break
			}
			faults = append(faults, d.faultsOf(element, s.Items, within(at, strconv.Itoa(i)))...)
		}
	}
	return faults
}

// faultsOfEither compares a value with alternatives. If none fits, the faults are those of the first, which has content.
func (d *Declared) faultsOfEither(value any, either []*release.JSONSchema, at string) []string {
	var first []string
	for i, s := range either {
		faults := d.faultsOf(value, s, at)
		if len(faults) == 0 {
			return nil
		}
		if i == 0 {
			first = faults
		}
	}
	return first
}

func (d *Declared) faultsOfObject(object map[string]any, s *release.JSONSchema, at string) []string {
	if s.Properties == nil {
		return nil // any JSON
	}
	var faults []string
	declared := map[string]bool{}
	for _, p := range s.Properties {
		declared[p.Name] = true
		value, isThere := object[p.Name]
		switch {
		case isThere:
			faults = append(faults, d.faultsOf(value, p.Schema, within(at, p.Name))...)
		case slices.Contains(s.Required, p.Name):
			faults = append(faults, within(at, p.Name)+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !declared[name] {
			faults = append(faults, within(at, name)+" is not declared")
		}
	}
	return faults
}

// within is the path of a member or an element.
func within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// kindOf is the type of a value in a JSON Schema.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if number, ok := new(big.Rat).SetString(v.String()); ok && number.IsInt() {
			return "integer"
		}
		return "number"
	}
	return "object"
}
