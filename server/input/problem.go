package input

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/sternpost/sternpost/server/problem"
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
	Problems []problem.Problem
}

// OfRows returns an error of an input of rows with the row that each problem is about in brackets.
func OfRows(err error) error {
	var invalid *Invalid
	if errors.As(err, &invalid) {
		for i, p := range invalid.Problems {
			if below, ok := strings.CutPrefix(p.Field, "rows."); ok {
				place, rest, _ := strings.Cut(below, ".")
				invalid.Problems[i].Field = RowPath(place, rest)
			}
		}
	}
	return err
}

// RowPath is the path of an input of a row; that of the row itself if the input's is empty.
func RowPath(place, path string) string {
	if path != "" {
		path = "." + path
	}
	return "rows[" + place + "]" + path
}

// Error is the message for the caller, without the problems.
func (*Invalid) Error() string {
	return "one or more errors found validating request object"
}

const (
	notDataURL     = "is not a data URL with a type, a name and base64 data"
	notFileName    = "is not a file name: " // and why
	notContentType = "is not a content type"
)

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
