package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner cuts a file into tokens. What is wrong inside a token is kept in its
// faults, so that the parser can pass over it in what it skips; only a broken
// encoding is reported at once, because it concerns the whole file.
type scanner struct {
	src     *Source
	text    string
	pos     Pos
	errs    *Errors
	garbled bool // whether BadEncoding has been reported
}

// scan returns the tokens of a file, ending with TokenEOF, and whether
// the encoding of the file is sound.
func scan(src *Source, errs *Errors) (tokens []Token, sound bool) {
	s := &scanner{src: src, text: string(src.Text), pos: Pos{Line: 1, Column: 1}, errs: errs}
	if strings.HasPrefix(s.text, "\uFEFF") {
		s.pos.Offset = len("\uFEFF") // a byte order mark takes no column
	}
	tokens = make([]Token, 0, len(s.text)/4+1) // few files have shorter ones
	for {
		t := s.token()
		tokens = append(tokens, t)
		if t.Kind == TokenEOF {
			return tokens, !s.garbled
		}
	}
}

// token scans one token with the text before it.
func (s *scanner) token() Token {
	leading, open := s.trivia()
	t := Token{Leading: leading}
	if open != nil {
		t.faults = append(t.faults, *open)
	}
	start := s.pos
	r := s.peek()
	switch {
	case s.atEnd():
		t.Kind = TokenEOF
	case isNameStart(r):
		t.Kind = TokenName
		s.skipWhile(isNamePart)
	case isDigit(r), r == '.' && isDigit(s.peekAt(1)):
		t.Kind = TokenNumber
		s.number(&t)
	case r == '"':
		t.Kind = TokenString
		s.string(&t)
	case r == '\'' || r == '`':
		t.Kind = TokenString
		s.foreignString(&t, r)
	default:
		if p := punctuationAt(s.text[s.pos.Offset:]); p != "" {
			t.Kind = TokenPunctuation
			for range len(p) {
				s.advance()
			}
			break
		}
		t.Kind = TokenInvalid
		s.invalid(&t)
	}
	t.Text = s.text[start.Offset:s.pos.Offset]
	t.Span = s.span(start)
	return t
}

// punctuationAt returns the punctuation that text begins with, "" if there is none.
func punctuationAt(text string) string {
	if len(text) >= 2 {
		switch text[:2] {
		case "==", "!=", "<=", ">=", "&&", "||":
			return text[:2]
		}
	}
	if strings.IndexByte("{}()[],:.?@=<>!+-*/%", text[0]) >= 0 {
		return text[:1]
	}
	return ""
}

// trivia scans comments and line ends. The fault is that of a block comment
// without end; nil means that there is none.
func (s *scanner) trivia() (list []Trivia, open *fault) {
	for !s.atEnd() {
		start := s.pos
		switch r := s.peek(); {
		case s.atLineEnd():
			s.advance()
			list = append(list, Trivia{Kind: LineEnd, Span: s.span(start)})
		case unicode.IsSpace(r):
			s.advance()
		case strings.HasPrefix(s.text[s.pos.Offset:], "//"):
			list = append(list, s.lineComment())
		case strings.HasPrefix(s.text[s.pos.Offset:], "/*"):
			closed := s.blockComment()
			list = append(list, Trivia{
				Kind: BlockComment,
				Text: s.text[start.Offset:s.pos.Offset],
				Span: s.span(start),
			})
			if !closed {
				opening := Span{File: s.src, Start: start, End: start.after("/*")}
				open = &fault{opening, Syntax, commentNotClosed()}
			}
		default:
			return list, open
		}
	}
	return list, open
}

// lineComment scans a comment up to the end of its line. White space before the
// line end is not part of it.
func (s *scanner) lineComment() Trivia {
	start, end := s.pos, s.pos
	for !s.atEnd() && !s.atLineEnd() {
		visible := !unicode.IsSpace(s.peek())
		s.advance()
		if visible {
			end = s.pos
		}
	}
	return Trivia{
		Kind: LineComment,
		Text: s.text[start.Offset:end.Offset],
		Span: Span{File: s.src, Start: start, End: end},
	}
}

// blockComment scans a comment up to its end, and reports whether it has one.
func (s *scanner) blockComment() bool {
	s.advance()
	s.advance()
	for !s.atEnd() {
		if strings.HasPrefix(s.text[s.pos.Offset:], "*/") {
			s.advance()
			s.advance()
			return true
		}
		s.advance()
	}
	return false
}

// number scans a number, and text stuck to it.
func (s *scanner) number(t *Token) {
	start := s.pos
	s.skipWhile(isDigit)
	whole := s.text[start.Offset:s.pos.Offset]
	malformed := whole == ""
	if s.peek() == '.' && !isNameStart(s.peekAt(1)) {
		s.advance()
		malformed = malformed || !isDigit(s.peek())
		s.skipWhile(isDigit)
	}
	if r := s.peek(); r == 'e' || r == 'E' {
		s.advance()
		if r := s.peek(); r == '+' || r == '-' {
			s.advance()
		}
		malformed = malformed || !isDigit(s.peek())
		s.skipWhile(isDigit)
	}
	if isNamePart(s.peek()) {
		malformed = true
		s.skipWhile(isNamePart)
	}
	text := s.text[start.Offset:s.pos.Offset]
	switch {
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		t.faults = append(t.faults, fault{s.span(start), Syntax, numberIsHexadecimal(text)})
	case malformed:
		t.faults = append(t.faults, fault{s.span(start), Syntax, malformedNumber(text)})
	case len(whole) > 1 && whole[0] == '0':
		t.faults = append(t.faults, fault{s.span(start), Syntax, numberHasLeadingZero(text)})
	}
}

