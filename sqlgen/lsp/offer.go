package lsp

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// mostCompiled bounds what is compiled for one place, in bytes of schemas: about a third of a
// second. A candidate that was not tried is offered.
const mostCompiled = 4 << 20

// trial puts candidates in their place.
type trial struct {
	index    *index
	cursor   *cursor
	before   []*syntax.Diagnostic // the errors without any candidate
	compiled atomic.Int64         // bytes
}

// offers returns the candidates at a place that the compiler does not refuse there: it compiles
// the project with each. Hover and definition know the others too.
func (x *index) offers(s *cursor) []*symbol {
	candidates := x.candidates(s)
	if len(s.rest) > 0 {
		candidates = slices.DeleteFunc(candidates, func(y *symbol) bool { return y.next == nil })
	}
	if s.slot == slotNothing || s.slot == slotNew || s.slot == slotDeclaration || s.slot == slotBlock {
		return candidates
	}
	q := &trial{index: x, cursor: s}
	q.before = q.errors(string(s.file.Source.Text))
	fits := make([]bool, len(candidates))
	var tried sync.WaitGroup
	for i, y := range candidates {
		tried.Go(func() { fits[i] = q.fits(y) })
	}
	tried.Wait()
	var offered []*symbol
	for i, y := range candidates {
		if fits[i] {
			offered = append(offered, y)
		}
	}
	return offered
}

// fits tells whether the compiler takes a candidate: as it is, or with something behind its dot.
func (q *trial) fits(y *symbol) bool {
	code := q.refusal(y, y.name)
	if code == "" || y.next == nil || !slices.Contains(curable, code) {
		return code == ""
	}
	return slices.ContainsFunc(y.next(), func(next *symbol) bool {
		code := q.refusal(y, y.name+"."+next.name)
		return code == "" || next.next != nil && code != check.InputIsRelation && slices.Contains(curable, code)
	})
}

// refusal returns the code with which the compiler refuses a path in the place of the word, or
// refuses what is around it because of the path; "" if it does not.
func (q *trial) refusal(y *symbol, path string) syntax.Code {
	insert := path
	if y.insert != "" {
		insert = y.insert
	}
	s, text := q.cursor, string(q.cursor.file.Source.Text)
	behind := s.end
	for _, name := range s.rest {
		behind += strings.Index(text[behind:], name) + len(name)
	}
	text = text[:s.start] + insert + text[s.end:behind] + q.index.required(s, y, strings.TrimSpace(text[behind:])) + openBrackets(s) + text[behind:]
	end := s.start + len(insert)
	for _, e := range q.errors(text) {
		isHere := e.Span.Start.Offset < end && e.Span.End.Offset > s.start
		isNew := func() bool {
			return !slices.ContainsFunc(q.before, func(b *syntax.Diagnostic) bool { return b.Code == e.Code && b.Message == e.Message })
		}
		isAround := slices.Contains(exclusive, e.Code) && isNew()
		if (isHere || isAround) && !isUnfinished(s, y, e.Code) {
			return e.Code
		}
	}
	return ""
}

// errors returns the errors in the file with another text; none once much has been compiled.
// What is in the files of custom code does not matter to the schema.
func (q *trial) errors(text string) []*syntax.Diagnostic {
	name := q.cursor.file.Source.Name
	p := &sqlgen.Project{Config: q.index.project.Config}
	size := 0
	for _, f := range q.index.project.Files {
		if f.Name == name {
			f = &syntax.Source{Name: name, Text: []byte(text)}
		}
		p.Files = append(p.Files, f)
		size += len(f.Text)
	}
	if q.compiled.Add(int64(size)) > mostCompiled {
		return nil
	}
	for _, f := range q.index.project.Functions {
		p.Functions = append(p.Functions, &syntax.Source{Name: f.Name})
	}
	_, errs := sqlgen.Check(p)
	return slices.DeleteFunc(errs, func(e *syntax.Diagnostic) bool {
		return e.Warning || e.Span.File == nil || e.Span.File.Name != name
	})
}

// curable are the codes for a path that a longer one may cure.
var curable = []syntax.Code{
	expr.OperandTypes, expr.TypeMismatch, expr.ArmField, expr.ListElement, expr.BadAggregate, expr.BadFunction, expr.UnknownName, expr.UnknownEnumValue,
	check.InputIsRelation, check.BadSelect, check.BadEmbed, check.SetTarget, check.SetReadsNewRow,
}

