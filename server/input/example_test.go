package input_test

import (
	"fmt"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

func ExampleReader_Read() {
	schemas := release.Schemas{{Name: "CreateEventInput", JSON: []byte(`{
	  "type": "object", "additionalProperties": false,
	  "properties": {
	    "title": {"type": "string"},
	    "at": {"type": "string", "format": "date-time"},
	    "seats": {"type": "integer", "minimum": 1}
	  },
	  "required": ["title", "at"]
	}`)}}
	r, err := input.Compile(schemas, "CreateEventInput")
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := r.Read([]byte(`{ "title": "A\u002fB", "at": "2026-03-31T23:40:10.0009+02:00", "seats": 5.0 }`))
	fmt.Println(string(in.JSON), err)
	// Output: {"title":"A/B","at":"2026-03-31T21:40:10.000Z","seats":5} <nil>
}
