package lsp

import (
	"sort"
	"unicode/utf8"
)

// encoding is how the protocol counts the characters of a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16" // what every client knows
	utf32Units encoding = "utf-32"
)

// chooseEncoding returns the first encoding that the client offers and this server
// supports.
func chooseEncoding(offered []encoding) encoding {
	for _, e := range offered {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			return e
		}
	}
	return utf16Units
}

// width returns the number of units of a character.
func (e encoding) width(r rune, size int) int {
	switch {
	case e == utf8Units:
		return size
	case e == utf16Units && r > 0xFFFF:
		return 2
	}
	return 1
}

// lines converts between places in a text, in bytes, and positions of the
// protocol. Its lines end with LF, CR LF or CR, unlike those of the language.
type lines struct {
	text   []byte
	starts []int
	units  encoding
}

func newLines(text []byte, units encoding) *lines {
	l := &lines{text: text, starts: []int{0}, units: units}
	for i, b := range text {
		if b == '\n' || b == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// end returns the end of a line's text, without its line end.
func (l *lines) end(line int) int {
	if line+1 == len(l.starts) {
		return len(l.text)
	}
	end := l.starts[line+1]
	for end > l.starts[line] && (l.text[end-1] == '\n' || l.text[end-1] == '\r') {
		end--
	}
	return end
}

// offset returns the place of a position. A position behind the end of its line or of
// the text counts as that end, one within a character as its beginning.
func (l *lines) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(l.starts) {
		return len(l.text)
	}
	at, end, units := l.starts[p.Line], l.end(p.Line), 0
	for at < end {
		r, size := utf8.DecodeRune(l.text[at:])
		if units += l.units.width(r, size); units > p.Character {
			break
		}
		at += size
	}
	return at
}

// position returns the position of a place.
func (l *lines) position(offset int) position {
	offset = min(offset, len(l.text))
	line := sort.SearchInts(l.starts, offset+1) - 1
	units := 0
	for at := l.starts[line]; at < offset; {
		r, size := utf8.DecodeRune(l.text[at:])
		units += l.units.width(r, size)
		at += size
	}
	return position{line, units}
}

func (l *lines) textRange(start, end int) textRange {
	return textRange{l.position(start), l.position(end)}
}
