package input

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// The bounds of the parts of a duration. They keep every sum of parts within an interval.
const (
	maxPartDigits     = 8
	maxFractionDigits = 6
)

// appendDuration writes an ISO 8601 duration as a JSON string. Order and meaning of its
// parts are those of an interval of the database:
//
//	P [nY] [nM] [nW] [nD] [ T [nH] [nM] [nS] ]
//
// Each part may be negative and the last may have a fraction, which is written in the
// next smaller units. A fraction of years must give whole months, and months have none.
// Zero parts and insignificant zeros are left out.
func appendDuration(out, text []byte) ([]byte, bool) {
	if len(text) == 0 || text[0] != 'P' {
		return out, false
	}
	text = text[1:]
	out = append(out, `"P`...)
	units, isTime, isTimeWritten := "YMWD", false, false // units: those that may still follow
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
		if text = rest; part.isFraction && len(text) > 0 {
			return out, false
		}
		at := strings.IndexByte(units, part.unit)
		if at < 0 {
			return out, false
		}
		units = units[at+1:]
		parts++
		carried, ok := part.carry(isTime)
		if !ok {
			return out, false
		}
		for _, p := range append([]durationPart{part}, carried...) {
			if p.isZero() {
				continue
			}
			if (isTime || p.unit == 'S') && !isTimeWritten {
				out = append(out, 'T')
				isTimeWritten = true
			}
			out = p.appendTo(out)
		}
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

	isFraction bool // whether there is a point
}

// carry removes the fraction of a part and returns it in smaller units. It is false if no
// units make it whole.
func (p *durationPart) carry(isTime bool) (smaller []durationPart, ok bool) {
	if len(p.fraction) == 0 || p.unit == 'S' {
		return nil, true
	}
	millionths, err := strconv.ParseInt((string(p.fraction) + "000000")[:maxFractionDigits], 10, 64)
	if err != nil {
		panic("input: the fraction of a duration is not a number: " + err.Error())
	}
	p.fraction = nil
	add := func(n int64, unit byte) {
		smaller = append(smaller, durationPart{negative: p.negative, whole: digits(n / 1_000_000), fraction: decimals(n % 1_000_000), unit: unit})
	}
	switch {
	case p.unit == 'Y':
		add(12*millionths, 'M')
		return smaller, len(smaller[0].fraction) == 0
	case p.unit == 'M' && !isTime:
		return nil, false
	case p.unit == 'W':
		days := 7 * millionths
		add(days-days%1_000_000, 'D')
		add(days%1_000_000*86_400, 'S')
	case p.unit == 'D':
		add(millionths*86_400, 'S')
	case p.unit == 'H':
		add(millionths*3_600, 'S')
	case p.unit == 'M':
		add(millionths*60, 'S')
	}
	return smaller, true
}

// digits writes a number, and nothing for zero.
func digits(n int64) []byte {
	if n == 0 {
		return nil
	}
	return strconv.AppendInt(nil, n, 10)
}

// decimals writes millionths as digits after the point, without trailing zeros.
func decimals(millionths int64) []byte {
	return bytes.TrimRight(fmt.Appendf(nil, "%06d", millionths), "0")
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
	part.isFraction = len(text) > 0 && text[0] == '.'
	if part.isFraction {
		digits = countDigits(text[1:])
		if digits == 0 || digits > maxFractionDigits {
			return part, nil, false
		}
		part.fraction = bytes.TrimRight(text[1:1+digits], "0")
		text = text[1+digits:]
	}
	if len(text) == 0 {
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
