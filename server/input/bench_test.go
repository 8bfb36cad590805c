package input_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// createBody is a create of 330 bytes, as clients send it.
const createBody = `{"title":"The Ashley Book of Knots","slug":"the-ashley-book-of-knots","summary":"Every practical knot, what it looks like, who uses it, where it comes from","status":"Live","price":49.95,"pages":620,"inPrint":true,"publishedAt":"1944-01-01T00:00:00.000Z","tags":["rope","sea","craft"],"author":{"id":"019d3a95-6c0d-7f00-9c3d-5e6f70819a2b"}}`

const createSchemas = `{"X":{
  "type":"object","additionalProperties":false,
  "properties":{
    "title":{"type":"string"},"slug":{"type":"string"},"summary":{"type":["string","null"],"format":"markdown"},
    "status":{"$ref":"#/components/schemas/Status"},"price":{"type":["number","null"],"format":"decimal"},
    "pages":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"inPrint":{"type":"boolean"},
    "publishedAt":{"type":"string","format":"date-time"},"tags":{"type":"array","items":{"type":"string"}},
    "author":{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string","minLength":1,"maxLength":255}},"required":["id"]}
  },
  "required":["title","slug","status","pages","inPrint","publishedAt","tags","author"]},
  "Status":{"enum":["Draft","Live"]}}`

func BenchmarkRead(b *testing.B) {
	r := compile(b, createSchemas, "X")
	body := []byte(createBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadList(b *testing.B) {
	r := compile(b, listSchemas, "ListArticlesInput")
	body := []byte(`{"where":{"title":{"startsWith":"knots"},"author":{"id":{"equals":"019d3a95-6c0d-7f00-9c3d-5e6f70819a2b"}}},"first":20}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		in, err := r.Read(body)
		if err != nil || in.OperatorSet() != "author.id.equals,title.startsWith" {
			b.Fatal(in, err)
		}
	}
}

func BenchmarkUnmarshalToMap(b *testing.B) {
	body := []byte(createBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadInlineFile(b *testing.B) {
	r := valueReader(b, schemaDataURL)
	body := []byte(`{"v":"data:image/png;name=a.png;base64,` + strings.Repeat("QUJD", 1<<20) + `"}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := r.Read(body); err != nil {
			b.Fatal(err)
		}
	}
}
