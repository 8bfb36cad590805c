package server

import (
	"bytes"
	"encoding/json"

	"github.com/sternpost/sternpost/sql/release"
)

// The parts of an OpenAPI document, as far as we write them, in the order in which
// they are written.

type openAPI struct {
	OpenAPI    string               `json:"openapi"`
	Info       openAPIInfo          `json:"info"`
	Servers    []openAPIServer      `json:"servers"`
	Tags       []openAPITag         `json:"tags,omitempty"`
	Paths      members[openAPIPath] `json:"paths"`
	Components openAPIComponents    `json:"components"`
}

type openAPIInfo struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

type openAPIServer struct {
	URL string `json:"url"`
}

type openAPITag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type openAPIPath struct {
	Post *openAPIOperation `json:"post"`
}

type openAPIOperation struct {
	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Description string                `json:"description,omitempty"`
	Parameters  []reference           `json:"parameters,omitempty"`
	RequestBody openAPIBody           `json:"requestBody"`
	Responses   members[any]          `json:"responses"` // an openAPIResponse or a reference each
	Security    []map[string][]string `json:"security"`  // one key each at most
}

type openAPIBody struct {
	Required bool    `json:"required"`
	Content  content `json:"content"`
}

type openAPIResponse struct {
	Description string                 `json:"description"`
	Headers     members[openAPIHeader] `json:"headers,omitempty"`
	Content     content                `json:"content"`
}

type openAPIHeader struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// content is a body, which is JSON always.
type content struct {
	JSON struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"application/json"`
}

func jsonContent(schema json.RawMessage) content {
	var c content
	c.JSON.Schema = schema
	return c
}

type reference struct {
	Ref string `json:"$ref"`
}

type openAPIComponents struct {
	Schemas         release.Schemas                `json:"schemas"`
	Responses       members[openAPIResponse]       `json:"responses"`
	Parameters      members[openAPIParameter]      `json:"parameters"`
	SecuritySchemes members[openAPISecurityScheme] `json:"securitySchemes"`
}

type openAPIParameter struct {
	Name        string          `json:"name"`
	In          string          `json:"in"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

type openAPISecurityScheme struct {
	Type         string `json:"type"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
}

// members is a JSON object whose members keep their order.
type members[T any] []openAPIMember[T]

type openAPIMember[T any] struct {
	name  string
	value T
}

func (m *members[T]) add(name string, value T) {
	*m = append(*m, openAPIMember[T]{name, value})
}

// MarshalJSON writes the members in order.
func (m members[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(e.name)
		if err != nil {
			return nil, err
		}
		value, err := encode(e.value)
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
