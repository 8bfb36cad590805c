package pattern

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The patterns of formats, in the form of Read.
const (
	// Email is the form of an address that HTML's input takes, with any number of labels.
	Email = "^(?:[A-Za-z0-9!#$%&'*+/=?\\^_`{|}~\\-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?\\^_`{|}~\\-]+)*@" + label + `(?:\.` + label + `)*)$`
	label = `[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*`

	// URL is the form of an absolute URI of RFC 3986 whose scheme is http or https, with a host.
	URL = `^(?:[Hh][Tt][Tt][Pp][Ss]?://(?:(?:` + unreserved + `:]|` + escaped + `)*@)?(?:\[[0-9A-Fa-f:.]+\]|(?:` + unreserved + `]|` + escaped +
		`)+)(?::[0-9]*)?(?:/(?:` + unreserved + `:@]|` + escaped + `)*)*(?:\?` + rest + `)?(?:#` + rest + `)?)$`
	unreserved = `[A-Za-z0-9._~!$&'()*+,;=\-`
	escaped    = `%[0-9A-Fa-f][0-9A-Fa-f]`
	rest       = `(?:` + unreserved + `:@/?]|` + escaped + `)*`

	// Blank is a text of white space only, that of Unicode.
	Blank = "^[" + space + "]*$"
	// NotBlank finds a character that is not white space.
	NotBlank = "[^" + space + "]"
	space    = "\\t\\n\\v\\f\\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
)

// maxRepeat is the greatest count of {m,n}, that of Postgres.
const maxRepeat = 255

