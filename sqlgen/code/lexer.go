package code

import "strings"

// kind is the kind of a token. Marks of one character have their code as kind.
type kind int

const (
	word     kind = 256 + iota // a keyword, or an identifier without quotes
	quotedID                   // an identifier in quotes
	constant                   // a text, in any quotes; the prefixes b, n and x are words before it
	number                     // also a parameter, $1
	typecast                   // ::
	assigns                    // := or =>
)

// token is a word, mark or constant of a text.
type token struct {
	kind       kind
	start, end int // bytes
}

// refusal says that a text ends within quotes or a comment.
type refusal struct {
	message string
	at      int // the byte at which they begin
}

// lexer takes a text apart by the rules of Postgres (chapter 4.1, Lexical Structure;
// src/backend/parser/scan.l), with standard_conforming_strings.
type lexer struct {
	text    string
	at      int
	refused *refusal
}

// scan takes a text apart into tokens, without comments.
func scan(text string) ([]token, *refusal) {
	l := lexer{text: text}
	var tokens []token
	for l.blank(); l.at < len(text) && l.refused == nil; l.blank() {
		start := l.at
		k := l.next()
		tokens = append(tokens, token{k, start, l.at})
	}
	return tokens, l.refused
}

// peek returns a byte behind the current one; 0 beyond the end.
func (l *lexer) peek(ahead int) byte {
	if l.at+ahead >= len(l.text) {
		return 0
	}
	return l.text[l.at+ahead]
}

// blank passes white space and comments.
func (l *lexer) blank() {
	for l.at < len(l.text) {
		switch {
		case isSpace(l.peek(0)):
			l.at++
		case l.isAt("--"):
			l.lineComment()
		case l.isAt("/*"):
			l.blockComment()
		default:
			return
		}
	}
}

func (l *lexer) isAt(s string) bool { return strings.HasPrefix(l.text[l.at:], s) }

// lineComment passes a comment up to the end of its line, which a carriage return ends too.
func (l *lexer) lineComment() {
	end := strings.IndexAny(l.text[l.at:], "\n\r")
	if end < 0 {
		end = len(l.text) - l.at
	}
	l.at += end
}

// blockComment passes a comment, with those in it.
func (l *lexer) blockComment() {
	start := l.at
	for depth := 0; l.at < len(l.text); {
		switch {
		case l.isAt("/*"):
			depth++
			l.at += 2
		case l.isAt("*/"):
			depth--
			l.at += 2
		default:
			l.at++
		}
		if depth == 0 {
			return
		}
	}
	l.refused = &refusal{"unterminated /* comment", start}
}

// next passes a token.
func (l *lexer) next() kind {
	c := l.peek(0)
	switch {
	case c == '\'':
		return l.quoted('\'', 0, false)
	case c == '"':
		return l.quoted('"', 0, false)
	case strings.IndexByte("eE", c) >= 0 && l.peek(1) == '\'':
		return l.quoted('\'', 1, true)
	case strings.IndexByte("uU", c) >= 0 && l.peek(1) == '&' && (l.peek(2) == '\'' || l.peek(2) == '"'):
		return l.quoted(l.peek(2), 2, false)
	case isPartOfWord(c) && !isDigit(c):
		for isPartOfWord(l.peek(0)) || l.peek(0) == '$' {
			l.at++
		}
		return word
	case c == '$' && isDigit(l.peek(1)):
		for l.at++; isDigit(l.peek(0)); {
			l.at++
		}
		return number
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		for l.at++; isPartOfWord(l.peek(0)) || l.peek(0) == '.' && l.peek(1) != '.'; {
			l.at++
		}
		return number
	case c == '$':
		return l.dollars()
	case l.isAt("::"):
		l.at += 2
		return typecast
	case l.isAt(":="), l.isAt("=>"):
		l.at += 2
		return assigns
	}
	l.at++
	return kind(c)
}

// quoted passes a text or name whose quote comes behind a prefix. A quote in it is doubled, or
// behind a backslash if it has escapes. A text goes on in further quotes on another line.
func (l *lexer) quoted(quote byte, prefix int, hasEscapes bool) kind {
	start := l.at
	l.at += prefix + 1
	for l.at < len(l.text) {
		switch c := l.peek(0); {
		case hasEscapes && c == '\\', c == quote && l.peek(1) == quote:
			l.at += 2
		case c != quote:
			l.at++
		case quote == '"':
			l.at++
			return quotedID
		default:
			l.at++
			if !l.goesOn() {
				return constant
			}
		}
	}
	l.at = len(l.text)
	l.refused = &refusal{"unterminated quoted string", start}
	if quote == '"' {
		l.refused.message = "unterminated quoted identifier"
	}
	return constant
}

// goesOn passes white space with a line break, comments included, and the quote behind it.
func (l *lexer) goesOn() bool {
	behind := l.at
	for isSpace(l.peek(0)) || l.isAt("--") {
		if l.isAt("--") {
			l.lineComment()
		} else {
			l.at++
		}
	}
	if l.peek(0) == '\'' && strings.ContainsAny(l.text[behind:l.at], "\n\r") {
		l.at++
		return true
	}
	l.at = behind
	return false
}

// dollars passes a text in dollar quotes, or a dollar.
func (l *lexer) dollars() kind {
	start, end := l.at, l.at+1
	for end < len(l.text) && isPartOfWord(l.text[end]) {
		end++
	}
	if end == len(l.text) || l.text[end] != '$' {
		l.at++
		return '$'
	}
	tag := l.text[start : end+1]
	length := strings.Index(l.text[end+1:], tag)
	if length < 0 {
		l.at = len(l.text)
		l.refused = &refusal{"unterminated dollar-quoted string", start}
		return constant
	}
	l.at = end + 1 + length + len(tag)
	return constant
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\n\r\f\v", c) >= 0 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
