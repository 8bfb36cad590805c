package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxSequenceStart is the greatest first number of a sequence: the greatest Number.
const maxSequenceStart = 1<<53 - 1

// bears tells whether the field has an attribute of that name.
func (f *fieldDecl) bears(name string) bool {
	return slices.ContainsFunc(f.attrs, func(a *syntax.Attribute) bool { return a.Name.Name == name })
}

// checkSequence reads a @sequence. Its field is unique, even if the rest is in error.
func (c *checker) checkSequence(f *fieldDecl, a *syntax.Attribute) {
	if f.doubtful {
		return
	}
	f.Unique = f.Unique || f.Column != ""
	if f.Type != (expr.Type{Kind: expr.Text}) || f.Optional {
		c.report(BadSequence, a.Name.Span(), sequenceNeedsText(f.Field))
		return
	}
	// @renamed does not concern the values. The check of @computed reports a computed field with a sequence.
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
		f.Sequence = &model.Sequence{Prefix: prefix.Value, First: first}
	}
}

// sequencePrefix reads the prefix of a sequence. It reports an error and returns nil.
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

// sequenceStart reads the number that a sequence begins with. It reports an error and returns less than 0.
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
