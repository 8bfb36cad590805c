package code

import "strings"

// quoted is a text that is in a file, perhaps in quotes.
type quoted struct {
	text   string
	places []int // of each byte, and of the end; nil means that both begin at the same byte
}

// whole is the text of a file itself.
func whole(text string) quoted { return quoted{text: text} }

// place returns the place in the file of a byte of the text.
func (q quoted) place(at int) int {
	if q.places == nil {
		return at
	}
	return q.places[at]
}

// within returns a text that is in quotes within this one.
func (q quoted) within(t token) quoted {
	inner := unquote(q.text, t)
	for i, at := range inner.places {
		inner.places[i] = q.place(at)
	}
	return inner
}

// unquote removes the quotes of a constant. It does not decode escapes: it keeps the
// character behind the backslash.
func unquote(text string, t token) quoted {
	start, end := t.start, t.end
	doubles, escapes := false, false
	switch {
	case text[start] == '$':
		tag := strings.IndexByte(text[start+1:], '$') + 2
		start, end = start+tag, end-tag
	default:
		escapes = text[start] == 'e' || text[start] == 'E'
		doubles = true
		start += strings.IndexByte(text[start:], '\'') + 1
		end--
	}
	var q quoted
	var b strings.Builder
	for at := start; at < end; at++ {
		switch {
		case doubles && text[at] == '\'' && text[at+1] != '\'': // it goes on in further quotes, on another line
			at += strings.IndexByte(text[at+1:], '\'') + 1
			continue
		case doubles && text[at] == '\'', escapes && text[at] == '\\':
			at++
		}
		b.WriteByte(text[at])
		q.places = append(q.places, at)
	}
	q.text, q.places = b.String(), append(q.places, end)
	return q
}
