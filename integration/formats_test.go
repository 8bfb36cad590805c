package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// newSchemaCompiler returns a general JSON Schema validator (2020-12), as a client would
// use one, which asserts our formats. Their code here is independent of the server's.
func newSchemaCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	text := func(name string, isValid func(string) bool) {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok && !isValid(s) {
				return fmt.Errorf("%q is no %s", s, name)
			}
			return nil
		}})
	}
	text("date", isDateOrMoment)
	text("date-time", isDateTime)
	text("duration", isDuration)
	text("relative-period", isRelativePeriod)
	text("data-url", isDataURL)
	text("file", func(s string) bool { return len(s) < 5 || !strings.EqualFold(s[:5], "data:") || isDataURL(s) })
	text("markdown", func(string) bool { return true })
	text("password", func(s string) bool { return 1 <= len(s) && len(s) <= 1024 }) // in bytes
	c.RegisterFormat(&jsonschema.Format{Name: "decimal", Validate: func(v any) error {
		if n, ok := v.(json.Number); ok && !isDecimal(n.String()) {
			return fmt.Errorf("%s has too many digits", n)
		}
		return nil
	}})
	return c
}

func isDate(s string) bool {
	_, err := time.Parse("2006-01-02", s)
	return err == nil && !strings.HasPrefix(s, "0000")
}

var momentForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseMoment reads RFC 3339 with an offset, from the year 1 on as written. A leap
// second can only end a month of UTC.
func parseMoment(s string) (at time.Time, ok bool) {
	parts := momentForm.FindStringSubmatch(s)
	if parts == nil || strings.HasPrefix(s, "0000") {
		return at, false
	}
	clock, isLeap := strings.CutSuffix(parts[2], ":60")
	if isLeap {
		parts[2] = clock + ":59"
	}
	at, err := time.Parse(time.RFC3339, parts[1]+"T"+parts[2]+strings.ToUpper(parts[4]))
	if err != nil {
		return at, false
	}
	if isLeap {
		at = at.Add(time.Second)
	}
	utc := at.UTC()
	return utc, !isLeap || utc.Day() == 1 && utc.Hour() == 0 && utc.Minute() == 0
}

// isDateOrMoment accepts a date, or a moment whose date alone counts.
func isDateOrMoment(s string) bool {
	_, ok := parseMoment(s)
	return ok || isDate(s)
}

func isDateTime(s string) bool {
	at, ok := parseMoment(s)
	return ok && 1 <= at.Year() && at.Year() <= 9999
}

var durationForm = regexp.MustCompile(`^P(?:(-?\d{1,8})Y)?(?:(-?\d{1,8})M)?(?:(-?\d{1,8})W)?(?:(-?\d{1,8})D)?` +
	`(T(?:(-?\d{1,8})H)?(?:(-?\d{1,8})M)?(?:(-?\d{1,8}(?:\.\d{1,6})?)S)?)?$`)

func isDuration(s string) bool {
	parts := durationForm.FindStringSubmatch(s)
	return parts != nil && s != "P" && parts[5] != "T"
}

var relativeForm = regexp.MustCompile(`(?i)^(now|today|tomorrow|yesterday|` +
	`this +(complete +)?(minute|hour|day|week|month|year)s?|` +
	`(next|last) +(([1-9][0-9]{0,4}) +)?(complete +)?(minute|hour|day|week|month|year)s?)$`)

func isRelativePeriod(s string) bool {
	parts := relativeForm.FindStringSubmatch(s)
	if parts == nil || strings.ContainsFunc(s, func(r rune) bool { return r > 'z' }) {
		return false
	}
	count, err := strconv.Atoi(parts[6])
	return parts[6] == "" || err == nil && count <= 10000
}

var tokenForm = regexp.MustCompile("^[A-Za-z0-9!#$&^_.+-]+$")

// isDataURL accepts data:<type>[;<parameter>=<value>…];name=<name>;base64,<data>,
// with the name among the parameters. Quoted values are not read here.
func isDataURL(s string) bool {
	if len(s) < 5 || !strings.EqualFold(s[:5], "data:") {
		return false
	}
	head, data, ok := strings.Cut(s[5:], ",")
	parts := strings.Split(head, ";")
	last := len(parts) - 1
	kind, subtype, isType := strings.Cut(parts[0], "/")
	if !ok || !isType || !tokenForm.MatchString(kind) || !tokenForm.MatchString(subtype) || last == 0 || !strings.EqualFold(parts[last], "base64") {
		return false
	}
	names := 0
	for _, parameter := range parts[1:last] {
		key, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(key, "name") {
			if !tokenForm.MatchString(key) || !tokenForm.MatchString(value) {
				return false
			}
			continue
		}
		names++
		name, err := url.PathUnescape(value)
		if err != nil || len(name) < 1 || len(name) > 255 || strings.ContainsAny(name, "/\\\r\n\x00\u202e") || name == "." || name == ".." {
			return false
		}
	}
	_, err := base64.StdEncoding.DecodeString(data)
	return err == nil && names == 1 && !strings.ContainsAny(data, "\r\n")
}

// isDecimal accepts up to 38 digits, 18 of them behind the point, in every notation.
func isDecimal(s string) bool {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return false
	}
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)))
	if !scaled.IsInt() {
		return false
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(r.FloatString(18), "-"), ".")
	return len(strings.TrimLeft(whole, "0"))+len(strings.TrimRight(fraction, "0")) <= 38
}
