package answer

import (
	"bytes"
	"encoding/base64"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/sql/release"
)

// A cursor is base64url of a JSON array: the version, the list with its order, and the
// sort values of a row, as they go over the wire. It is not signed. So each value is read
// as strictly as it is written: a function can cast it to the type of its column, and
// words of Postgres, such as infinity or now, are refused.

// Position reads a cursor of the list in the order of a page. It returns the values as a
// JSON array, which functions take as the position before the page, and false for a text
// that is not a cursor of this list.
func (p *Plan) Position(page Page) (json []byte, isCursor bool) {
	text, ok := decodeCursor(page.Cursor)
	if !ok {
		return nil, false
	}
	order := p.pages.orderOf(page.OrderBy)
	d := jsontext.NewDecoder(bytes.NewBuffer(text)) // which it reads in place
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return nil, false
	}
	if version, err := d.ReadValue(); err != nil || string(version) != cursorVersion {
		return nil, false
	}
	if mark, err := d.ReadToken(); err != nil || mark.Kind() != '"' || mark.String() != string(p.pages.appendMark(nil, order)) {
		return nil, false
	}
	position := []byte{'['}
	for i, k := range order {
		value, err := d.ReadValue()
		if err != nil || !k.isValue(value) {
			return nil, false
		}
		if i > 0 {
			position = append(position, ',')
		}
		position = append(position, value...)
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != ']' {
		return nil, false
	}
	if len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		return nil, false
	}
	return append(position, ']'), true
}

// cursorVersion is the beginning of a cursor.
const cursorVersion = "1"

// cursorAlphabet has the characters of a cursor.
const cursorAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// decodeCursor returns the content of a cursor. The decoder of Go skips line breaks,
// which a cursor does not have.
func decodeCursor(cursor string) (text []byte, ok bool) {
	if strings.Trim(cursor, cursorAlphabet) != "" {
		return nil, false
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	return text, err == nil
}

// appendMark appends the name of a list and its order, so that another list or order
// refuses the cursor.
func (p *pages) appendMark(out []byte, order []sortKey) []byte {
	out = append(out, p.action...)
	for _, k := range order {
		if k.descending {
			out = append(out, '-')
		} else {
			out = append(out, '+')
		}
		out = append(out, k.name...)
	}
	return out
}

// isValue tells whether a value of a cursor is valid for the key.
func (k sortKey) isValue(value jsontext.Value) bool {
	if value.Kind() == 'n' {
		return k.isNullable
	}
	return isWritten[k.kind](value)
}

// isWritten tells for each type of sort field whether a value has the form of cursors.
var isWritten = map[release.MemberType]func(jsontext.Value) bool{
	release.TextMember:    func(v jsontext.Value) bool { text, ok := textOf(v); return ok && !strings.ContainsRune(text, 0) },
	release.BooleanMember: func(v jsontext.Value) bool { return v.Kind() == 't' || v.Kind() == 'f' },
	release.NumberMember: func(v jsontext.Value) bool {
		_, err := strconv.ParseInt(string(v), 10, 64)
		return err == nil
	},
	release.DecimalMember:   isDecimal,
	release.DateMember:      func(v jsontext.Value) bool { return isMoment(v, "2006-01-02") },
	release.TimestampMember: func(v jsontext.Value) bool { return isMoment(v, "2006-01-02T15:04:05.000Z") },
	release.DurationMember:  isDuration,
}

func textOf(v jsontext.Value) (text string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	unquoted, err := jsontext.AppendUnquote(nil, v)
	return string(unquoted), err == nil
}

// The digits of a numeric before and after the point.
const maxWhole, maxFraction = 131072, 16383

// isDecimal accepts numbers without exponent, as Postgres writes them.
func isDecimal(v jsontext.Value) bool {
	if v.Kind() != '0' || bytes.ContainsAny(v, "eE") {
		return false
	}
	whole, fraction, _ := bytes.Cut(v, []byte{'.'})
	return len(whole) <= maxWhole && len(fraction) <= maxFraction
}

// isMoment accepts moments from the year 1 on in exactly this layout.
func isMoment(v jsontext.Value, layout string) bool {
	text, ok := textOf(v)
	if !ok {
		return false
	}
	t, err := time.Parse(layout, text)
	return err == nil && t.Year() > 0 && t.Format(layout) == text
}

// duration is the form in which Postgres writes an interval, and intervalLimits are the
// maxima of its parts.
var duration = regexp.MustCompile(`^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.\d{1,6})?S)?)?$`)

var intervalLimits = [...]int64{178_956_969, 11, math.MaxInt32, math.MaxInt32, 59, 59}

func isDuration(v jsontext.Value) bool {
	text, ok := textOf(v)
	if !ok || text == "P" || strings.HasSuffix(text, "T") {
		return false
	}
	parts := duration.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	for i, limit := range intervalLimits {
		if parts[i+1] == "" {
			continue
		}
		if n, err := strconv.ParseInt(parts[i+1], 10, 64); err != nil || n > limit || n < -limit {
			return false
		}
	}
	return true
}
