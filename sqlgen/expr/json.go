package expr

import "encoding/json"

// Bounds of values in a request. They are part of the published schemas.
const (
	maxIDLength = 255
	maxPassword = 1024
	maxVector   = 16_000
	maxSingle   = "340282346638528859811704183484516925440" // what an element of a vector can hold
)

// JSON is the form of a value in JSON: a schema of JSON Schema.
type JSON struct {
	Type     string // "" means that a value of the kind has no schema of its own
	Keywords []Keyword
}

// Keyword is a keyword of JSON Schema. Its value is a text, a number or a JSON.
type Keyword struct {
	Name  string
	Value any
}

// JSON returns the form of one value of the kind in JSON.
func (k Kind) JSON() JSON { return kinds[k].json }

// Format returns the format that a schema names, "" if it names none.
func (j JSON) Format() string {
	for _, k := range j.Keywords {
		if k.IsFormat() {
			return k.Value.(string)
		}
	}
	return ""
}

// Has tells whether a schema has a keyword.
func (j JSON) Has(keyword string) bool {
	for _, k := range j.Keywords {
		if k.Name == keyword {
			return true
		}
	}
	return false
}

// IsFormat tells whether the keyword names a format: x-format names one that is the
// server's own.
func (k Keyword) IsFormat() bool { return k.Name == "format" || k.Name == "x-format" }

// textJSON is a text of a format, with other keywords.
func textJSON(format string, others ...Keyword) JSON {
	return JSON{"string", append([]Keyword{{"format", format}}, others...)}
}

// between is a number within bounds, both included.
func between(least, most string) []Keyword {
	return []Keyword{{"minimum", json.Number(least)}, {"maximum", json.Number(most)}}
}

// vectorJSON is a list of numbers of single precision.
var vectorJSON = JSON{"array", []Keyword{
	{"items", JSON{"number", between("-"+maxSingle, maxSingle)}},
	{"minItems", 1},
	{"maxItems", maxVector},
}}
