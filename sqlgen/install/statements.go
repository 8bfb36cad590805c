package install

import (
	"bytes"
	"strings"
)

// statements returns where the statements of an SQL text begin, as far as one can
// tell without Postgres: a semicolon ends one, unless it stands in a text, a quoted
// name, a comment, brackets, or a body that begins with begin atomic.
func statements(text []byte) []int {
	var starts []int
	inside := false // a statement
	depth := 0      // of brackets, and of what has an end
	atomic := false
	previous := ""
	for at := 0; at < len(text); {
		end := tokenEnd(text, at)
		token := text[at:end]
		if isBlank(token) {
			at = end
			continue
		}
		if !inside && string(token) != ";" {
			starts = append(starts, at)
			inside, depth, atomic = true, 0, false
		}
		word := strings.ToLower(string(token))
		switch {
		case word == "(" || word == "[":
			depth++
		case word == ")" || word == "]":
			depth--
		case word == "atomic" && previous == "begin":
			atomic = true
			depth++
		case atomic && word == "case":
			depth++
		case atomic && word == "end":
			depth--
		case word == ";" && depth <= 0:
			inside = false
		}
		previous = word
		at = end
	}
	return starts
}

// isBlank tells whether a token is white space or a comment.
func isBlank(token []byte) bool {
	return len(bytes.TrimSpace(token)) == 0 || bytes.HasPrefix(token, []byte("--")) || bytes.HasPrefix(token, []byte("/*"))
}

// tokenEnd returns where the token ends that begins at a place.
func tokenEnd(text []byte, at int) int {
	rest := text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		return at + through(rest, 2, "\n")
	case bytes.HasPrefix(rest, []byte("/*")):
		return at + commentEnd(rest)
	case rest[0] == '\'':
		return at + through(rest, 1, "'") // '' is two texts, which comes to the same
	case rest[0] == '"':
		return at + through(rest, 1, `"`)
	case (rest[0] == 'e' || rest[0] == 'E') && len(rest) > 1 && rest[1] == '\'':
		return at + escapedEnd(rest)
	case rest[0] == '$':
		tag := dollarTag(rest)
		if tag == "" {
			return at + 1
		}
		return at + through(rest, len(tag), tag)
	case isWord(rest[0]):
		return wordEnd(text, at)
	}
	return at + 1
}

// through returns the length of a token up to and with its closing mark, which is
// looked for behind the first bytes.
func through(token []byte, from int, closing string) int {
	i := bytes.Index(token[from:], []byte(closing))
	if i < 0 {
		return len(token)
	}
	return from + i + len(closing)
}

// commentEnd returns the length of a comment, which may hold others.
func commentEnd(token []byte) int {
	depth := 0
	for i := 0; i < len(token); i++ {
		switch {
		case bytes.HasPrefix(token[i:], []byte("/*")):
			depth++
			i++
		case bytes.HasPrefix(token[i:], []byte("*/")):
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(token)
}

// escapedEnd returns the length of a text in which a backslash escapes.
func escapedEnd(token []byte) int {
	for i := 2; i < len(token); i++ {
		switch token[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(token)
}

// dollarTag returns the opening mark of a dollar-quoted text, or "".
func dollarTag(token []byte) string {
	for i := 1; i < len(token); i++ {
		switch c := token[i]; {
		case c == '$':
			return string(token[:i+1])
		case !isWord(c), i == 1 && c >= '0' && c <= '9':
			return ""
		}
	}
	return ""
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
