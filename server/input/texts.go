package input

import (
	"slices"
	"strconv"
	"strings"
)

// Text names a value to take from an input: the value at a dotted path of objects, or
// whether the input has it.
type Text struct {
	Path  string
	Given bool
}

// Texts takes values from inputs, each as its text in SQL.
type Texts struct {
	count   int
	members []member
	given   []int // places of those about presence
}

// member is a member of an object with texts at or below it.
type member struct {
	name         string
	value, given int // indexes of the texts; -1 means none
	below        []member
}

// NewTexts prepares to take these.
func NewTexts(texts []Text) *Texts {
	t := &Texts{count: len(texts)}
	for place, text := range texts {
		at := &t.members
		var m *member
		for name := range strings.SplitSeq(text.Path, ".") {
			i := indexOf(*at, name)
			if i < 0 {
				i = len(*at)
				*at = append(*at, member{name: name, value: -1, given: -1})
			}
			m = &(*at)[i]
			at = &m.below
		}
		if text.Given {
			m.given, t.given = place, append(t.given, place)
		} else {
			m.value = place
		}
	}
	return t
}

func indexOf[Name string | []byte](members []member, name Name) int {
	return slices.IndexFunc(members, func(m member) bool { return m.name == string(name) })
}

// Of returns the texts from an input that Read has written. A value that is null or absent
// is nil; values below a null object are null, and given. A path leads into an array by the
// place of an element: position.0.
func (t *Texts) Of(written []byte) [][]byte {
	texts := make([][]byte, t.count, t.count+1)
	for _, place := range t.given {
		texts[place] = isAbsent
	}
	if t.count > 0 {
		s := scanner{data: written}
		s.peek()
		s.takeTexts(t.members, texts)
	}
	return texts
}

// The texts about presence.
var isGiven, isAbsent = []byte("t"), []byte("f")

// takeTexts takes texts from the object that begins here, and stops behind it. It returns
// false if there is not one.
func (s *scanner) takeTexts(members []member, texts [][]byte) bool {
	s.at++ // the brace
	for s.peek() == '"' {
		name, _, ok := s.text()
		if !ok {
			return false
		}
		m := member{value: -1, given: -1}
		if i := indexOf(members, name); i >= 0 {
			m = members[i]
		}
		s.peek()
		s.at++ // the colon
		if !s.takeText(m, texts) {
			return false
		}
	}
	s.at++ // the other brace
	return true
}

// takeElements takes texts from the array that begins here, as takeTexts does from an object: the members are named by
// the places of the elements.
func (s *scanner) takeElements(members []member, texts [][]byte) bool {
	s.at++ // the bracket
	for place := 0; s.peek() != ']'; place++ {
		m := member{value: -1, given: -1}
		if i := indexOf(members, strconv.Itoa(place)); i >= 0 {
			m = members[i]
		}
		if s.at >= len(s.data) || !s.takeText(m, texts) {
			return false
		}
	}
	s.at++ // the other bracket
	return true
}

// takeText takes the texts of a member from the value that begins here, and stops behind the comma that follows.
func (s *scanner) takeText(m member, texts [][]byte) (ok bool) {
	var value []byte
	kind, start := s.peek(), s.at
	switch kind {
	case '{':
		if !s.takeTexts(m.below, texts) {
			return false
		}
	case '[':
		if !s.takeElements(m.below, texts) {
			return false
		}
	case '"':
		if value, _, ok = s.text(); !ok {
			return false
		}
		value = slices.Clone(value) // the scanner reuses it
	case 'n':
		s.at += len("null")
		m.giveBelow(texts)
	default:
		for s.at < len(s.data) && s.data[s.at] != ',' && s.data[s.at] != '}' && s.data[s.at] != ']' {
			s.at++
		}
		value = s.data[start:s.at]
	}
	if m.value >= 0 {
		texts[m.value] = value
	}
	if m.given >= 0 {
		texts[m.given] = isGiven
	}
	if s.peek() == ',' {
		s.at++
	}
	return true
}

// giveBelow notes that all below a null is given.
func (m member) giveBelow(texts [][]byte) {
	for _, below := range m.below {
		if below.given >= 0 {
			texts[below.given] = isGiven
		}
		below.giveBelow(texts)
	}
}
