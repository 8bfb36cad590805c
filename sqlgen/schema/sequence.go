package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxSequenceStart is the greatest number that a sequence can begin with: the greatest that a Number can be.
const maxSequenceStart = 1<<53 - 1

// Sequence is what the values of a field with @sequence are made of.
type Sequence struct {
	Prefix string
	First  int64
}

// IsGiven tells whether the database gives the field its value, and nobody else can.
func (f *Field) IsGiven() bool { return f.Computed != nil || f.Sequence != nil }

// bears tells whether the field has an attribute of that name.
func (f *fieldDecl) bears(name string) bool {
	return slices.ContainsFunc(f.attrs, func(a *syntax.Attribute) bool { return a.Name.Name == name })
}

// checkSequence reads a @sequence. Its field is unique, be the rest in error.
func (c *checker) checkSequence(f *fieldDecl, a *syntax.Attribute) {
	if f.doubtful {
		return
	}
	f.Unique = f.Unique || f.Column != ""
	if f.Type != (expr.Type{Kind: expr.Text}) || f.Optional {
		c.report(BadSequence, a.Name.Span(), sequenceNeedsText(f.Field))
		return
	}
	// @renamed says nothing of the values. Why nothing is computed beside a sequence, @computed says.
	at := slices.IndexFunc(f.attrs, func(other *syntax.Attribute) bool {
		return !slices.Contains([]string{"sequence", "renamed", "computed"}, other.Name.Name)
	})
	if at >= 0 {
		c.report(BadSequence, a.Name.Span(), sequenceNotAlone(f.Field, f.attrs[at].Name.Name))
		return
	}
	if len(a.Args) == 0 || len(a.Args) > 2 {
		c.badArguments(a, a.Name.Span())
		return
	}
	prefix, first := c.sequencePrefix(a, a.Args[0]), int64(1)
	if len(a.Args) == 2 {
		first = c.sequenceStart(a, a.Args[1])
	}
	if prefix != nil && first >= 0 && !f.bears("computed") {
		f.Sequence = &Sequence{Prefix: prefix.Value, First: first}
	}
}

// sequencePrefix reads the prefix of a sequence. It is nil, and reported, if it is in error.
func (c *checker) sequencePrefix(a *syntax.Attribute, arg *syntax.Arg) *syntax.String {
	value := c.plainArgument(a, arg)
	if value == nil {
		return nil
	}
	prefix, ok := value.(*syntax.String)
	if !ok {
		c.badArguments(a, value.Span())
		return nil
	}
	if strings.ContainsFunc(prefix.Value, unicode.IsSpace) {
		c.report(BadSequence, prefix.Span(), sequencePrefix())
		return nil
	}
	return prefix
}

// sequenceStart reads the number that a sequence begins with. It is less than 0, and reported, if it is in error.
func (c *checker) sequenceStart(a *syntax.Attribute, arg *syntax.Arg) int64 {
	value := c.plainArgument(a, arg)
	if value == nil {
		return -1
	}
	if number, ok := value.(*syntax.Number); ok && number.IsInteger {
		if n, err := strconv.ParseInt(number.Text, 10, 64); err == nil && n >= 0 && n <= maxSequenceStart {
			return n
		}
	}
	c.report(BadSequence, value.Span(), sequenceStart())
	return -1
}
