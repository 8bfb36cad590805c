// Package input turns the bytes of a request into the checked JSON that goes to
// Postgres.
//
// The input is the body of a POST or the query string of a GET, and the JSON Schema that
// is published for the action. The output is an Input: compact JSON made of the values
// that were read, never of the bytes that were sent, with numbers, dates, timestamps and
// durations in the form that the database functions expect. A refusal is a *Malformed for
// text that is not accepted JSON, or an *Invalid, which lists every problem.
//
// Reading, checking and writing are one pass. It is safe for input of any kind:
// depth, numbers and the number of problems kept are bounded.
//
// # Schemas
//
// Compile knows a closed set of keywords and refuses every other one, so that everything
// published is checked:
//
//   - type (a name or a list of names), enum (of strings and null), $ref to
//     #/components/schemas/X (beside it only annotations)
//   - anyOf, of a $ref and {"type": "null"} and nothing else, or of sets of
//     properties of an object, as {"required": […]}, one of which must be given
//   - properties, required, additionalProperties (true or false), minProperties,
//     maxProperties, of objects
//   - items, minItems, maxItems, of arrays
//   - format, minLength, maxLength, of strings; with format password the lengths
//     are in bytes
//   - minimum, maximum and format decimal, of numbers
//   - dependentSchemas, of the body of a list only, as described below
//   - description, default and x-…, which demand nothing; but x-format names a
//     format that does not concern clients: file (a data URL or an upload key) or
//     secret
//
// A keyword is allowed only beside a type that it applies to. The formats are date,
// date-time, duration, markdown, data-url, relative-period, password and decimal.
//
// An integer without bounds is limited to ±9007199254740991, a number without format
// decimal to single precision: these are the limits of the database. A date-time may name
// a leap second at a possible time (23:59:60 UTC at the end of a month); it is passed on
// as the first second of the next day.
//
// # Lists
//
// An object with dependentSchemas is the body of a list, with the properties
// first, last, after, before, limit, offset and totalCount. Its dependentSchemas
// must say exactly which of them exclude or need each other:
//
//	"dependentSchemas": {
//	  "first":  {"properties": {"limit": false, "offset": false, "last": false, "before": false}},
//	  "last":   {"properties": {"limit": false, "offset": false, "after": false}},
//	  "after":  {"properties": {"limit": false, "offset": false, "before": false}},
//	  "before": {"properties": {"limit": false, "offset": false}},
//	  "offset": {"required": ["limit"]}
//	}
//
// A pair that excludes each other may be named from either side or from both.
package input
