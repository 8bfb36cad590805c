package input

import "time"

// moment is an RFC 3339 date-time as written.
type moment struct {
	year, month, day     int
	hour, minute, second int // the second may be 60
	millisecond          int // further digits are cut off
	offset               int // minutes east of UTC
}

// appendDate writes the date of a date or of a date-time as a JSON string. It is the date
// as written; time and offset of a date-time are ignored.
func appendDate(out, text []byte) ([]byte, bool) {
	m, ok := parseDate(text)
	if ok && len(text) > len("2006-01-02") {
		m, ok = parseMoment(text)
	}
	if !ok || m.year == 0 {
		return out, false
	}
	out = append(out, '"')
	out = append(out, text[:len("2006-01-02")]...)
	return append(out, '"'), true
}

// appendTimestamp writes a date-time in UTC with three digits of a second as a
// JSON string. A leap second becomes the first second of the next day.
func appendTimestamp(out, text []byte) ([]byte, bool) {
	m, ok := parseMoment(text)
	if !ok || m.year == 0 {
		return out, false
	}
	t := m.utc()
	if t.Year() < 1 || t.Year() > 9999 {
		return out, false
	}
	return t.AppendFormat(out, `"2006-01-02T15:04:05.000Z"`), true
}

// utc returns the instant. It carries beyond the end of a minute or day.
func (m moment) utc() time.Time {
	return time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute-m.offset, m.second,
		m.millisecond*int(time.Millisecond), time.UTC)
}

// parseMoment reads
//
//	YYYY-MM-DD "T" hh:mm:ss [ "." digits ] ( "Z" | ( "+" | "-" ) hh:mm )
//
// with T and Z in either case, as RFC 3339 allows.
func parseMoment(text []byte) (moment, bool) {
	m, ok := parseDate(text)
	if !ok || len(text) < len("2006-01-02T15:04:05Z") || text[10]|0x20 != 't' || text[13] != ':' || text[16] != ':' {
		return m, false
	}
	okay := [3]bool{}
	m.hour, okay[0] = twoDigits(text[11:], 23)
	m.minute, okay[1] = twoDigits(text[14:], 59)
	m.second, okay[2] = twoDigits(text[17:], 60)
	if okay != [3]bool{true, true, true} {
		return m, false
	}
	text = text[19:]
	if text[0] == '.' {
		text, ok = m.setFraction(text[1:])
		if !ok {
			return m, false
		}
	}
	if !m.setOffset(text) {
		return m, false
	}
	return m, m.second < 60 || m.isLeapSecond()
}

// parseDate reads YYYY-MM-DD at the start of a text.
func parseDate(text []byte) (m moment, ok bool) {
	if len(text) < len("2006-01-02") || text[4] != '-' || text[7] != '-' {
		return m, false
	}
	century, ok1 := twoDigits(text, 99)
	year, ok2 := twoDigits(text[2:], 99)
	month, ok3 := twoDigits(text[5:], 12)
	day, ok4 := twoDigits(text[8:], 31)
	if !ok1 || !ok2 || !ok3 || !ok4 || month == 0 || day == 0 {
		return m, false
	}
	m = moment{year: century*100 + year, month: month, day: day}
	return m, day <= 28 || day == m.utc().Day()
}

// setFraction reads the digits after the point and returns the rest.
func (m *moment) setFraction(text []byte) (rest []byte, ok bool) {
	digits := 0
	for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	unit := 100
	for _, c := range text[:min(digits, 3)] {
		m.millisecond += int(c-'0') * unit
		unit /= 10
	}
	return text[digits:], digits > 0
}

func (m *moment) setOffset(text []byte) bool {
	if len(text) == 1 {
		return text[0]|0x20 == 'z'
	}
	if len(text) != len("+00:00") || text[3] != ':' {
		return false
	}
	hours, ok1 := twoDigits(text[1:], 23)
	minutes, ok2 := twoDigits(text[4:], 59)
	m.offset = hours*60 + minutes
	if text[0] == '-' {
		m.offset = -m.offset
	}
	return ok1 && ok2 && (text[0] == '+' || text[0] == '-')
}

// isLeapSecond tells whether RFC 3339 allows second 60 here: at the end of a month, in
// UTC.
func (m moment) isLeapSecond() bool {
	next := m.utc()
	return next.Day() == 1 && next.Hour() == 0 && next.Minute() == 0
}

// twoDigits reads a number of two digits, up to highest.
func twoDigits(text []byte, highest int) (int, bool) {
	tens, ones := text[0]-'0', text[1]-'0'
	n := int(tens)*10 + int(ones)
	return n, tens <= 9 && ones <= 9 && n <= highest
}
