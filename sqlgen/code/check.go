package code

import (
	"bytes"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Check reports errors in files of custom code: statements that do not make functions, what
// psql would read as its own, and settings of the platform.
func Check(files []*syntax.Source, errs *syntax.Errors) {
	for _, f := range files {
		c := checker{file: f, errs: errs}
		c.check()
	}
}

// checker checks one file.
type checker struct {
	file *syntax.Source
	errs *syntax.Errors
}

func (c *checker) check() {
	if !c.isEncoded() {
		return
	}
	text := string(c.file.Text)
	tokens, refused := scan(text)
	for _, t := range tokens {
		if t.kind == '\\' {
			c.errs.Add(syntax.Syntax, c.span(t.start, t.end), noCommands())
			return
		}
	}
	if refused != nil {
		c.errs.Add(syntax.Syntax, c.span(refused.at, WordEnd(c.file.Text, refused.at)), refused.message)
		return
	}
	for _, w := range split(text, tokens) {
		if message := w.refused(); message != "" {
			c.errs.Add(check.FunctionStatement, c.span(w.tokens[0].start, w.tokens[0].end), message)
		}
	}
	c.variables(tokens)
	c.settings(whole(text), tokens)
}

// isEncoded reports bytes that are not text: the grammar would read up to them.
func (c *checker) isEncoded() bool {
	text := c.file.Text
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			c.errs.Add(syntax.BadEncoding, c.span(at, at+1), fileIsNotUTF8())
			return false
		}
		at += size
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		c.errs.Add(syntax.BadEncoding, c.span(at, at+1), fileHoldsNull())
		return false
	}
	return true
}

// variables reports words that psql would replace by its own variables when it runs the
// script that the compiler prints.
func (c *checker) variables(tokens []token) {
	for i, t := range tokens[:max(0, len(tokens)-1)] {
		next := tokens[i+1]
		isName := next.kind == word || next.kind == quotedID || next.kind == constant
		if t.kind == ':' && next.start == t.end && isName {
			c.errs.Add(syntax.Syntax, c.span(t.start, next.end), isVariable(string(c.file.Text[next.start:next.end])))
		}
	}
}

func (c *checker) span(start, end int) syntax.Span {
	return syntax.Span{File: c.file, Start: c.file.Place(start), End: c.file.Place(end)}
}

// WordEnd returns the end of the word that begins at a place of a text.
func WordEnd(text []byte, at int) int {
	end := at
	for end < len(text) && isPartOfWord(text[end]) {
		end++
	}
	return max(end, min(at+1, len(text)))
}

func isPartOfWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
