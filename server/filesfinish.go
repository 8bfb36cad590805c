package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
)

// filePlaces says where a JSON value holds files. What it does not mention holds
// none.
type filePlaces struct {
	isFile  bool
	members map[string]*filePlaces // of an object
	items   *filePlaces            // of an array
	others  []*filePlaces          // what the value may be instead
}

// fileComponent is the schema of a file in a result.
const fileComponent = "File"

const refPrefix = "#/components/schemas/"

// resultFiles finds where values of a component hold files, or returns nil if they
// never do. Components may contain themselves.
func resultFiles(schemas release.Schemas, name string) (*filePlaces, error) {
	if name == "" {
		return nil, nil
	}
	w := &placeFinder{schemas: schemas, places: map[string]*filePlaces{}}
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
	places  map[string]*filePlaces // by component
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

func (w *placeFinder) component(name string) (*filePlaces, error) {
	if p, known := w.places[name]; known {
		return p, nil
	}
	p := &filePlaces{isFile: name == fileComponent}
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
func (w *placeFinder) find(schema resultSchema) (*filePlaces, error) {
	holds, err := w.schemaHoldsFiles(schema, map[string]bool{})
	if err != nil || !holds {
		return nil, err
	}
	if target, ok := strings.CutPrefix(schema.Ref, refPrefix); ok {
		return w.component(target)
	}
	p := &filePlaces{}
	return p, w.fill(p, schema)
}

func (w *placeFinder) fill(p *filePlaces, schema resultSchema) error {
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
				p.members = map[string]*filePlaces{}
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
func (p *filePlaces) holdsFile() bool {
	return p != nil && (p.isFile || slices.ContainsFunc(p.others, (*filePlaces).holdsFile))
}

// member returns where a member of an object holds files, or nil.
func (p *filePlaces) member(name string) *filePlaces {
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
func (p *filePlaces) element() *filePlaces {
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

// finish gives each file of a result its url, made anew each time, and leaves every
// other byte as it is.
func (s *Server) finish(result []byte, places *filePlaces) ([]byte, error) {
	f := &finisher{
		server:  s,
		result:  result,
		decoder: jsontext.NewDecoder(bytes.NewBuffer(result), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		out:     make([]byte, 0, len(result)+len(result)/2),
	}
	if err := f.value(places); err != nil {
		return nil, err
	}
	return append(f.out, result[f.done:]...), nil
}

type finisher struct {
	server  *Server
	result  []byte
	decoder *jsontext.Decoder
	out     []byte
	done    int // how much of the result is written
}

func (f *finisher) value(p *filePlaces) error {
	switch kind := f.decoder.PeekKind(); {
	case kind == '{' && p.holdsFile():
		return f.file()
	case kind == '{':
		return f.object(p)
	case kind == '[' && p.element() != nil:
		return f.array(p.element())
	}
	return f.skip()
}

func (f *finisher) skip() error {
	if err := f.decoder.SkipValue(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	return nil
}

func (f *finisher) object(p *filePlaces) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	for f.decoder.PeekKind() != '}' {
		name, err := f.decoder.ReadToken()
		if err != nil {
			return fmt.Errorf("read a result with files: %w", err)
		}
		if inner := p.member(name.String()); inner != nil {
			err = f.value(inner)
		} else {
			err = f.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err
}

func (f *finisher) array(element *filePlaces) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	for f.decoder.PeekKind() != ']' {
		if err := f.value(element); err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err
}

// file writes a file with its url. Only custom code can bring one that was never
// stored.
func (f *finisher) file() error {
	raw, err := f.decoder.ReadValue()
	if err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	var file storedFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("read a file of a result: %w", err)
	}
	if !isFileKey(file.Key) {
		return errors.New("a file of the result has a key that is none")
	}
	url, err := f.server.downloadURL(&file)
	if err != nil {
		return err
	}
	end := int(f.decoder.InputOffset())
	f.out = append(f.out, f.result[f.done:end-len(raw)]...)
	f.out = file.append(f.out, url)
	f.done = end
	return nil
}

func (s *Server) downloadURL(file *storedFile) (string, error) {
	ctx, cancel := storageContext()
	defer cancel()
	url, err := s.store.DownloadURL(ctx, storage.Files+file.Key, storage.Download{Filename: file.Filename, ContentType: file.ContentType})
	if err != nil {
		return "", unavailable.with(err)
	}
	return url, nil
}
