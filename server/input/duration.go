package input

import (
	"bytes"
	"strings"
)

// The bounds of the parts of a duration. With them no sum of parts overflows an
// interval.
const (
	maxPartDigits     = 8
	maxFractionDigits = 6
)

// appendDuration writes an ISO 8601 duration as a JSON string, its parts in the
// order and with the meaning they have for an interval of the database:
//
//	P [nY] [nM] [nW] [nD] [ T [nH] [nM] [nS] ]
//
// Each part may be negative and seconds may have a fraction. Parts that are zero
// are left out, and so are zeros that do not count.
func appendDuration(out, text []byte) ([]byte, bool) {
	if len(text) == 0 || text[0] != 'P' {
		return out, false
	}
	text = text[1:]
	out = append(out, `"P`...)
	units, isTime, isTimeWritten := "YMWD", false, false // units: those that may still come
	start := len(out)
	parts := 0
	for len(text) > 0 {
		if text[0] == 'T' && !isTime && len(text) > 1 {
			text, units, isTime = text[1:], "HMS", true
			continue
		}
		part, rest, ok := parseDurationPart(text)
		if !ok {
			return out, false
		}
		text = rest
		at := strings.IndexByte(units, part.unit)
		if at < 0 {
			return out, false
		}
		units = units[at+1:]
		parts++
		if part.isZero() {
			continue
		}
		if isTime && !isTimeWritten {
			out = append(out, 'T')
			isTimeWritten = true
		}
		out = part.appendTo(out)
	}
	if parts == 0 {
		return out, false
	}
	if len(out) == start {
		out = append(out, "T0S"...)
	}
	return append(out, '"'), true
}

// durationPart is a number and its unit.
type durationPart struct {
	negative bool
	whole    []byte // without leading zeros
	fraction []byte // the digits after the point, without trailing zeros
	unit     byte
}

// parseDurationPart reads
//
//	[ "-" ] digits [ "." digits ] unit
func parseDurationPart(text []byte) (part durationPart, rest []byte, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		part.negative = true
		text = text[1:]
	}
	digits := countDigits(text)
	if digits == 0 || digits > maxPartDigits {
		return part, nil, false
	}
	part.whole = bytes.TrimLeft(text[:digits], "0")
	text = text[digits:]
	isFraction := len(text) > 0 && text[0] == '.'
	if isFraction {
		digits = countDigits(text[1:])
		if digits == 0 || digits > maxFractionDigits {
			return part, nil, false
		}
		part.fraction = bytes.TrimRight(text[1:1+digits], "0")
		text = text[1+digits:]
	}
	if len(text) == 0 || isFraction && text[0] != 'S' {
		return part, nil, false
	}
	part.unit = text[0]
	return part, text[1:], true
}

func (p durationPart) isZero() bool {
	return len(p.whole) == 0 && len(p.fraction) == 0
}

func (p durationPart) appendTo(out []byte) []byte {
	if p.negative {
		out = append(out, '-')
	}
	if len(p.whole) == 0 {
		out = append(out, '0')
	}
	out = append(out, p.whole...)
	if len(p.fraction) > 0 {
		out = append(out, '.')
		out = append(out, p.fraction...)
	}
	return append(out, p.unit)
}

func countDigits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}
