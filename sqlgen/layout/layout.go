package layout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Layout is text with places where lines may break. A group is written on one
// line if it fits, else all breaks directly in it become line ends.
type Layout struct {
	text  string
	parts []Layout

	flat extent // on one line
	lead extent // in a group that nothing is known about
	open extent // in a broken group
	kind kind
	hard bool // whether it holds a line end that must be, so that no group around it can be on one line
}

// extent is how far a layout goes on the line on which it begins, in characters.
type extent struct {
	width  int32 // up to the first place where the line may break
	behind int32 // the same behind a comment that moved to the end of the line, as all comments behind it do
	moves  bool  // whether it holds such a comment
	stops  bool  // whether there is a place where the line may break
}

// then is the extent of one layout followed by another.
func (e extent) then(next extent) extent {
	if e.stops {
		return e
	}
	width := next.width
	if e.moves {
		width = next.behind
	}
	return extent{e.width + width, e.behind + next.behind, e.moves || next.moves, next.stops}
}

type kind uint8

const (
	kindText     kind = iota // text
	kindComment              // a block comment, set off by spaces
	kindSuffix               // a comment that moves to the end of its line
	kindBreak                // a line end, or text if the group is on one line
	kindEnd                  // a line end
	kindNewLine              // a line end, of an empty line too
	kindBlank                // a line end and a blank line
	kindConcat               // parts
	kindIndent               // parts, indented one step further
	kindGroup                // parts, on one line if they fit
	kindIfBroken             // the first part if the group is broken, else the second
)

// Width is how many characters a line should not pass, comments at its end excluded.
const Width = 120

const indentStep = 2

// Text is text as it is, which may hold line ends of its own.
func Text(text string) Layout {
	first, _, broken := strings.Cut(text, "\n")
	flat, start := widthOf(text), widthOf(first)
	return Layout{kind: kindText, text: text, hard: broken}.extending(extent{width: flat, behind: flat}, extent{width: start, behind: start, stops: broken})
}

func widthOf(text string) int32 { return int32(utf8.RuneCountInString(text)) }

// Comment is a block comment with a space behind it, and one before it unless
// there is one or a bracket opens there.
func Comment(comment string) Layout {
	l := Text(" " + comment + " ")
	l.kind, l.text = kindComment, comment+" "
	if !l.hard {
		l.flat.behind, l.lead.behind, l.open.behind = 0, 0, 0
	}
	return l
}

// Suffix is a comment that moves to the end of its line, or that is there if it is broken over lines.
func Suffix(comment string) Layout {
	moved := extent{moves: !strings.Contains(comment, "\n")}
	return Layout{kind: kindSuffix, text: comment}.extending(moved, moved)
}

// Space is a place for a line end that is otherwise a space.
func Space() Layout {
	return breaking(Layout{kind: kindBreak, text: " ", flat: extent{width: 1, behind: 1}})
}

// Gap is a place for a line end that is otherwise nothing.
func Gap() Layout { return breaking(Layout{kind: kindBreak}) }

// LineEnd is a line end, unless the line is empty.
func LineEnd() Layout { return breaking(Layout{kind: kindEnd, hard: true}) }

// NewLine is a line end, of an empty line too.
func NewLine() Layout { return breaking(Layout{kind: kindNewLine, hard: true}) }

// BlankLine is a line end and a blank line.
func BlankLine() Layout { return breaking(Layout{kind: kindBlank, hard: true}) }

func breaking(l Layout) Layout {
	return l.extending(l.flat, extent{stops: true})
}

// extending returns a layout with its extents: on one line, and where nothing or a broken group is known.
func (l Layout) extending(flat, start extent) Layout {
	l.flat, l.lead, l.open = flat, start, start
	return l
}

// Concat is parts behind each other.
func Concat(parts ...Layout) Layout { return compound(kindConcat, parts) }

// Indent is parts whose lines are indented one step further.
func Indent(parts ...Layout) Layout { return compound(kindIndent, parts) }

// Group makes a group. Whether it is broken is its own affair, so in a broken
// group it begins as anywhere else.
func Group(parts ...Layout) Layout {
	l := compound(kindGroup, parts)
	l.open = l.lead
	return l
}

func compound(kind kind, parts []Layout) Layout {
	l := Layout{kind: kind, parts: parts}
	for _, p := range parts {
		l.hard = l.hard || p.hard
		l.flat = l.flat.then(p.flat)
		l.lead = l.lead.then(p.lead)
		l.open = l.open.then(p.open)
	}
	return l
}

