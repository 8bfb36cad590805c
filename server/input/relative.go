package input

import "bytes"

// maxRelativeCount is the greatest count of a relative period.
const maxRelativeCount = 10000

// appendRelativePeriod writes a relative period in lower case and with single
// spaces, as a JSON string:
//
//	"now" | "today" | "tomorrow" | "yesterday"
//	"this" [ "complete" ] period
//	( "next" | "last" ) [ count ] [ "complete" ] period
func appendRelativePeriod(out, text []byte) ([]byte, bool) {
	if len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ' {
		return out, false
	}
	var words [4]string
	count := 0
	for word := range bytes.SplitSeq(text, []byte{' '}) {
		if len(word) == 0 {
			continue
		}
		if count == len(words) || len(word) > len("yesterday") {
			return out, false
		}
		words[count] = asciiLower(word)
		count++
	}
	if !isRelativePeriod(words[:count]) {
		return out, false
	}
	out = append(out, '"')
	for i, word := range words[:count] {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, word...)
	}
	return append(out, '"'), true
}

func isRelativePeriod(words []string) bool {
	first, rest := words[0], words[1:]
	switch first {
	case "now", "today", "tomorrow", "yesterday":
		return len(rest) == 0
	case "this":
	case "next", "last":
		if len(rest) > 0 && isRelativeCount(rest[0]) {
			rest = rest[1:]
		}
	default:
		return false
	}
	if len(rest) > 0 && rest[0] == "complete" {
		rest = rest[1:]
	}
	return len(rest) == 1 && isPeriod(rest[0])
}

func isRelativeCount(word string) bool {
	n := 0
	for i := range len(word) {
		c := word[i]
		if c < '0' || c > '9' || n == 0 && c == '0' {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return 1 <= n && n <= maxRelativeCount
}

func isPeriod(word string) bool {
	switch word {
	case "minute", "hour", "day", "week", "month", "year",
		"minutes", "hours", "days", "weeks", "months", "years":
		return true
	default:
		return false
	}
}

// asciiLower lowers only the letters A to Z: no other letter is part of a word.
func asciiLower(word []byte) string {
	lower := make([]byte, len(word))
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return string(lower)
}
