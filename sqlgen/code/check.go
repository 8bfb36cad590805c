package code

import (
	"bytes"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Check reports errors in files of custom code: text that Postgres' grammar refuses,
// statements that do not make functions, and settings of the platform.
func Check(files []*syntax.Source, errs *syntax.Errors) {
	for _, f := range files {
		if isKnown(f.Text) {
			continue
		}
		found := len(*errs)
		c := checker{file: f, errs: errs}
		if c.check(); len(*errs) == found {
			remember(f.Text)
		}
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
	trees, refused := parse(text)
	if refused != nil {
		c.refuse(refused, text)
		return
	}
	tokens, refused := scan(text)
	if refused != nil { // never after parse
		c.refuse(refused, text)
		return
	}
	for _, s := range statementsOf(text, trees, tokens) {
		if message := s.refused(); message != "" {
			c.errs.Add(schema.FunctionStatement, c.span(s.tokens[0].start, s.tokens[0].end), message)
			continue
		}
		c.body(s, text)
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

// refuse reports the grammar's error about the file.
func (c *checker) refuse(r *refusal, text string) {
	at := r.offset(text)
	end := WordEnd([]byte(text), at)
	if at < len(text) && text[at] == '\\' {
		c.errs.Add(syntax.Syntax, c.span(at, end), r.message, syntax.Note{Message: noCommands()})
		return
	}
	c.errs.Add(syntax.Syntax, c.span(at, end), r.message)
}

// variables reports words that psql would replace by its own variables when it runs the
// script that the compiler prints.
func (c *checker) variables(tokens []token) {
	for i, t := range tokens[:max(0, len(tokens)-1)] {
		next := tokens[i+1]
		isName := next.kind == identifier || next.kind == constant || next.kind > blockComment
		if t.kind == ':' && next.start == t.end && isName {
			c.errs.Add(syntax.Syntax, c.span(t.start, next.end), isVariable(string(c.file.Text[next.start:next.end])))
		}
	}
}

// body checks the syntax of a body in SQL. The database checks other languages.
func (c *checker) body(s statement, text string) {
	if s.make == nil || s.make.language() != "sql" {
		return
	}
	t, ok := s.body(text)
	if !ok || text[t.start] == 'e' || text[t.start] == 'E' {
		return // of escapes the database knows more
	}
	body := unquote(text, t)
	if _, refused := parse(body.text); refused != nil {
		start := body.place(refused.offset(body.text))
		c.errs.Add(syntax.Syntax, c.span(start, WordEnd(c.file.Text, start)), refused.message)
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
