package input

import (
	"sync"

	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/pattern"
)

// format is the form of a string or number beyond its type.
type format uint8

const (
	noFormat format = iota
	formatDate
	formatDateTime
	formatDuration
	formatMarkdown
	formatDataURL
	formatRelativePeriod
	formatPassword
	formatDecimal
	formatFile   // a data URL or an upload key
	formatSecret // any text, to be encrypted
	formatEmail
	formatURI
)

// formatNames lists the formats. The hidden ones are under x-format.
var formatNames = [...]struct {
	format format
	name   string
	hidden bool
}{
	{formatDate, "date", false},
	{formatDateTime, "date-time", false},
	{formatDuration, "duration", false},
	{formatMarkdown, "markdown", false},
	{formatDataURL, "data-url", false},
	{formatRelativePeriod, "relative-period", false},
	{formatPassword, "password", false},
	{formatDecimal, "decimal", false},
	{formatFile, "file", true},
	{formatSecret, "secret", true},
	{formatEmail, "email", false},
	{formatURI, "uri", false},
}

func formatNamed(name string, hidden bool) (format, bool) {
	for _, e := range formatNames {
		if e.name == name && e.hidden == hidden {
			return e.format, true
		}
	}
	return noFormat, false
}

func (f format) name() string {
	for _, e := range formatNames {
		if e.format == f {
			return e.name
		}
	}
	return ""
}

// kinds returns the type that the format applies to.
func (f format) kinds() kinds {
	if f == formatDecimal {
		return kindNumber
	}
	return kindString
}

// isPlace tells whether values of the format are replaced before the call.
func (f format) isPlace() bool {
	return f == formatDataURL || f == formatFile || f == formatPassword || f == formatSecret
}

// appendForm writes a text in the canonical form of a format that has several, as JSON.
// If the text does not have the format, wrong explains why, and the output is not
// usable.
func (f format) appendForm(out, content []byte) (written []byte, wrong problem.Problem) {
	var ok bool
	switch f {
	case formatDate:
		out, ok = appendDate(out, content)
	case formatDateTime:
		out, ok = appendTimestamp(out, content)
	case formatDuration:
		out, ok = appendDuration(out, content)
	case formatRelativePeriod:
		out, ok = appendRelativePeriod(out, content)
	default:
		panic("input: the format " + f.name() + " has one form only")
	}
	if !ok {
		return out, problem.Format(f.name())
	}
	return out, none
}

// problem returns what is wrong with a text of a format that is passed on unchanged, or
// none.
func (f format) problem(content []byte) problem.Problem {
	if f == formatDataURL || f == formatFile && hasDataScheme(content) {
		if why := dataURLProblem(content); why != "" {
			return problem.FormatBecause(formatDataURL.name(), why)
		}
	}
	if matcher := f.matcher(); matcher != nil && !matcher().Match(content) {
		return problem.Format(f.name())
	}
	return none
}

// matcher returns the pattern of a format, nil if it has none.
func (f format) matcher() func() *pattern.Matcher {
	switch f {
	case formatEmail:
		return isEmail
	case formatURI:
		return isURI
	}
	return nil
}

var (
	isEmail = sync.OnceValue(func() *pattern.Matcher { return mustCompile(pattern.Email) })
	isURI   = sync.OnceValue(func() *pattern.Matcher { return mustCompile(pattern.URL) })
	isBlank = sync.OnceValue(func() *pattern.Matcher { return mustCompile(pattern.Blank) })
)

func mustCompile(written string) *pattern.Matcher {
	m, err := pattern.Compile(written)
	if err != nil {
		panic("input: " + err.Error()) // a constant
	}
	return m
}
