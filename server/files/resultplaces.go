package files

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// ResultPlaces says where a JSON value holds files. What it does not mention holds
// none.
type ResultPlaces struct {
	isFile  bool
	members map[string]*ResultPlaces // of an object
	items   *ResultPlaces            // of an array
	others  []*ResultPlaces          // what the value may be instead
}

// fileComponent is the schema of a file in a result.
const fileComponent = "File"

const refPrefix = "#/components/schemas/"

// PlacesOf finds where values of a component hold files, or returns nil if they
// never do. Components may contain themselves.
func PlacesOf(schemas release.Schemas, name string) (*ResultPlaces, error) {
	if name == "" {
		return nil, nil
	}
	w := &placeFinder{schemas: schemas, places: map[string]*ResultPlaces{}}
	holds, err := w.holdsFiles(name, map[string]bool{})
	if err != nil || !holds {
		return nil, err
	}
	return w.component(name)
}

// resultSchema is what of a JSON Schema says where other schemas stand in it.
type resultSchema struct {
	Ref        string                  `json:"$ref"`
	Properties map[string]resultSchema `json:"properties"`
	Items      *resultSchema           `json:"items"`
	OneOf      []resultSchema          `json:"oneOf"`
	AnyOf      []resultSchema          `json:"anyOf"`
	AllOf      []resultSchema          `json:"allOf"`
}

// within lists the schemas that stand in a schema.
func (r *resultSchema) within() []resultSchema {
	inner := slices.Concat(r.OneOf, r.AnyOf, r.AllOf)
	for _, p := range r.Properties {
		inner = append(inner, p)
	}
	if r.Items != nil {
		inner = append(inner, *r.Items)
	}
	return inner
}

type placeFinder struct {
	schemas release.Schemas
	places  map[string]*ResultPlaces // by component
}

func (w *placeFinder) read(name string) (resultSchema, error) {
	var schema resultSchema
	text := w.schemas.Get(name)
	if text == nil {
		return schema, fmt.Errorf("there is no schema %s", name)
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		return schema, fmt.Errorf("read the schema %s: %w", name, err)
	}
	return schema, nil
}

// holdsFiles tells whether a file can be reached from a component.
func (w *placeFinder) holdsFiles(name string, seen map[string]bool) (bool, error) {
	if name == fileComponent {
		return true, nil
	}
	if seen[name] {
		return false, nil
	}
	seen[name] = true
	schema, err := w.read(name)
	if err != nil {
		return false, err
	}
	return w.schemaHoldsFiles(schema, seen)
}

func (w *placeFinder) schemaHoldsFiles(schema resultSchema, seen map[string]bool) (bool, error) {
	if target, ok := strings.CutPrefix(schema.Ref, refPrefix); ok {
		return w.holdsFiles(target, seen)
	}
	for _, inner := range schema.within() {
		if holds, err := w.schemaHoldsFiles(inner, seen); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

func (w *placeFinder) component(name string) (*ResultPlaces, error) {
	if p, known := w.places[name]; known {
		return p, nil
	}
	p := &ResultPlaces{isFile: name == fileComponent}
	w.places[name] = p
	if p.isFile {
		return p, nil
	}
	schema, err := w.read(name)
	if err == nil {
		err = w.fill(p, schema)
	}
	return p, err
}

// find returns where values of a schema hold files, or nil.
func (w *placeFinder) find(schema resultSchema) (*ResultPlaces, error) {
	holds, err := w.schemaHoldsFiles(schema, map[string]bool{})
	if err != nil || !holds {
		return nil, err
	}
	if target, ok := strings.CutPrefix(schema.Ref, refPrefix); ok {
		return w.component(target)
	}
	p := &ResultPlaces{}
	return p, w.fill(p, schema)
}

func (w *placeFinder) fill(p *ResultPlaces, schema resultSchema) error {
	if schema.Ref != "" {
		schema = resultSchema{OneOf: []resultSchema{schema}}
	}
	for name, property := range schema.Properties {
		inner, err := w.find(property)
		if err != nil {
			return err
		}
		if inner != nil {
			if p.members == nil {
				p.members = map[string]*ResultPlaces{}
			}
			p.members[name] = inner
		}
	}
	if schema.Items != nil {
		inner, err := w.find(*schema.Items)
		if err != nil {
			return err
		}
		p.items = inner
	}
	for _, other := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
		inner, err := w.find(other)
		if err != nil {
			return err
		}
		if inner != nil {
			p.others = append(p.others, inner)
		}
	}
	return nil
}

// holdsFile tells whether an object at this place is a file.
func (p *ResultPlaces) holdsFile() bool {
	return p != nil && (p.isFile || slices.ContainsFunc(p.others, (*ResultPlaces).holdsFile))
}

// member returns where a member of an object holds files, or nil.
func (p *ResultPlaces) member(name string) *ResultPlaces {
	if inner := p.members[name]; inner != nil {
		return inner
	}
	for _, other := range p.others {
		if inner := other.member(name); inner != nil {
			return inner
		}
	}
	return nil
}

// element returns where an element of an array holds files, or nil.
func (p *ResultPlaces) element() *ResultPlaces {
	if p.items != nil {
		return p.items
	}
	for _, other := range p.others {
		if inner := other.element(); inner != nil {
			return inner
		}
	}
	return nil
}
