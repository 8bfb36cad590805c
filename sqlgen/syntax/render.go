package syntax

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Options is how diagnostics are shown.
type Options struct {
	Color bool // whether to use the colours of a terminal
	Max   int  // how many diagnostics to show; 0 means all
}

// The longest stretch of a source line that is shown, in characters, and how
// much of it is before the place that matters if the line is longer.
const (
	maxExcerpt    = 160
	excerptBefore = 60
)

// Render writes diagnostics for people to read, in the order given. If there are too many, warnings give way to errors:
//
//	blog.stern:14:17: model Post has no field "titel" (did you mean "title"?) [UnknownField]
//	    @where(post.titel == title)
//	                ^^^^^
//	blog.stern:3:5: other fields of Post are declared here
//
// The error is that of w.
func Render(w io.Writer, errs Errors, options Options) error {
	r := renderer{color: options.Color}
	shown := errs
	if options.Max > 0 && len(errs) > options.Max {
		shown = foremost(errs, options.Max)
	}
	for _, d := range shown {
		r.diagnostic(d)
	}
	if more := len(errs) - len(shown); more > 0 {
		fmt.Fprintf(&r.out, "and %d more\n", more)
	}
	_, err := io.WriteString(w, r.out.String())
	return err
}

// foremost returns as many diagnostics in their order: errors, and warnings if there is room for them.
func foremost(errs Errors, most int) Errors {
	room := most
	for _, d := range errs {
		if !d.Warning {
			room--
		}
	}
	var kept Errors
	for _, d := range errs {
		if len(kept) == most {
			break
		}
		if d.Warning {
			if room <= 0 {
				continue
			}
			room--
		}
		kept = append(kept, d)
	}
	return kept
}

type renderer struct {
	out   strings.Builder
	color bool
}

// The terminal's codes for what is worth telling apart.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	faint  = "\x1b[2m"
	plain  = "\x1b[0m"
)

func (r *renderer) diagnostic(d *Diagnostic) {
	color := red
	r.place(d.Span)
	if d.Warning {
		color = yellow
		r.paint(color, "warning: ")
	}
	r.out.WriteString(visible(d.Message))
	r.paint(faint, " ["+string(d.Code)+"]")
	r.out.WriteString("\n")
	r.excerpt(d.Span, color)
	for _, n := range d.Notes {
		if n.Span.File == nil {
			r.out.WriteString("note: ")
		}
		r.place(n.Span)
		r.out.WriteString(visible(n.Message) + "\n")
	}
}

// place writes where something is, if it is anywhere.
func (r *renderer) place(s Span) {
	switch {
	case s.File == nil:
	case s.Start.Line == 0:
		r.paint(bold, s.File.Name+": ")
	default:
		r.paint(bold, fmt.Sprintf("%s:%d:%d: ", s.File.Name, s.Start.Line, s.Start.Column))
	}
}

// excerpt writes the source line of a span and marks the span below it. Of a
// span over several lines, the first is shown.
func (r *renderer) excerpt(s Span, color string) {
	if s.File == nil || s.Start.Line == 0 || s.Start.Offset > len(s.File.Text) {
		return
	}
	before, marked, after := lineAround(s)
	before = strings.TrimLeftFunc(before, unicode.IsSpace)
	if before == "" && marked == "" {
		after = strings.TrimLeftFunc(after, unicode.IsSpace)
	}
	if strings.TrimSpace(before+marked+after) == "" {
		return
	}
	before, marked, after = cut(before, marked, after)
	r.out.WriteString("    " + visible(before+marked+after) + "\n    ")
	for _, c := range before {
		if c != '\t' {
			c = ' '
		}
		r.out.WriteRune(c)
	}
	r.paint(color, strings.Repeat("^", max(1, len([]rune(marked)))))
	r.out.WriteString("\n")
}

// lineAround returns the line on which a span begins: the text before the span, its
// part on this line, and the rest.
func lineAround(s Span) (before, marked, after string) {
	text := s.File.Text
	start := bytes.LastIndexAny(text[:s.Start.Offset], "\r\n") + 1
	end := len(text)
	if i := bytes.IndexAny(text[s.Start.Offset:], "\r\n"); i >= 0 {
		end = s.Start.Offset + i
	}
	line := string(text[start:end])
	markedStart := s.Start.Offset - start
	markedEnd := min(max(s.End.Offset-start, markedStart), len(line))
	before, marked, after = line[:markedStart], line[markedStart:markedEnd], line[markedEnd:]
	after = strings.TrimRightFunc(after, unicode.IsSpace)
	if after == "" {
		marked = strings.TrimRightFunc(marked, unicode.IsSpace)
	}
	return strings.TrimPrefix(before, "\uFEFF"), marked, after
}

// cut shortens a line that is too long to be shown, around the marked part.
func cut(before, marked, after string) (string, string, string) {
	b, m, a := []rune(before), []rune(marked), []rune(after)
	if len(b)+len(m)+len(a) <= maxExcerpt {
		return before, marked, after
	}
	if len(b) > excerptBefore {
		b = append([]rune("…"), b[len(b)-excerptBefore:]...)
	}
	if room := maxExcerpt - len(b); len(m) > room {
		m, a = append(m[:room:room], '…'), nil
	}
	if room := maxExcerpt - len(b) - len(m); len(a) > max(room, 0) {
		a = append(a[:max(room, 0):max(room, 0)], '…')
	}
	return string(b), string(m), string(a)
}

// visible replaces characters that could confuse a terminal, tabs excepted.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// paint writes text in a colour, if there are colours.
func (r *renderer) paint(color, text string) {
	if r.color {
		text = color + text + plain
	}
	r.out.WriteString(text)
}
