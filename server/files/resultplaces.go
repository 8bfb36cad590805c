package files

import (
	"slices"

	"github.com/sternpost/sternpost/sql/release"
)

// ResultPlaces are the places of files in a JSON value. Places that are not mentioned
// have no files.
type ResultPlaces struct {
	isFile  bool
	members map[string]*ResultPlaces // of an object
	items   *ResultPlaces            // of an array
	others  []*ResultPlaces          // alternatives for the value
}

// fileComponent is the schema of a file in a result.
const fileComponent = "File"

// PlacesOf finds the places of files in values of a component, or returns nil if they
// never have any. Components may contain themselves.
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

type placeFinder struct {
	schemas release.Schemas
	places  map[string]*ResultPlaces // by component
}

// holdsFiles tells whether a component can contain a file at any depth.
func (w *placeFinder) holdsFiles(name string, seen map[string]bool) (bool, error) {
	if name == fileComponent {
		return true, nil
	}
	if seen[name] {
		return false, nil
	}
	seen[name] = true
	schema, err := w.schemas.Read(name)
	if err != nil {
		return false, err
	}
	return w.schemaHoldsFiles(schema, seen)
}

func (w *placeFinder) schemaHoldsFiles(schema *release.JSONSchema, seen map[string]bool) (bool, error) {
	holds, err := false, error(nil)
	schema.Walk(func(s *release.JSONSchema) {
		if target := s.Component(); target != "" && !holds && err == nil {
			holds, err = w.holdsFiles(target, seen)
		}
	})
	return holds, err
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
	schema, err := w.schemas.Read(name)
	if err == nil {
		err = w.fill(p, schema)
	}
	return p, err
}

// find returns the places of files in values of a schema, or nil.
func (w *placeFinder) find(schema *release.JSONSchema) (*ResultPlaces, error) {
	holds, err := w.schemaHoldsFiles(schema, map[string]bool{})
	if err != nil || !holds {
		return nil, err
	}
	if target := schema.Component(); target != "" {
		return w.component(target)
	}
	p := &ResultPlaces{}
	return p, w.fill(p, schema)
}

func (w *placeFinder) fill(p *ResultPlaces, schema *release.JSONSchema) error {
	if schema.Ref != "" {
		schema = &release.JSONSchema{OneOf: []*release.JSONSchema{schema}}
	}
	for _, property := range schema.Properties {
		inner, err := w.find(property.Schema)
		if err != nil {
			return err
		}
		if inner != nil {
			if p.members == nil {
				p.members = map[string]*ResultPlaces{}
			}
			p.members[property.Name] = inner
		}
	}
	if schema.Items != nil {
		inner, err := w.find(schema.Items)
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

// member returns the places of files in a member of an object, or nil.
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

// element returns the places of files in an element of an array, or nil.
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
