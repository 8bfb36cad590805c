package input

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxProblems limits the reported problems of one input.
const maxProblems = 100

// maxEcho limits the characters of input that a problem repeats.
const maxEcho = 64

// Malformed is the error of an input that cannot be read at all.
type Malformed struct {
	Reason string
}

// The reasons why an input cannot be read.
const (
	notJSON             = "not valid JSON"
	notUTF8             = "not valid UTF-8"
	nulCharacter        = "NUL character"
	duplicateName       = "duplicate name"
	nestedTooDeeply     = "nested too deeply"
	numberOutOfRange    = "number out of range"
	repeatedParameter   = "repeated parameter"
	brokenPercentEncode = "broken percent-encoding"
)

// Error is the message for the caller.
func (m *Malformed) Error() string {
	return "the input could not be read: " + m.Reason
}

// Invalid is the error of an input that was read and does not fit its schema. It has one
// to a hundred problems, in the order of their declarations in the schema; problems of
// unknown properties come last.
type Invalid struct {
	Problems []Problem
}

// Problem is one fault of an input.
type Problem struct {
	Field string `json:"field"` // the dotted path of the offending input
	Error string `json:"error"`
}

// Error is the message for the caller, without the problems.
func (*Invalid) Error() string {
	return "one or more errors found validating request object"
}

func isRequired(name string) string {
	return name + " is required"
}

func wrongType(expected, given string) string {
	return "Invalid type. Expected: " + expected + ", given: " + given
}

func notInEnum(name string, members string) string {
	return name + " must be one of the following: " + members
}

func wrongFormat(format string) string {
	return "Does not match format '" + format + "'"
}

func tooLow(bound string) string {
	return "Must be greater than or equal to " + bound
}

func tooHigh(bound string) string {
	return "Must be less than or equal to " + bound
}

func tooShort(bound, unit string) string {
	return "String length must be at least " + bound + unit
}

// TooLong returns the problem of a text with more characters than a limit.
func TooLong(limit int64) string { return tooLong(strconv.FormatInt(limit, 10), "") }

func tooLong(bound, unit string) string {
	return "String length must be at most " + bound + unit
}

func tooFew(bound, unit string) string {
	return "Must have at least " + bound + " " + unit
}

// TooManyItems returns the problem of an array with more elements than a limit.
func TooManyItems(limit int64) string { return tooMany(strconv.FormatInt(limit, 10), "items") }

func tooMany(bound, unit string) string {
	return "Must have at most " + bound + " " + unit
}

func unknownProperty(name string) string {
	return "Additional property " + name + " is not allowed"
}

func cannotBeUsedWith(other string) string {
	return "cannot be used with " + other
}

func needs(other string) string {
	return "needs " + other
}

const (
	notDataURL     = "is not a data URL with a type, a name and base64 data"
	notFileName    = "is not a file name: " // and why
	notContentType = "is not a content type"
)

// enumText lists the members of an enum for its problem.
func enumText(members []string, withNull bool) string {
	var b strings.Builder
	for i, member := range members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('"')
		b.WriteString(member)
		b.WriteByte('"')
	}
	if withNull {
		b.WriteString(", null")
	}
	return b.String()
}

// echo returns a name from the input, shortened for a problem.
func echo(name []byte) string {
	rest := name
	for range maxEcho {
		if len(rest) == 0 {
			return string(name)
		}
		_, size := utf8.DecodeRune(rest)
		rest = rest[size:]
	}
	return string(name[:len(name)-len(rest)])
}

// IsMalformed tells whether an error is that of an input which cannot be read at all.
func IsMalformed(err error) bool {
	if err == nil {
		return false
	}
	var malformed *Malformed
	return errors.As(err, &malformed)
}
