package openapi

import (
	"bytes"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// The parts of an OpenAPI document that this package writes, in their order.

type document struct {
	OpenAPI    string            `json:"openapi"`
	Info       info              `json:"info"`
	Servers    []serverURL       `json:"servers"`
	Tags       []tag             `json:"tags,omitempty"`
	Paths      members[pathItem] `json:"paths"`
	Components components        `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	Project     string `json:"x-project,omitempty"` // the name of the project
}

type serverURL struct {
	URL string `json:"url"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type pathItem struct {
	Get  *operation `json:"get,omitempty"`
	Put  *operation `json:"put,omitempty"`
	Post *operation `json:"post,omitempty"`
}

type operation struct {
	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Parameters  []any                 `json:"parameters,omitempty"` // a parameter or a reference each
	RequestBody *requestBody          `json:"requestBody,omitempty"`
	Responses   members[any]          `json:"responses"` // a response or a reference each
	Security    []map[string][]string `json:"security"`  // one key each at most
}

type requestBody struct {
	Required bool               `json:"required"`
	Content  members[mediaType] `json:"content"`
}

type response struct {
	Description string             `json:"description"`
	Headers     members[header]    `json:"headers,omitempty"`
	Content     members[mediaType] `json:"content,omitempty"`
}

type header struct {
	Description string              `json:"description"`
	Required    bool                `json:"required,omitempty"` // whether it always comes
	Schema      *release.JSONSchema `json:"schema"`
}

// mediaType is one form of a body.
type mediaType struct {
	Schema *release.JSONSchema `json:"schema"`
}

func jsonContent(schema *release.JSONSchema) members[mediaType] {
	return members[mediaType]{{request.JSONType, mediaType{schema}}}
}

type reference struct {
	Ref string `json:"$ref"`
}

type components struct {
	Schemas         release.Schemas         `json:"schemas"`
	Responses       members[response]       `json:"responses"`
	Parameters      members[parameter]      `json:"parameters"`
	SecuritySchemes members[securityScheme] `json:"securitySchemes"`
}

type parameter struct {
	Name        string              `json:"name"`
	In          string              `json:"in"`
	Required    bool                `json:"required,omitempty"`
	Description string              `json:"description"`
	Schema      *release.JSONSchema `json:"schema"`
}

type securityScheme struct {
	Type         string `json:"type"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
}

// members is a JSON object whose members keep their order.
type members[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

func (m *members[T]) add(name string, value T) {
	*m = append(*m, member[T]{name, value})
}

// MarshalJSON writes the members in order.
func (m members[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := answer.Encode(e.name)
		if err != nil {
			return nil, err
		}
		value, err := answer.Encode(e.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
