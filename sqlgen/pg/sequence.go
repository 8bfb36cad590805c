package pg

import (
	"fmt"
	"unicode/utf8"
)

// FourDigits writes a number with at least four digits, and up to nineteen: a sequence's greatest number has as many.
const FourDigits = "FM9999999999999990000"

// Sequence is a sequence of a column, whose values are a prefix and the next number. With Per it is not a sequence of
// Postgres: a trigger counts in rows of platform.counter, which each transaction locks.
type Sequence struct {
	Name   string `json:"name"`          // in the schema of the table; of the rows of platform.counter
	Per    string `json:"per,omitempty"` // the column whose values each have numbers of their own; empty means that all rows share them
	Prefix string `json:"prefix,omitempty"`
	First  int64  `json:"first"` // the number that it begins with
}

// Number is the part of a text that would be the number, if the text were a value of the sequence.
func (s *Sequence) Number(text string) string {
	if s.Prefix == "" {
		return text
	}
	return fmt.Sprintf("substr(%s, %d)", text, utf8.RuneCountInString(s.Prefix)+1)
}

// Gives is the condition under which a text is a value that the sequence gives at some time. It never gives a longer
// number than its greatest.
func (s *Sequence) Gives(text string) string {
	digits := s.Number(text) + " ~ '^([0-9]{4}|[1-9][0-9]{4,17})$'"
	if s.Prefix == "" {
		return digits
	}
	return fmt.Sprintf("starts_with(%s, %s) and %s", text, Quote(s.Prefix), digits)
}