// exclusive are the codes for two things of which one cannot be beside the other. They may be
// reported at either.
var exclusive = []syntax.Code{
	check.FunctionAttribute, check.BadSelect, check.SetConflict, check.DuplicateInput, check.BadSequence,
	check.ComputedCycle, expr.ComputedType,
}

// unfinished are the codes for parts that are still to be written behind a candidate: none
// refuses it.
var unfinished = []syntax.Code{
	syntax.Syntax,            // brackets and names that follow
	check.AttributeArguments, // those of an attribute
	check.UnusedInput,        // a condition
	expr.NotBoolean,          // an operand, whose operator follows
	expr.NestedComparison,
	expr.WriteOnlyField, // a test for null
	check.EmptyRule,     // the arguments of @permission
	check.RuleActions,
	check.UncoveredField,        // further inputs
	check.RequiredSelfReference, // a ?
	check.MessageCycle,
	check.DefaultNeedsValue, // of an enum
}

// isUnfinished tells whether an error may go once more is written behind a candidate.
func isUnfinished(s *cursor, y *symbol, code syntax.Code) bool {
	f, isFunction := expr.BuiltinNamed(y.name)
	switch code {
	case check.BadReturns: // of the kind of an action
		return s.slot == slotKind
	case expr.OperandTypes, expr.TypeMismatch, expr.ArmField: // arithmetic, or a literal, unless a path is on the other side
		return len(s.against) == 0 && s.attribute != "default" || f.PassesNulls // then the arguments decide the type
	case expr.BadAggregate, expr.BadFunction: // the arguments of one
		return isFunction
	case expr.NotOwnField: // the row, of which a field follows
		return y.next != nil && len(s.path) <= 1
	case expr.UnknownName: // a header
		return y.name == "headers"
	}
	return slices.Contains(unfinished, code)
}

// required returns what the grammar asks for behind a candidate, if it is not there yet.
func (x *index) required(s *cursor, y *symbol, behind string) string {
	var more string
	f, isFunction := expr.BuiltinNamed(y.name)
	switch {
	case isFunction:
		more = "(" + f.Sample() + ")"
	case y.class == classAttribute:
		a, _ := attributeNamed(y.name)
		more = a.Sample // with which the compiler tells whether the attribute is in its place
	case s.slot == slotArgument && s.attribute == "orderBy" && s.label == "":
		more = ": asc"
	case s.slot == slotArgument && s.attribute == "set" && !s.assigned:
		more = " = " + x.someValue(y)
	}
	if trimmed := strings.TrimSpace(more); more == "" || strings.HasPrefix(behind, trimmed[:1]) {
		return ""
	}
	return more
}

// someValue returns a value that a @set may assign to a field.
func (x *index) someValue(f *symbol) string {
	if f.typeName == "" || f.optional {
		return "null"
	}
	if e, isEnum := x.declaration(f.typeName).(*syntax.Enum); isEnum && len(e.Values) > 0 {
		return f.typeName + "." + e.Values[0].Name.Name
	}
	kind, _ := expr.ScalarNamed(f.typeName)
	switch kind.Class() {
	case expr.ClassNumeric:
		return "0"
	case expr.ClassBoolean:
		return "true"
	case expr.ClassTemporal:
		return "ctx.now"
	case expr.ClassDuration:
		return `"P1D"`
	}
	return `""`
}

// openBrackets returns what closes the brackets before a place that its line leaves open.
func openBrackets(s *cursor) string {
	text := s.file.Source.Text
	from := strings.LastIndexByte(string(text[:s.start]), '\n') + 1
	var open []byte
	for _, t := range s.file.Tokens {
		at := t.Span.Start.Offset
		switch {
		case at < from || t.Kind != syntax.TokenPunctuation:
		case at >= s.start && strings.IndexByte(string(text[s.start:at]), '\n') >= 0:
			slices.Reverse(open)
			return string(open)
		case t.Text == "(" && at < s.start:
			open = append(open, ')')
		case t.Text == "[" && at < s.start:
			open = append(open, ']')
		case (t.Text == ")" || t.Text == "]") && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	slices.Reverse(open)
	return string(open)
}
