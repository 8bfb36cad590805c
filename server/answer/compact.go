package answer

import (
	"bytes"

	"github.com/sternpost/sternpost/sql/release"
)

// maxDecimals is the number of digits after the point of a Decimal on the wire.
const maxDecimals = 18

// IsJSONB tells whether actions of a kind return jsonb unchanged, from custom code or of a history. All
// other results already have the form of the wire.
func IsJSONB(k release.Kind) bool {
	return k == release.Read || k == release.Write || k == release.ReadHistory || k == release.Start
}

// Compact returns JSON that Postgres printed from jsonb in the form of the wire: without
// spaces, and with numbers that have neither trailing zeros nor more decimals than any
// Decimal.
func Compact(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == ' ':
		case c == '"':
			end = stringEnd(text, i)
			out = append(out, text[i:end]...)
		case isNumeric(c):
			for end < len(text) && isNumeric(text[end]) {
				end++
			}
			out = appendTrimmed(out, text[i:end])
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

// stringEnd returns the end of the string that begins at start.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func isNumeric(c byte) bool { return c == '-' || c == '.' || '0' <= c && c <= '9' }

// appendTrimmed appends a number, which Postgres prints without exponent.
func appendTrimmed(out, number []byte) []byte {
	point := bytes.IndexByte(number, '.')
	if point < 0 {
		return append(out, number...)
	}
	start := len(out)
	if len(number)-point-1 <= maxDecimals {
		out = append(out, number...)
	} else {
		kept := number[:point+1+maxDecimals]
		out = append(out, kept...)
		if number[len(kept)] >= '5' {
			out = roundUp(out, start)
		}
	}
	out = bytes.TrimSuffix(bytes.TrimRight(out, "0"), []byte("."))
	if string(out[start:]) == "-0" {
		out = append(out[:start], '0')
	}
	return out
}

// roundUp adds one to the last digit of the number that begins at start, away from zero.
func roundUp(out []byte, start int) []byte {
	for i := len(out) - 1; i >= start; i-- {
		switch c := out[i]; {
		case c == '.':
		case c == '9':
			out[i] = '0'
		case c == '-':
			return append(out[:i+1], append([]byte("1"), out[i+1:]...)...)
		default:
			out[i]++
			return out
		}
	}
	return append(out[:start], append([]byte("1"), out[start:]...)...)
}