// string scans a text literal in double quotes.
func (s *scanner) string(t *Token) {
	start := s.pos
	var value strings.Builder
	s.advance()
	for {
		switch r := s.peek(); {
		case s.atEnd() || r == '\n' || r == '\r':
			t.faults = append(t.faults, fault{s.span(start), Syntax, textNotClosed()})
			t.isOpen = true
			return
		case r == '"':
			s.advance()
			t.value = value.String()
			return
		case r == '\\':
			s.escape(t, &value)
		default:
			value.WriteRune(r)
			s.advance()
		}
	}
}

// escape scans one escape of a text literal.
func (s *scanner) escape(t *Token, value *strings.Builder) {
	start := s.pos
	s.advance()
	r := s.peek()
	if s.atEnd() || r == '\n' || r == '\r' {
		return // the literal is not closed, which is reported
	}
	if i := strings.IndexRune(`"'\abfnrtv`, r); i >= 0 {
		value.WriteByte("\"'\\\a\b\f\n\r\t\v"[i])
		s.advance()
		return
	}
	s.advance()
	length := 0
	switch r {
	case 'u':
		length = 4
	case 'U':
		length = 8
	}
	code, digits := rune(0), 0
	for digits < length && digitValue(s.peek()) >= 0 {
		if code <= unicode.MaxRune {
			code = code<<4 | rune(digitValue(s.peek()))
		}
		digits++
		s.advance()
	}
	written := s.text[start.Offset:s.pos.Offset]
	switch {
	case length == 0 || digits < length:
		t.faults = append(t.faults, fault{s.span(start), BadEscape, unknownEscape(written)})
	case code == 0 || !utf8.ValidRune(code):
		t.faults = append(t.faults, fault{s.span(start), BadEscape, escapeIsNoCharacter(written)})
	default:
		value.WriteRune(code)
	}
}

// foreignString scans a string of other languages, so that one error covers it. Without
// a closing quote on its line it is the quote alone.
func (s *scanner) foreignString(t *Token, quote rune) {
	start := s.pos
	s.advance()
	closing := strings.IndexAny(s.text[s.pos.Offset:], string(quote)+"\r\n")
	if end := s.pos.Offset + closing; closing >= 0 && s.text[end] == byte(quote) {
		for s.pos.Offset <= end {
			s.advance()
		}
	}
	t.faults = append(t.faults, fault{s.span(start), Syntax, textInOtherQuotes(quote)})
}

// invalid scans a run of characters that begin nothing. It has a fault only if
// there is more to say than that the encoding is broken.
func (s *scanner) invalid(t *Token) {
	start := s.pos
	sound := false
	for !s.atEnd() && s.beginsNothing() {
		r, size := utf8.DecodeRuneInString(s.text[s.pos.Offset:])
		sound = sound || r != 0 && (r != utf8.RuneError || size > 1)
		s.advance()
	}
	if sound {
		t.faults = append(t.faults, fault{s.span(start), Syntax, strangeCharacters(s.text[start.Offset:s.pos.Offset])})
	}
}

// beginsNothing reports whether no token, comment or white space begins here.
func (s *scanner) beginsNothing() bool {
	r := s.peek()
	return !unicode.IsSpace(r) && !isNameStart(r) && !isDigit(r) && r != '"' && r != '\'' && r != '`' &&
		punctuationAt(s.text[s.pos.Offset:]) == ""
}

func (s *scanner) atEnd() bool { return s.pos.Offset >= len(s.text) }

// atLineEnd reports whether the next character ends the line. Before a line
// feed, a carriage return is white space; alone it ends the line itself.
func (s *scanner) atLineEnd() bool {
	r := s.peek()
	return r == '\n' || r == '\r' && s.peekAt(1) != '\n'
}

// peek returns the next character. At the end of the file it is U+0000, as for
// the character itself, which no file may hold.
func (s *scanner) peek() rune {
	if s.atEnd() {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos.Offset:])
	return r
}

// peekAt returns the character n bytes ahead.
func (s *scanner) peekAt(n int) rune {
	if s.pos.Offset+n >= len(s.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos.Offset+n:])
	return r
}

// advance passes over one character.
func (s *scanner) advance() {
	r, size := utf8.DecodeRuneInString(s.text[s.pos.Offset:])
	start, endsLine := s.pos, s.atLineEnd()
	s.pos.Offset += size
	if endsLine {
		s.pos.Line++
		s.pos.Column = 1
	} else {
		s.pos.Column++
	}
	if s.garbled {
		return
	}
	switch {
	case r == 0:
		s.garbled = true
		s.errs.Add(BadEncoding, s.span(start), fileHoldsNull())
	case r == utf8.RuneError && size == 1:
		s.garbled = true
		s.errs.Add(BadEncoding, s.span(start), fileIsNotUTF8())
	}
}

func (s *scanner) skipWhile(is func(rune) bool) {
	for !s.atEnd() && is(s.peek()) {
		s.advance()
	}
}

func (s *scanner) span(start Pos) Span {
	return Span{File: s.src, Start: start, End: s.pos}
}

// after returns the place behind text, which is at p and has no line ends
// and only ASCII characters.
func (p Pos) after(text string) Pos {
	return Pos{Offset: p.Offset + len(text), Line: p.Line, Column: p.Column + len(text)}
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool { return isNameStart(r) || unicode.IsDigit(r) }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// digitValue returns the value of a hexadecimal digit, -1 if r is none.
func digitValue(r rune) int {
	switch {
	case '0' <= r && r <= '9':
		return int(r - '0')
	case 'a' <= r && r <= 'f':
		return int(r-'a') + 10
	case 'A' <= r && r <= 'F':
		return int(r-'A') + 10
	}
	return -1
}
