package client

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sternpost/sternpost/server/answer"
)

// lineLength is the limit for lists of alternatives on one line.
const lineLength = 120

// printer writes TypeScript.
type printer struct {
	strings.Builder
}

// line writes a line at a depth of blocks.
func (p *printer) line(depth int, format string, args ...any) {
	p.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// definition writes a type after its definition. One that fits on no line begins on the next.
func (p *printer) definition(depth int, start, text string) {
	if !strings.HasPrefix(text, "\n") {
		start += " "
	}
	p.line(depth, "%s%s;", start, text)
}

// comment writes a doc comment, unless text is empty.
func (p *printer) comment(depth int, text string) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "*/", "*\\/")
	lines := wrap(text, lineLength-2*depth-len("/**  */"))
	switch {
	case text == "":
	case len(lines) == 1:
		p.line(depth, "/** %s */", text)
	default:
		p.line(depth, "/**")
		for _, line := range lines {
			p.line(depth, "%s", strings.TrimRight(" * "+line, " "))
		}
		p.line(depth, " */")
	}
}

// wrap breaks long lines of a text between words.
func wrap(text string, length int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for utf8.RuneCountInString(line) > length {
			at := strings.LastIndexByte(string([]rune(line)[:length+1]), ' ')
			if at <= 0 {
				break
			}
			lines = append(lines, line[:at])
			line = line[at+1:]
		}
		lines = append(lines, line)
	}
	return lines
}

// alternatives joins types by a sign, on one line if they fit.
func alternatives(sign string, types []string, depth, before int) string {
	text := strings.Join(types, " "+sign+" ")
	if len(types) < 2 || strings.Contains(text, "\n") || 2*depth+before+len(text) < lineLength {
		return text
	}
	indent := "\n" + strings.Repeat("  ", depth+1) + sign + " "
	return strings.TrimSuffix(indent, " ") + " " + strings.Join(types, indent)
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// member returns the name of a member, quoted if necessary.
func member(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote returns a text as a JSON literal.
func quote(text string) string {
	return string(answer.Quote(nil, text))
}
