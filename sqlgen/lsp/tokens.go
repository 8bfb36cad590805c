package lsp

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// tokenTypes are the kinds of semantic tokens, in the order of the numbers by which the
// answers name them.
var tokenTypes = []string{"keyword", "class", "struct", "enum", "enumMember", "type", "property", "method", "variable",
	"parameter", "decorator", "namespace", "string", "number", "operator", "comment"}

// tokenModifiers are the further properties of a token; the n-th is bit n.
var tokenModifiers = []string{"declaration", "defaultLibrary"}

const (
	isDeclaration = 1 << iota
	isBuiltIn
)

// semanticToken is a stretch of a line with a type.
type semanticToken struct {
	start, end int
	typ        string
	modifiers  int
}

func (v *view) semanticTokens(p documentParams) (*semanticTokens, error) {
	return v.encoded(v.tokens(0, len(v.file.Source.Text))), nil
}

func (v *view) semanticTokensRange(p rangeParams) (*semanticTokens, error) {
	return v.encoded(v.tokens(v.lines.offset(p.Range.Start), v.lines.offset(p.Range.End))), nil
}

// tokens returns the tokens in a stretch of the file, in order. It leaves out brackets and
// tokens that name nothing.
func (v *view) tokens(start, end int) []semanticToken {
	var list []semanticToken
	add := func(from, to int, typ string, modifiers int) {
		if from < end && to > start {
			list = append(list, semanticToken{from, to, typ, modifiers})
		}
	}
	cursors := cursorsOf(v.file)
	for i := range v.file.Tokens {
		t := &v.file.Tokens[i]
		for _, c := range t.Leading {
			if c.Kind != syntax.LineEnd {
				v.eachLine(c.Span.Start.Offset, c.Span.End.Offset, func(from, to int) { add(from, to, "comment", 0) })
			}
		}
		from, to := t.Span.Start.Offset, t.Span.End.Offset
		switch t.Kind {
		case syntax.TokenString:
			add(from, to, "string", 0)
		case syntax.TokenNumber:
			add(from, to, "number", 0)
		case syntax.TokenPunctuation:
			if !strings.Contains("(){}[],.:@?", t.Text) {
				add(from, to, "operator", 0)
			}
		case syntax.TokenName:
			s := cursors[0]
			cursors = cursors[1:]
			if to > start && from < end {
				if typ, modifiers := v.typeOf(s); typ != "" {
					add(from, to, typ, modifiers)
				}
			}
		}
	}
	return list
}

// typeOf returns the type of a name, "" if it has no meaning.
func (v *view) typeOf(s *cursor) (typ string, modifiers int) {
	y := v.index.resolve(s)
	switch {
	case y == nil && s.word == "in":
		return "keyword", 0
	case y == nil:
		return "", 0
	case y.class == classValue && y.spelling.of == nil:
		return "keyword", isBuiltIn // true, false, null
	case y.class == classValue && s.isLabel && s.slot == slotNew:
		return "parameter", isDeclaration
	}
	if y.span.File == v.file.Source && y.span.Start.Offset == s.start {
		modifiers |= isDeclaration
	}
	if y.span.File == nil && y.class != classKeyword {
		modifiers |= isBuiltIn
	}
	return classes[y.class].token, modifiers
}

// eachLine passes on the part of a stretch that is on each line.
func (v *view) eachLine(start, end int, f func(start, end int)) {
	for start < end {
		line := v.lines.end(v.lines.position(start).Line)
		if to := min(line, end); to > start {
			f(start, to)
		}
		next := v.lines.position(start).Line + 1
		if next >= len(v.lines.starts) {
			return
		}
		start = v.lines.starts[next]
	}
}

// encoded writes tokens in the form of the protocol: five numbers each, the place relative
// to the token before.
func (v *view) encoded(list []semanticToken) *semanticTokens {
	numbers := make(map[string]int, len(tokenTypes))
	for i, name := range tokenTypes {
		numbers[name] = i
	}
	data := []int{}
	last := position{}
	for _, t := range list {
		at := v.lines.position(t.start)
		length := v.lines.position(t.end).Character - at.Character
		character := at.Character
		if at.Line == last.Line {
			character -= last.Character
		}
		data = append(data, at.Line-last.Line, character, length, numbers[t.typ], t.modifiers)
		last = at
	}
	return &semanticTokens{data}
}
