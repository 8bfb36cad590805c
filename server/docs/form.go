package docs

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// formNode is an input in the form that tries an action.
type formNode struct {
	Name     string      `json:"name,omitempty"` // of a member; empty for the whole input and for items of a list
	Kind     string      `json:"kind"`           // see formKind
	Type     string      `json:"type,omitempty"` // in words
	Doc      string      `json:"doc,omitempty"`
	Required bool        `json:"required,omitempty"`
	Nullable bool        `json:"nullable,omitempty"`
	Values   []string    `json:"values,omitempty"`  // of an enum
	Members  []*formNode `json:"members,omitempty"` // of an object, the operators of a filter, the fields of an order
	Item     *formNode   `json:"item,omitempty"`    // of a list
	Least    int         `json:"least,omitempty"`   // characters of a text, or entries of a list
	Most     int         `json:"most,omitempty"`    // likewise; 0 means any number
	Accepts  []string    `json:"accepts,omitempty"` // of a file
	MaxSize  int64       `json:"maxSize,omitempty"` // of a file, in bytes
	Upload   string      `json:"upload,omitempty"`  // the last segment of the upload route of a file
}

// formReader makes the form of one action.
type formReader struct {
	schemaReader
	action *release.Action
}

// form returns the form of an action as JSON.
func (r formReader) form() (string, error) {
	text, err := answer.Encode(r.node("", "", r.component(r.action.Input), 0, []string{r.action.Input}))
	return string(text), err
}

// node makes the node at a path. above lists the components around it: a recursive one is
// written as JSON.
func (r formReader) node(name, path string, schema *release.JSONSchema, depth int, above []string) *formNode {
	s := r.resolve(schema)
	n := &formNode{Name: name, Kind: formKind(&s), Doc: s.doc, Nullable: s.nullable}
	if s.component != "" && slices.Contains(above, s.component) || depth > maxSchemaDepth {
		n.Kind = "json"
	}
	if s.component != "" {
		above = append(slices.Clone(above), s.component)
	}
	switch n.Kind {
	case "object", "filter", "order":
		for _, p := range s.Properties {
			member := r.node(p.Name, strings.TrimPrefix(path+"."+p.Name, "."), p.Schema, depth+1, above)
			member.Required = s.Requires(p.Name)
			n.Members = append(n.Members, member)
		}
		return n
	case "list":
		n.Item = r.node("", path, s.Items, depth+1, above)
		n.Least, n.Most = s.Count("minItems"), s.Count("maxItems")
	case "enum":
		for _, v := range s.Enum {
			if text, isText := v.(string); isText {
				n.Values = append(n.Values, text)
			}
		}
	case "file":
		r.bound(n, path)
	case "text":
		n.Least, n.Most = s.Count("minLength"), s.Count("maxLength")
	}
	n.Type = r.typeText(&s)
	return n
}

// bound sets the requirements for a file at a path.
func (r formReader) bound(n *formNode, path string) {
	for _, f := range slices.Concat(r.action.Files, r.action.Inline) {
		if f.Path == path {
			n.Accepts, n.MaxSize = f.Accepts, f.MaxSize
		}
	}
	for _, f := range r.action.Files {
		if f.Path == path {
			n.Upload = f.Name
		}
	}
}

// formKind returns the kind of field for an input: text, lines (several of them), number,
// integer, boolean, enum, date, date-time, duration, period, password, file, id, or json for
// any other; object, list, filter (an object of operators) and order (one of fields).
func formKind(s *shownSchema) string {
	switch {
	case s.isFilter():
		return "filter"
	case len(s.Enum) > 0:
		return "enum"
	case s.isID():
		return "id"
	}
	switch kind := s.Kind(); kind {
	case "object":
		if s.Count("maxProperties") == 1 && len(s.Properties) > 0 {
			return "order"
		}
		if len(s.Properties) == 0 && !s.IsClosed() {
			return "json"
		}
		return "object"
	case "array":
		return "list"
	case "boolean", "integer", "number":
		return kind
	case "string":
		switch s.Format + s.OwnFormat {
		case "date", "date-time", "duration":
			return s.Format
		case "relative-period":
			return "period"
		case "data-url", "file":
			return "file"
		case "password", "secret":
			return "password"
		case "markdown":
			return "lines"
		}
		return "text"
	}
	return "json"
}
