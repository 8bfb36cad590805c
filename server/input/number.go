package input

import "bytes"

// number is a JSON number, exactly: 0.DIGITS times ten to the power of point.
// Neither the first nor the last digit is a zero; zero has no digits.
type number struct {
	negative bool
	digits   []byte
	point    int
}

// parseNumber reads a JSON number of valid syntax, whose exponent is small. The
// digits are appended to scratch.
func parseNumber(literal, scratch []byte) number {
	var n number
	if literal[0] == '-' {
		n.negative = true
		literal = literal[1:]
	}
	digits, fraction := scratch, false
	for i, c := range literal {
		switch {
		case c == '.':
			fraction = true
		case c == 'e' || c == 'E':
			n.point += exponentOf(literal[i+1:])
			return n.trimmed(digits)
		default:
			if c == '0' && len(digits) == len(scratch) {
				// A leading zero is not a digit of the number, but shifts those after the point.
				if fraction {
					n.point--
				}
				continue
			}
			digits = append(digits, c)
			if !fraction {
				n.point++
			}
		}
	}
	return n.trimmed(digits)
}

func (n number) trimmed(digits []byte) number {
	n.digits = bytes.TrimRight(digits, "0")
	if len(n.digits) == 0 {
		return number{}
	}
	return n
}

// exponentOf reads the digits after the e of a number, with an optional sign. For larger
// values it returns maxExponent + 1, with their sign.
func exponentOf(text []byte) int {
	sign := 1
	switch text[0] {
	case '-':
		sign = -1
		text = text[1:]
	case '+':
		text = text[1:]
	}
	n := 0
	for _, c := range text {
		n = min(n*10+int(c-'0'), maxExponent+1)
	}
	return sign * n
}

func (n number) isInteger() bool {
	return n.point >= len(n.digits)
}

// isDecimal tells whether a Decimal can hold the number: at most 38 digits, at most 18 of
// them after the point. Insignificant zeros are ignored.
func (n number) isDecimal() bool {
	fraction := max(len(n.digits)-n.point, 0)
	return fraction <= 18 && max(n.point, 0)+fraction <= 38
}

// compare returns -1, 0 or 1 as n is less than, equal to or greater than o.
func (n number) compare(o number) int {
	switch {
	case n.sign() != o.sign():
		if n.sign() < o.sign() {
			return -1
		}
		return 1
	case n.negative:
		return -n.compareSize(o)
	default:
		return n.compareSize(o)
	}
}

func (n number) sign() int {
	switch {
	case len(n.digits) == 0:
		return 0
	case n.negative:
		return -1
	default:
		return 1
	}
}

func (n number) compareSize(o number) int {
	switch {
	case n.point < o.point:
		return -1
	case n.point > o.point:
		return 1
	default:
		return bytes.Compare(n.digits, o.digits)
	}
}

// appendTo writes the number without exponent and insignificant zeros.
func (n number) appendTo(out []byte) []byte {
	if len(n.digits) == 0 {
		return append(out, '0')
	}
	if n.negative {
		out = append(out, '-')
	}
	if n.point <= 0 {
		out = append(out, "0."...)
		out = appendZeros(out, -n.point)
		return append(out, n.digits...)
	}
	if n.isInteger() {
		out = append(out, n.digits...)
		return appendZeros(out, n.point-len(n.digits))
	}
	out = append(out, n.digits[:n.point]...)
	out = append(out, '.')
	return append(out, n.digits[n.point:]...)
}

func appendZeros(out []byte, count int) []byte {
	for range count {
		out = append(out, '0')
	}
	return out
}

// bound is the least or greatest accepted number, and its text in a problem.
type bound struct {
	number number
	text   string
}

func newBound(literal string) *bound {
	n := parseNumber([]byte(literal), nil)
	return &bound{number: n, text: string(n.appendTo(nil))}
}
