package syntax

import (
	"strings"
	"unicode/utf8"
)

// layout is text with places where lines may break. A group is written on one
// line if it fits, else all breaks directly in it become line ends.
type layout struct {
	kind  layoutKind
	text  string
	parts []layout

	hard  bool // whether it holds a line end that must be, so that no group around it can be on one line
	width int  // on one line, in characters
	lead  lead // in a group of which nothing is known
	open  lead // in a broken group
}

// lead is how far a layout goes on the line on which it begins.
type lead struct {
	width int  // up to the first place where the line may break
	stops bool // whether there is such a place
}

// then is the lead of one layout followed by another.
func (l lead) then(next lead) lead {
	if l.stops {
		return l
	}
	return lead{l.width + next.width, next.stops}
}

type layoutKind int

const (
	layoutText     layoutKind = iota // text
	layoutComment                    // a block comment, set off by spaces
	layoutSuffix                     // a comment that moves to the end of its line
	layoutBreak                      // a line end, or text if the group is on one line
	layoutEnd                        // a line end
	layoutBlank                      // a line end and a blank line
	layoutConcat                     // parts
	layoutIndent                     // parts, indented one step further
	layoutGroup                      // parts, on one line if they fit
	layoutIfBroken                   // the first part if the group is broken, else the second
)

const (
	maxWidth   = 120 // characters of a line, comments at its end excluded
	indentStep = 2
)

func textOf(text string) layout {
	first, _, broken := strings.Cut(text, "\n")
	start := lead{utf8.RuneCountInString(first), broken}
	return layout{
		kind: layoutText, text: text, hard: broken,
		width: utf8.RuneCountInString(text), lead: start, open: start,
	}
}

// commentOf is a block comment with a space behind it, and one before it unless
// there is one or a bracket opens there.
func commentOf(comment string) layout {
	l := textOf(" " + comment + " ")
	l.kind, l.text = layoutComment, comment+" "
	return l
}

func suffix(comment string) layout { return layout{kind: layoutSuffix, text: comment} }

// space is a place for a line end that is otherwise a space; gap is one that is
// otherwise nothing.
func space() layout { return breaking(layout{kind: layoutBreak, text: " ", width: 1}) }
func gap() layout   { return breaking(layout{kind: layoutBreak}) }

func lineEnd() layout   { return breaking(layout{kind: layoutEnd, hard: true}) }
func blankLine() layout { return breaking(layout{kind: layoutBlank, hard: true}) }

func breaking(l layout) layout {
	l.lead, l.open = lead{stops: true}, lead{stops: true}
	return l
}

func concat(parts ...layout) layout { return compound(layoutConcat, parts) }
func indent(parts ...layout) layout { return compound(layoutIndent, parts) }

// group makes a group. Whether it is broken is its own affair, so in a broken
// group it begins as anywhere else.
func group(parts ...layout) layout {
	l := compound(layoutGroup, parts)
	l.open = l.lead
	return l
}

func compound(kind layoutKind, parts []layout) layout {
	l := layout{kind: kind, parts: parts}
	for _, p := range parts {
		l.hard = l.hard || p.hard
		l.width += p.width
		l.lead = l.lead.then(p.lead)
		l.open = l.open.then(p.open)
	}
	return l
}

// ifBroken is the one or the other, depending on whether the group is broken.
// What breaks lines in the first does not break the group.
func ifBroken(broken, unbroken layout) layout {
	return layout{
		kind:  layoutIfBroken,
		parts: []layout{broken, unbroken},
		hard:  unbroken.hard,
		width: unbroken.width,
		lead:  unbroken.lead,
		open:  broken.open,
	}
}

// isOneLine reports whether the layout, as a whole line of a file, is not broken.
func (l layout) isOneLine() bool { return !l.hard && l.width <= maxWidth }

// layoutPrinter writes a layout.
type layoutPrinter struct {
	out      strings.Builder
	column   int      // characters on the current line
	last     byte     // the last one written
	indented int      // how far the current line will be indented once something is written on it
	suffixes []string // comments to be written at the end of the current line
	stack    []layoutFrame
}

// layoutFrame is what is still to be written of some parts.
type layoutFrame struct {
	parts  []layout
	indent int
	broken bool
}

// print returns the text of the layout, which ends with a line end unless it is
// empty.
func (l layout) print() string {
	p := &layoutPrinter{stack: []layoutFrame{{parts: []layout{l}, broken: true}}}
	for len(p.stack) > 0 {
		top := &p.stack[len(p.stack)-1]
		if len(top.parts) == 0 {
			p.stack = p.stack[:len(p.stack)-1]
			continue
		}
		next := top.parts[0]
		top.parts = top.parts[1:]
		p.part(next, top.indent, top.broken)
	}
	p.endLine(0)
	return p.out.String()
}

func (p *layoutPrinter) part(l layout, indent int, broken bool) {
	switch l.kind {
	case layoutText:
		p.write(l.text)
	case layoutComment:
		if p.column > 0 && strings.IndexByte(" ([{", p.last) < 0 {
			p.write(" ")
		}
		p.write(l.text)
	case layoutSuffix:
		p.suffixes = append(p.suffixes, l.text)
	case layoutBreak:
		if broken {
			p.endLine(indent)
		} else {
			p.write(l.text)
		}
	case layoutEnd:
		p.endLine(indent)
	case layoutBlank:
		p.endLine(indent)
		p.blankLine()
	case layoutConcat:
		p.push(l.parts, indent, broken)
	case layoutIndent:
		p.push(l.parts, indent+indentStep, broken)
	case layoutGroup:
		p.push(l.parts, indent, broken && !p.fits(l))
	case layoutIfBroken:
		if broken {
			p.push(l.parts[:1], indent, broken)
		} else {
			p.push(l.parts[1:], indent, broken)
		}
	}
}

func (p *layoutPrinter) push(parts []layout, indent int, broken bool) {
	p.stack = append(p.stack, layoutFrame{parts, indent, broken})
}

// fits reports whether a group in a broken group can be written on one line,
// together with what follows it up to the next place where the line may break.
func (p *layoutPrinter) fits(l layout) bool {
	room := maxWidth - max(p.column, p.indented) - l.width
	if l.hard || room < 0 {
		return false
	}
	for i := len(p.stack) - 1; i >= 0; i-- {
		for _, part := range p.stack[i].parts {
			if room -= part.open.width; room < 0 {
				return false
			}
			if part.open.stops {
				return true
			}
		}
	}
	return true
}

// write writes text, which may hold line ends of its own.
func (p *layoutPrinter) write(text string) {
	if text == "" {
		return
	}
	if p.column == 0 {
		p.out.WriteString(strings.Repeat(" ", p.indented))
		p.column = p.indented
	}
	p.out.WriteString(text)
	p.last = text[len(text)-1]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		p.column = 0
		text = text[i+1:]
	}
	p.column += utf8.RuneCountInString(text)
	p.indented = 0
}

// endLine ends the current line, if there is anything on it, comments last.
func (p *layoutPrinter) endLine(indent int) {
	if len(p.suffixes) > 0 {
		comments := strings.Join(p.suffixes, " ")
		p.suffixes = nil
		if p.column > 0 {
			comments = " " + comments
		}
		p.write(comments)
	}
	if p.column > 0 {
		p.out.WriteByte('\n')
	}
	p.column, p.indented = 0, indent
}

// blankLine leaves a line blank, unless it would be the first one.
func (p *layoutPrinter) blankLine() {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}
