package expr

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// timestampLayout is the form of a Timestamp: in UTC, to the millisecond.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// parseDate reads YYYY-MM-DD in the years 0001 to 9999.
func parseDate(text string) (string, bool) {
	if !hasShape(text, "0000-00-00") || strings.HasPrefix(text, "0000") {
		return "", false
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", false
	}
	return text, true
}

// parseTimestamp reads YYYY-MM-DDThh:mm:ss with at most three fraction digits and
// an offset, which is Z or ±hh:mm.
func parseTimestamp(text string) (string, bool) {
	const clock = "0000-00-00T00:00:00"
	if len(text) < len(clock) || !hasShape(text[:len(clock)], clock) || strings.HasPrefix(text, "0000") {
		return "", false
	}
	rest := text[len(clock):]
	if strings.HasPrefix(rest, ".") {
		digits := 1
		for digits < len(rest) && isDigit(rest[digits]) {
			digits++
		}
		if digits < 2 || digits > 4 {
			return "", false
		}
		rest = rest[digits:]
	}
	if rest != "Z" && !hasShape(rest, "+00:00") && !hasShape(rest, "-00:00") {
		return "", false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return "", false
	}
	return t.UTC().Format(timestampLayout), true
}

// hasShape tells whether text has a digit for each 0 of shape, and the same character
// everywhere else.
func hasShape(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(text) {
		if shape[i] == '0' && !isDigit(text[i]) || shape[i] != '0' && text[i] != shape[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// duration is an ISO 8601 duration as Postgres holds it: a month has no fixed
// number of days, a day no fixed number of hours.
type duration struct {
	months, days, micros int64
}

// parseDuration reads P[nY][nM][nW][nD][T[nH][nM][nS]] and returns it with
// months carried into years, weeks into days, and minutes and seconds into hours.
func parseDuration(text string) (string, bool) {
	d, ok := readDuration(text)
	if !ok {
		return "", false
	}
	return d.String(), true
}

// readDuration reads a duration. Each n has up to eight digits and may be negative. The
// last may have up to six decimals; decimals of years must give whole months, and months
// have none. At least one part is needed.
func readDuration(text string) (duration, bool) {
	var d duration
	rest, ok := strings.CutPrefix(text, "P")
	if !ok {
		return d, false
	}
	units := "YMWD"
	inTime, parts := false, 0
	for rest != "" {
		if rest[0] == 'T' && !inTime {
			units, inTime, parts, rest = "HMS", true, 0, rest[1:]
			continue
		}
		n, millionths, isFraction, unit, after, ok := durationPart(rest)
		at := strings.IndexByte(units, unit)
		if !ok || at < 0 || isFraction && after != "" {
			return d, false
		}
		units, rest = units[at+1:], after
		parts++
		switch {
		case unit == 'Y':
			d.months += 12*n + 12*millionths/1_000_000
			if 12*millionths%1_000_000 != 0 {
				return d, false
			}
		case unit == 'M' && !inTime:
			d.months += n
			if millionths != 0 {
				return d, false
			}
		case unit == 'W':
			d.days += 7*n + 7*millionths/1_000_000
			d.micros += 7 * millionths % 1_000_000 * 86_400
		case unit == 'D':
			d.days += n
			d.micros += millionths * 86_400
		case unit == 'H':
			d.micros += n*3_600_000_000 + millionths*3_600
		case unit == 'M':
			d.micros += n*60_000_000 + millionths*60
		case unit == 'S':
			d.micros += n*1_000_000 + millionths
		}
	}
	return d, parts > 0
}

// durationPart reads one number with its unit. The fraction comes in millionths
// and bears the sign of the number.
func durationPart(text string) (n, millionths int64, isFraction bool, unit byte, rest string, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	whole, rest := leadingDigits(rest)
	fraction := ""
	if isFraction = strings.HasPrefix(rest, "."); isFraction {
		fraction, rest = leadingDigits(rest[1:])
		if fraction == "" || len(fraction) > 6 {
			return 0, 0, false, 0, "", false
		}
	}
	if whole == "" || len(whole) > 8 || rest == "" {
		return 0, 0, false, 0, "", false
	}
	n, _ = strconv.ParseInt(whole, 10, 64)
	millionths, _ = strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if negative {
		n, millionths = -n, -millionths
	}
	return n, millionths, isFraction, rest[0], rest[1:], true
}

func leadingDigits(text string) (digits, rest string) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

// String returns the duration in ISO 8601, as Postgres writes it in that style.
func (d duration) String() string {
	var b strings.Builder
	part := func(n int64, unit string) {
		if n != 0 {
			b.WriteString(strconv.FormatInt(n, 10) + unit)
		}
	}
	b.WriteString("P")
	part(d.months/12, "Y")
	part(d.months%12, "M")
	part(d.days, "D")
	if d.micros != 0 {
		b.WriteString("T")
		part(d.micros/3_600_000_000, "H")
		part(d.micros/60_000_000%60, "M")
		if seconds := d.micros % 60_000_000; seconds != 0 {
			text := new(big.Rat).SetFrac64(seconds, 1_000_000).FloatString(6)
			b.WriteString(strings.TrimRight(strings.TrimRight(text, "0"), ".") + "S")
		}
	}
	if d == (duration{}) {
		return "PT0S"
	}
	return b.String()
}

// length returns the duration in microseconds for comparing, with a month of 30
// days and a day of 24 hours.
func (d duration) length() *big.Rat {
	days := new(big.Int).Mul(big.NewInt(30), big.NewInt(d.months))
	days.Add(days, big.NewInt(d.days))
	micros := days.Mul(days, big.NewInt(86_400_000_000))
	return new(big.Rat).SetInt(micros.Add(micros, big.NewInt(d.micros)))
}

// The bounds of numbers: a Number is an integer that every JSON reader holds
// exactly; a Decimal has at most 38 digits, 18 of them after the point.
const (
	MaxNumber        = "9007199254740991" // 2^53 − 1
	maxDecimalDigits = 38
	maxDecimalScale  = 18
)

// maxSpelling bounds the spelling of a numeric literal and its exponent. Without it,
// a number could have any number of meaningless zeros.
const maxSpelling = 1000

// isNumber tells whether an integer literal is within the range of Number.
func isNumber(text string) bool {
	n, ok := new(big.Int).SetString(text, 10)
	most, _ := new(big.Int).SetString(MaxNumber, 10)
	return ok && n.CmpAbs(most) <= 0
}

// isDecimal tells whether a numeric literal is within the range of Decimal.
func isDecimal(text string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift, err := 0, error(nil)
	if exponent != "" {
		shift, err = strconv.Atoi(exponent)
	}
	if err != nil || max(shift, -shift, len(text)) > maxSpelling {
		return false
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return true
	}
	trailing := len(digits) - len(strings.TrimRight(digits, "0"))
	scale := len(fraction) - shift - trailing // digits after the point, negative for zeros before it
	before := len(digits) - trailing - scale  // digits before the point
	return scale <= maxDecimalScale && max(before, 0)+max(scale, 0) <= maxDecimalDigits
}
