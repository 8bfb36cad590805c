package problem

// Kind describes the problems of one code.
type Kind struct {
	Code   Code
	Params []Param
	When   string
}

// Param is a member of the params of a kind.
type Param struct {
	Name string
	Type string // in TypeScript
}

var (
	limit = []Param{{"limit", "number"}}
	name  = []Param{{"name", "string"}}
)

// Kinds lists all kinds of problems.
func Kinds() []Kind {
	return []Kind{
		{"required", nil, "the input is missing"},
		{"type", []Param{{"expected", "string | string[]"}, {"given", "string"}}, "the value has another JSON type"},
		{"enum", []Param{{"values", "(string | null)[]"}}, "the value is not in a list"},
		{"format", []Param{{"format", "string"}}, "the text does not have the format"},
		{"minimum", limit, "the number is too small"},
		{"maximum", limit, "the number is too large"},
		{"minLength", limit, "the text is too short"},
		{"maxLength", limit, "the text is too long"},
		{"notBlank", nil, "the text has nothing but white space"},
		{"pattern", nil, "the text does not match its pattern; `error` is the message of the schema, if it has one"},
		{"minItems", limit, "the array has too few elements"},
		{"maxItems", limit, "the array has too many elements"},
		{"minProperties", limit, "the object has too few members"},
		{"maxProperties", limit, "the object has too many members"},
		{"additionalProperty", name, "the object does not have such a member"},
		{"maxRows", limit, "the input makes too many rows"},
		{"excludes", name, "the paging input cannot be used with another"},
		{"needs", name, "the paging input needs another"},
		{"cursor", nil, "the text is not a cursor of the list"},
		{"upload", nil, "the upload key cannot be used here: it is unknown, was used already, or nothing was uploaded"},
		{"contentType", []Param{{"given", "string"}, {"accepted", "string[]"}}, "the file has another type"},
		{"maxSize", limit, "the file has too many bytes"},
		{"null", nil, "a required field gets no value"},
		{"noCaller", name, "a required field is set from the caller, who lacks the value"},
		{"unique", []Param{{"fields", "string[]"}}, "another record has the values of these fields"},
		{"range", nil, "the value is too large for its field"},
		{"reference", nil, "the record does not exist"},
		{"restrict", nil, "other records refer to the record"},
		{"indexed", nil, "the text is too long for an index"},
		{"validate", nil, "a validation rule failed; `error` is its message"},
		{"refused", []Param{{"code", "string"}}, "a call of this row alone is refused, by the code of its error; of actions with `@many`"},
		{"twice", nil, "the row is the same as one before it in the call"},
		{"incorrect", nil, "the value is not the right one, such as a password"},
		{"notAllowed", nil, "the address is not in the configuration"},
		{"unchanged", nil, "the value is the present one"},
	}
}

// Codes lists the codes of all kinds.
func Codes() []string {
	var codes []string
	for _, k := range Kinds() {
		codes = append(codes, string(k.Code))
	}
	return codes
}