// Read reads a pattern of a schema, and returns it as a regular expression for Go, Postgres and JSON Schema that matches
// whole texts: with classes written out, and anchors. The problem, if any, says what is wrong; else it is "".
func Read(source string) (written, problem string) {
	if problem = misses(source); problem != "" {
		return "", problem
	}
	parsed, err := syntax.Parse(source, syntax.ClassNL|syntax.OneLine|syntax.PerlX)
	if err != nil {
		return "", "it is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	var w writer
	w.WriteString("^(?:")
	w.alternatives(parsed)
	w.WriteString(")$")
	if w.problem != "" {
		return "", w.problem
	}
	if _, err := Compile(w.String()); err != nil {
		return "", err.Error()
	}
	return w.String(), ""
}

// misses says what a pattern has that the grammar does not; "" if it has nothing else. The parser of Go reads more.
func misses(source string) string {
	isClass, begins := false, true // whether an element may begin here, so that no quantifier can
	for i := 0; i < len(source); i++ {
		c, next := source[i], byte(0)
		if i+1 < len(source) {
			next = source[i+1]
		}
		began := begins
		begins = false
		switch {
		case c == '\\':
			if strings.IndexByte(`dws\.[]{}()*+?|^$/-ntrfv`, next) < 0 || next == 0 {
				return `\` + string(rune(next)) + ` is not one of \d \w \s \n \t \r \f \v, and not a sign that has a meaning`
			}
			i++
		case isClass:
			if c == '[' {
				return `a [ in a class is written \[`
			}
			isClass = c != ']'
		case c == '[':
			isClass = true
			if next == '^' {
				i++
			}
			if i+1 < len(source) && source[i+1] == ']' {
				return "a class is empty"
			}
		case c == '^' || c == '$':
			return "a pattern is of the whole text, so it has no " + string(c) + `; as a character it is \` + string(c)
		case c == '(':
			if next == '?' {
				if !strings.HasPrefix(source[i:], "(?:") {
					return "groups are (…) or (?:…): there is no look-around, and there are no flags and names"
				}
				i += 2
			}
			begins = true
		case c == '|':
			begins = true
		case c == '*' || c == '+' || c == '?' || c == '{':
			length := 1
			if c == '{' {
				var problem string
				if length, problem = repeat(source[i:]); problem != "" {
					return problem
				}
			}
			i += length - 1
			if began {
				return "there is nothing before " + source[i-length+1:i+1]
			}
			if i+1 < len(source) && strings.IndexByte("*+?{", source[i+1]) >= 0 {
				return source[i-length+1:i+2] + " has two quantifiers: write a group"
			}
		case c == '}' || c == ']':
			return "a " + string(c) + ` by itself is written \` + string(c)
		}
	}
	return ""
}

// repeat returns the length of the quantifier {m}, {m,} or {m,n} that begins a text.
func repeat(text string) (length int, problem string) {
	inner, _, found := strings.Cut(text[1:], "}")
	least, most, hasMost := strings.Cut(inner, ",")
	m, err := strconv.Atoi(least)
	n := m
	if err == nil && hasMost && most != "" {
		n, err = strconv.Atoi(most)
	}
	switch {
	case !found || err != nil || m < 0 || n < m || least[0] == '+' || most != "" && most[0] == '+':
		return 0, `a { begins a quantifier {m}, {m,} or {m,n}; as a character it is \{`
	case m > maxRepeat || n > maxRepeat:
		return 0, "a quantifier counts to " + strconv.Itoa(maxRepeat) + " at most"
	}
	return len(inner) + 2, ""
}

// writer writes a parsed pattern.
type writer struct {
	strings.Builder
	problem string
}

// alternatives writes what may be between bars.
func (w *writer) alternatives(r *syntax.Regexp) {
	if r.Op != syntax.OpAlternate {
		w.sequence(r)
		return
	}
	for i, sub := range r.Sub {
		if i > 0 {
			w.WriteByte('|')
		}
		w.sequence(sub)
	}
}

// sequence writes what may be beside others.
func (w *writer) sequence(r *syntax.Regexp) {
	switch r.Op {
	case syntax.OpConcat:
		for _, sub := range r.Sub {
			w.element(sub)
		}
	case syntax.OpEmptyMatch:
	default:
		w.element(r)
	}
}

// element writes what may have no quantifier behind it, or has one itself.
func (w *writer) element(r *syntax.Regexp) {
	quantifier := ""
	switch r.Op {
	case syntax.OpStar:
		quantifier = "*"
	case syntax.OpPlus:
		quantifier = "+"
	case syntax.OpQuest:
		quantifier = "?"
	case syntax.OpRepeat:
		quantifier = "{" + strconv.Itoa(r.Min)
		if r.Max != r.Min {
			quantifier += ","
			if r.Max >= 0 {
				quantifier += strconv.Itoa(r.Max)
			}
		}
		quantifier += "}"
	case syntax.OpLiteral:
		for _, c := range r.Rune {
			if r.Flags&syntax.FoldCase != 0 { // the parser reads [Aa] so
				both := []rune{c, unicode.SimpleFold(c)}
				slices.Sort(both)
				w.class([]rune{both[0], both[0], both[1], both[1]})
				continue
			}
			w.character(c, `\.[]{}()*+?|^$`)
		}
		return
	default:
		w.atom(r)
		return
	}
	w.atom(r.Sub[0])
	w.WriteString(quantifier)
}

// atom writes what may have a quantifier behind it.
func (w *writer) atom(r *syntax.Regexp) {
	switch {
	case r.Op == syntax.OpCapture:
		w.atom(r.Sub[0])
	case r.Op == syntax.OpLiteral && len(r.Rune) == 1:
		w.element(r)
	case r.Op == syntax.OpCharClass:
		w.class(r.Rune)
	case r.Op == syntax.OpAnyCharNotNL:
		w.WriteString(`[^\n]`)
	case r.Op == syntax.OpAnyChar:
		w.WriteString(`[^\x00]`)
		w.problem = "a class has all characters: write (.|\\n)"
	case r.Op == syntax.OpNoMatch:
		w.problem = "a class has no characters"
	default:
		w.WriteString("(?:")
		w.alternatives(r)
		w.WriteByte(')')
	}
}

// class writes a class by the ranges that are in it, or if it reaches to the last character by those that are not.
func (w *writer) class(ranges []rune) {
	w.WriteByte('[')
	if ranges[len(ranges)-1] == unicode.MaxRune {
		w.WriteByte('^')
		var others []rune
		next := rune(1) // a text has no U+0000
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] > next {
				others = append(others, next, ranges[i]-1)
			}
			next = ranges[i+1] + 1
		}
		ranges = others
		if ranges == nil {
			w.problem = "a class has all characters: write (.|\\n)"
		}
	}
	for i := 0; i < len(ranges); i += 2 {
		w.character(max(ranges[i], 1), `\[]^-`)
		if ranges[i+1] > ranges[i] {
			if ranges[i+1] > ranges[i]+1 {
				w.WriteByte('-')
			}
			w.character(ranges[i+1], `\[]^-`)
		}
	}
	w.WriteByte(']')
}

// character writes a character, with a backslash before those that have a meaning.
func (w *writer) character(c rune, special string) {
	if at := strings.IndexRune("\n\t\r\f\v", c); at >= 0 {
		w.WriteString(`\` + "ntrfv"[at:at+1])
		return
	}
	if c < 0x80 && strings.IndexByte(special, byte(c)) >= 0 {
		w.WriteByte('\\')
	}
	w.WriteRune(c)
}
