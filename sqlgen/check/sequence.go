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

// checkSequence reads a @sequence. Its field is unique, even if the rest is in error: by itself, or together with the
// to-one that numbers count per.
func (c *checker) checkSequence(f *fieldDecl, a *syntax.Attribute) {
	if f.doubtful {
		return
	}
	args := slices.Clone(a.Args)
	at := slices.IndexFunc(args, func(arg *syntax.Arg) bool { return arg.Label != nil && arg.Label.Name == "per" })
	var per *model.Field
	if at >= 0 {
		per = c.sequencePer(f, a, args[at])
		args = slices.Delete(args, at, at+1)
	} else {
		f.Unique = f.Unique || f.Column != ""
	}
	if f.Type != (expr.Type{Kind: expr.Text}) || f.Optional {
		c.report(BadSequence, a.Name.Span(), sequenceNeedsText(f.Field))
		return
	}
	// @renamed does not concern the values. The check of @computed reports a computed field with a sequence.
	beside := slices.IndexFunc(f.attrs, func(other *syntax.Attribute) bool {
		return !slices.Contains([]string{"sequence", "renamed", "computed"}, other.Name.Name)
	})
	if beside >= 0 {
		c.report(BadSequence, a.Name.Span(), sequenceNotAlone(f.Field, f.attrs[beside].Name.Name))
		return
	}
	if len(args) == 0 || len(args) > 2 {
		c.badArguments(a, a.Name.Span())
		return
	}
	prefix, first := c.sequencePrefix(a, args[0]), int64(1)
	if len(args) == 2 {
		first = c.sequenceStart(a, args[1])
	}
	if prefix == nil || first < 0 || f.bears("computed") || at >= 0 && per == nil {
		return
	}
	f.Sequence = &model.Sequence{Prefix: prefix.Value, First: first, Per: per}
	if per != nil {
		f.Model.Uniques = append(f.Model.Uniques, &model.Unique{Fields: []*model.Field{per, f.Field}, Span: a.Span()})
	}
}

// sequencePer reads the to-one whose rows have numbers of their own. It returns nil if that is in error.
func (c *checker) sequencePer(f *fieldDecl, a *syntax.Attribute, arg *syntax.Arg) *model.Field {
	c.badUniques = true // until it is known
	value := c.plainArgument(a, arg, "per")
	if value == nil {
		return nil
	}
	per := c.ownField(f.Model, value)
	switch {
	case per == nil:
		return nil
	case per.FKOf != nil:
		per = per.FKOf
	}
	d := c.fields[per]
	switch {
	case d != nil && d.doubtful:
		return nil
	case !per.IsToOne() || per.FK == nil || per.Optional || d != nil && d.bears("computed"):
		c.report(BadSequence, value.Span(), sequencePer(per))
		return nil
	}
	c.badUniques = false
	return per
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
