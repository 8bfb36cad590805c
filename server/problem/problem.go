package problem

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Problem is one fault of an input.
type Problem struct {
	Field  string `json:"field,omitempty"` // the dotted path of the offending input
	Code   Code   `json:"code"`
	Params Params `json:"params,omitempty"`
	Error  string `json:"error"`
}

// Code names a kind of problem. It is the same in all releases.
type Code string

// Params is what belongs to a problem of its code, as a JSON object; empty for nothing.
type Params string

// MarshalJSON returns the object.
func (p Params) MarshalJSON() ([]byte, error) { return []byte(p), nil }

// UnmarshalJSON keeps the object as it is.
func (p *Params) UnmarshalJSON(text []byte) error {
	*p = Params(text)
	return nil
}

// At returns the problem as that of an input.
func (p Problem) At(field string) Problem {
	p.Field = field
	return p
}

// The problems that the schema of an input finds.

// Required is the problem of an input that is missing.
func Required(name string) Problem { return plain("required", name+" is required") }

// Type is the problem of a value of another JSON type.
func Type(expected []string, given string) Problem {
	var types any = expected
	text := "[" + strings.Join(expected, ",") + "]"
	if len(expected) == 1 {
		types, text = expected[0], expected[0]
	}
	return with("type", "Invalid type. Expected: "+text+", given: "+given, param{"expected", types}, param{"given", given})
}

// Enum is the problem of a value that is not in a list. The list may also have null.
func Enum(name string, members []string, hasNull bool) Problem {
	values := make([]any, len(members), len(members)+1)
	texts := make([]string, len(members), len(members)+1)
	for i, member := range members {
		values[i], texts[i] = member, `"`+member+`"`
	}
	if hasNull {
		values, texts = append(values, nil), append(texts, "null")
	}
	return with("enum", name+" must be one of the following: "+strings.Join(texts, ", "), param{"values", values})
}

// Format is the problem of a text that does not have a format.
func Format(format string) Problem {
	return FormatBecause(format, "Does not match format '"+format+"'")
}

// FormatBecause is the problem of a text that does not have a format, in other words.
func FormatBecause(format, why string) Problem { return with("format", why, param{"format", format}) }

// Minimum is the problem of a number below a limit, whose digits are given.
func Minimum(limit string) Problem {
	return with("minimum", "Must be greater than or equal to "+limit, param{"limit", jsontext.Value(limit)})
}

// Maximum is the problem of a number above a limit, whose digits are given.
func Maximum(limit string) Problem {
	return with("maximum", "Must be less than or equal to "+limit, param{"limit", jsontext.Value(limit)})
}

// MinLength is the problem of a text with fewer characters than a limit, or bytes if unit says so.
func MinLength(limit int64, unit string) Problem {
	return limited("minLength", "String length must be at least # "+unit, limit)
}

// MaxLength is the problem of a text with more characters than a limit, or bytes if unit says so.
func MaxLength(limit int64, unit string) Problem {
	return limited("maxLength", "String length must be at most # "+unit, limit)
}

// NotBlank is the problem of a text of white space only.
func NotBlank() Problem { return plain("notBlank", "must not be blank") }

// Pattern is the problem of a text that does not match its pattern, in the words of the schema if it has some.
func Pattern(message string) Problem {
	return plain("pattern", cmp.Or(message, "does not match the pattern"))
}

// MinItems is the problem of an array with fewer elements than a limit.
func MinItems(limit int64) Problem { return limited("minItems", "Must have at least # items", limit) }

// MaxItems is the problem of an array with more elements than a limit.
func MaxItems(limit int64) Problem { return limited("maxItems", "Must have at most # items", limit) }

// MinProperties is the problem of an object with fewer members than a limit.
func MinProperties(limit int64) Problem {
	return limited("minProperties", "Must have at least # properties", limit)
}

// MaxProperties is the problem of an object with more members than a limit.
func MaxProperties(limit int64) Problem {
	return limited("maxProperties", "Must have at most # properties", limit)
}

// AdditionalProperty is the problem of a member that the object does not have.
func AdditionalProperty(name string) Problem {
	shown := name
	if name == "" {
		shown = `""` // the sentence would have a gap
	}
	return with("additionalProperty", "Additional property "+shown+" is not allowed", param{"name", name})
}

// MaxRows is the problem of an input that makes more rows than a limit.
func MaxRows(limit int64) Problem { return limited("maxRows", "Must have at most # rows", limit) }

// Refused is the problem of a row for which a call of many is refused, by the code of the refusal of a call of that row.
func Refused(code, message string) Problem { return with("refused", message, param{"code", code}) }

// Excludes is the problem of a paging input beside one that excludes it.
func Excludes(name string) Problem {
	return with("excludes", "cannot be used with "+name, param{"name", name})
}

// Needs is the problem of a paging input without one that it needs.
func Needs(name string) Problem { return with("needs", "needs "+name, param{"name", name}) }

// Cursor is the problem of a text that is not a cursor of the list.
func Cursor() Problem { return plain("cursor", "is not a cursor of this list") }

// The problems of files.

// Upload is the problem of an upload key that the call cannot use. The text says why.
func Upload(why string) Problem { return plain("upload", why) }

// ContentType is the problem of a file of another type than the accepted ones.
func ContentType(given string, accepted []string) Problem {
	return with("contentType", "content type "+given+" is not accepted", param{"given", given}, param{"accepted", accepted})
}

// MaxSize is the problem of a file with more bytes than a limit.
func MaxSize(limit int64) Problem { return limited("maxSize", "must be at most # bytes", limit) }

// The problems that the data has with an input.

// Null is the problem of a required field that gets no value.
func Null() Problem { return plain("null", "cannot be null") }

// NoCaller is the problem of a required field whose value the caller lacks.
func NoCaller(lacks string) Problem {
	return with("noCaller", "the caller has no "+lacks, param{"name", lacks})
}

// Unique is the problem of values that another record has.
func Unique(fields []string) Problem {
	text := "must be unique"
	if len(fields) > 1 {
		text = "(" + strings.Join(fields, ", ") + ") must be unique"
	}
	return with("unique", text, param{"fields", fields})
}

// Range is the problem of a value that is too large for its field.
func Range() Problem { return plain("range", "is out of range") }

// Reference is the problem of a reference to a record that does not exist.
func Reference() Problem { return plain("reference", "does not exist") }

// Restrict is the problem of a record that others refer to.
func Restrict() Problem { return plain("restrict", "is still referenced") }

// Indexed is the problem of a text that is too long for an index.
func Indexed() Problem { return plain("indexed", "is too long for an index") }

// Validate is the problem of a validation rule that failed, in its words.
func Validate(message string) Problem { return plain("validate", message) }

// Incorrect is the problem of a token, code or password that is not the right one, in other words.
func Incorrect(why string) Problem { return plain("incorrect", why) }

// param is a member of Params.
type param struct {
	name  string
	value any
}

func plain(code Code, text string) Problem { return Problem{Code: code, Error: text} }

// limited returns a problem with a limit, which the text shows in place of the #.
func limited(code Code, text string, limit int64) Problem {
	text = strings.TrimRight(strings.Replace(text, "#", strconv.FormatInt(limit, 10), 1), " ")
	return with(code, text, param{"limit", limit})
}

func with(code Code, text string, params ...param) Problem {
	b := []byte{'{'}
	for i, p := range params {
		value, err := json.Marshal(p.value)
		if err != nil {
			panic("problem: " + err.Error()) // texts and numbers only
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), p.name...), `":`...)
		b = append(b, value...)
	}
	return Problem{Code: code, Params: Params(append(b, '}')), Error: text}
}