// IfBroken is the one or the other, depending on whether the group is broken.
// What breaks lines in the first does not break the group.
func IfBroken(broken, unbroken Layout) Layout {
	return Layout{
		kind:  kindIfBroken,
		parts: []Layout{broken, unbroken},
		hard:  unbroken.hard,
		flat:  unbroken.flat,
		lead:  unbroken.lead,
		open:  broken.open,
	}
}

// IsOneLine reports whether the layout, as a whole line of a file, is not broken.
func (l Layout) IsOneLine() bool { return l.IsWithin(Width) }

// IsWithin reports whether the layout can be on one line of so many characters.
func (l Layout) IsWithin(most int) bool { return !l.hard && l.flat.width <= int32(most) }

// MustBreak reports whether the layout holds a line end at any width.
func (l Layout) MustBreak() bool { return l.hard }

// Replacing returns the concatenation with another part in the place of one.
func (l Layout) Replacing(at int, part Layout) Layout {
	parts := slices.Clone(l.parts)
	parts[at] = part
	return Concat(parts...)
}

// printer writes a layout.
type printer struct {
	out      strings.Builder
	column   int      // characters on the current line
	last     byte     // the last one written
	indented int      // how far the current line will be indented once something is written on it
	suffixes []string // comments to be written at the end of the current line
	stack    []frame
}

// frame is what is still to be written of some parts.
type frame struct {
	parts  []Layout
	indent int
	broken bool
}

// File returns the text of the layout as that of a file: it ends with a line end unless
// it is empty.
func (l Layout) File() string {
	p := l.print(true)
	p.endLine(0)
	return p.out.String()
}

// String returns the text of the layout, without a line end behind it.
func (l Layout) String() string { return l.print(true).out.String() }

// OneLine returns the text of the layout on one line, however long.
func (l Layout) OneLine() string { return l.print(false).out.String() }

func (l Layout) print(mayBreak bool) *printer {
	p := &printer{stack: []frame{{parts: []Layout{l}, broken: mayBreak}}}
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
	return p
}

func (p *printer) part(l Layout, indent int, broken bool) {
	switch l.kind {
	case kindText:
		p.write(l.text)
	case kindComment, kindSuffix:
		p.comment(l, indent)
	case kindBreak:
		if broken {
			p.endLine(indent)
		} else {
			p.write(l.text)
		}
	case kindEnd:
		p.endLine(indent)
	case kindNewLine:
		if p.column == 0 {
			p.out.WriteByte('\n')
		}
		p.endLine(indent)
	case kindBlank:
		p.endLine(indent)
		p.blankLine()
	case kindConcat:
		p.push(l.parts, indent, broken)
	case kindIndent:
		p.push(l.parts, indent+indentStep, broken)
	case kindGroup:
		p.push(l.parts, indent, broken && !p.fits(l))
	case kindIfBroken:
		if broken {
			p.push(l.parts[:1], indent, broken)
		} else {
			p.push(l.parts[1:], indent, broken)
		}
	}
}

// comment writes a comment, or keeps it for the end of the line. Those behind one that is kept
// are kept too, so that all stay in their order; one that is broken over lines begins a line then.
func (p *printer) comment(l Layout, indent int) {
	breaks, follows := strings.Contains(l.text, "\n"), len(p.suffixes) > 0
	switch {
	case follows && breaks:
		p.endLine(indent)
	case follows, l.kind == kindSuffix && !breaks:
		p.suffixes = append(p.suffixes, strings.TrimSuffix(l.text, " "))
		return
	case l.kind == kindSuffix, p.column > 0 && strings.IndexByte(" ([{", p.last) < 0:
		p.write(" ")
	}
	p.write(l.text)
}

func (p *printer) push(parts []Layout, indent int, broken bool) {
	p.stack = append(p.stack, frame{parts, indent, broken})
}

// fits reports whether a group in a broken group can be written on one line,
// together with what follows it up to the next place where the line may break.
func (p *printer) fits(l Layout) bool {
	line := extent{width: int32(max(p.column, p.indented)), moves: len(p.suffixes) > 0}.then(l.flat)
	if l.hard || line.width > Width {
		return false
	}
	for i := len(p.stack) - 1; i >= 0; i-- {
		for _, part := range p.stack[i].parts {
			if line = line.then(part.open); line.width > Width || line.stops {
				return line.width <= Width
			}
		}
	}
	return true
}

// write writes text, which may hold line ends of its own.
func (p *printer) write(text string) {
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
func (p *printer) endLine(indent int) {
	if len(p.suffixes) > 0 {
		comments := strings.Join(p.suffixes, " ")
		p.suffixes = nil
		if p.column > 0 && p.last != ' ' {
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
func (p *printer) blankLine() {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}
