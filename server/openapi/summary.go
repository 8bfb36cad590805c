package openapi

import (
	"strings"
	"unicode"
)

// Summary returns the text of an operation in lists: the first sentence of its doc
// comment, or else the words of its name.
func Summary(name, doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end]
	}
	if text = strings.TrimSuffix(text, "."); text != "" {
		return text
	}
	return words(name)
}

// words spells a name out: createRepairOrder is Create repair order.
func words(name string) string {
	letters := []rune(name)
	var b strings.Builder
	for i, r := range letters {
		isStart := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		isAlone := i+1 == len(letters) || !unicode.IsUpper(letters[i+1]) // and not in an abbreviation
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case isStart && isAlone:
			b.WriteRune(' ')
			b.WriteRune(unicode.ToLower(r))
		case isStart:
			b.WriteRune(' ')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
