package input

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The limits for every input, independent of its schema.
const (
	maxDepth    = 32  // levels of arrays and objects
	maxNumber   = 100 // characters of a number
	maxExponent = 100 // of a number, either way
)

var byteOrderMark = []byte("\xEF\xBB\xBF")

// scanner reads JSON strictly. Its methods return false on failure, and set reason.
type scanner struct {
	data    []byte
	at      int
	reason  string // the reason of the first failure
	scratch []byte // holds the content of a string with escapes
}

func (s *scanner) fail(reason string) bool {
	s.reason = reason
	return false
}

// unexpected fails at the current byte, which JSON does not allow there.
func (s *scanner) unexpected() bool {
	if s.at < len(s.data) && s.data[s.at] >= utf8.RuneSelf {
		if r, size := utf8.DecodeRune(s.data[s.at:]); r == utf8.RuneError && size == 1 {
			return s.fail(notUTF8)
		}
	}
	return s.fail(notJSON)
}

// peek skips white space and returns the byte after it, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// plain has the bytes that are literal in a string and need no check.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// text reads a string from its opening quote on and returns its content, which is valid
// until the next call. Verbatim content had the same bytes between the quotes.
func (s *scanner) text() (content []byte, verbatim, ok bool) {
	start := s.at + 1
	for i := start; ; {
		if i >= len(s.data) {
			return nil, false, s.fail(notJSON)
		}
		switch c := s.data[i]; {
		case plain[c]:
			i++
		case c == '"':
			s.at = i + 1
			return s.data[start:i], true, true
		case c == '\\':
			s.scratch = append(s.scratch[:0], s.data[start:i]...)
			s.at = i
			return s.escapedText()
		default:
			size := s.character(i)
			if size == 0 {
				return nil, false, false
			}
			i += size
		}
	}
}

// escapedText reads the rest of a string with escapes; scratch has the part before the
// first one.
func (s *scanner) escapedText() (content []byte, verbatim, ok bool) {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case plain[c]:
			s.scratch = append(s.scratch, c)
			s.at++
		case c == '"':
			s.at++
			return s.scratch, false, true
		case c == '\\':
			if !s.escape() {
				return nil, false, false
			}
		default:
			size := s.character(s.at)
			if size == 0 {
				return nil, false, false
			}
			s.scratch = append(s.scratch, s.data[s.at:s.at+size]...)
			s.at += size
		}
	}
	return nil, false, s.fail(notJSON)
}

// character returns the length of the character beyond ASCII at position i of a string,
// or 0 if it is invalid.
func (s *scanner) character(i int) int {
	switch c := s.data[i]; {
	case c == 0:
		s.fail(nulCharacter)
		return 0
	case c < ' ':
		s.fail(notJSON)
		return 0
	}
	r, size := utf8.DecodeRune(s.data[i:])
	if r == utf8.RuneError && size == 1 {
		s.fail(notUTF8)
		return 0
	}
	return size
}

// escape reads one escape of a string into scratch.
func (s *scanner) escape() bool {
	if s.at+1 >= len(s.data) {
		return s.fail(notJSON)
	}
	c := s.data[s.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicodeEscape()
	default:
		return s.fail(notJSON)
	}
	s.scratch = append(s.scratch, c)
	s.at += 2
	return true
}

func (s *scanner) unicodeEscape() bool {
	r, ok := hexEscape(s.data[s.at:])
	if !ok {
		return s.fail(notJSON)
	}
	s.at += 6
	switch {
	case r == 0:
		return s.fail(nulCharacter)
	case utf16.IsSurrogate(r):
		second, ok := hexEscape(s.data[s.at:])
		if !ok {
			return s.fail(notUTF8)
		}
		r = utf16.DecodeRune(r, second)
		if r == utf8.RuneError {
			return s.fail(notUTF8)
		}
		s.at += 6
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
	return true
}

// hexEscape reads \uXXXX.
func hexEscape(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	default:
		return 0, false
	}
}

// numeral reads a number and returns it as it is written.
func (s *scanner) numeral() (literal []byte, ok bool) {
	start := s.at
	if s.data[s.at] == '-' {
		s.at++
	}
	if s.at < len(s.data) && s.data[s.at] == '0' {
		s.at++
	} else if !s.digits() {
		return nil, false
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		if !s.digits() {
			return nil, false
		}
	}
	exponent := 0
	if s.at < len(s.data) && s.data[s.at]|0x20 == 'e' {
		s.at++
		from := s.at
		if s.at < len(s.data) && (s.data[s.at] == '+' || s.data[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			return nil, false
		}
		exponent = exponentOf(s.data[from:s.at])
	}
	literal = s.data[start:s.at]
	if len(literal) > maxNumber || exponent > maxExponent || exponent < -maxExponent {
		return nil, s.fail(numberOutOfRange)
	}
	return literal, true
}

// digits skips one digit or more.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9' {
		s.at++
	}
	if s.at == start {
		return s.unexpected()
	}
	return true
}

// word reads true, false or null.
func (s *scanner) word(word string) bool {
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		for s.at < len(s.data) && word != "" && s.data[s.at] == word[0] {
			s.at++
			word = word[1:]
		}
		return s.unexpected()
	}
	s.at += len(word)
	return true
}

const hexDigits = "0123456789abcdef"

// AppendText writes a string as JSON, with the escapes that Postgres uses. Its content is valid UTF-8.
func AppendText(out, content []byte) []byte {
	out = append(out, '"')
	for {
		plain := plainLength(content)
		out = append(out, content[:plain]...)
		if plain == len(content) {
			return append(out, '"')
		}
		out = appendEscaped(out, content[plain])
		content = content[plain+1:]
	}
}

// plainLength returns the length of the beginning that needs no escape. It looks at eight bytes at a time: a byte less
// than n, up to 128, borrows from its highest bit if n is subtracted. The lowest such byte is not due to another borrow.
func plainLength(content []byte) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(content)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(content[i:])
		quote, backslash := x^each*'"', x^each*'\\'
		found := ((x-each*' ')&^x | (quote-each)&^quote | (backslash-each)&^backslash) & highest
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(content); i++ {
		if c := content[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

func appendEscaped(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\b':
		return append(out, '\\', 'b')
	case '\f':
		return append(out, '\\', 'f')
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
