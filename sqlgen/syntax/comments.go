package syntax

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/layout"
)

// between is the text before a token, as a reader sees it.
type between struct {
	trailing []Trivia      // comments at the end of the line of the token before
	lines    []commentLine // comments on lines of their own
	blank    bool          // whether there is a blank line directly before the token's own line
	inline   []Trivia      // block comments before the token on its own line
	breaks   bool          // whether the token begins a line
}

// commentLine is a line that holds comments only.
type commentLine struct {
	comments []Trivia
	blank    bool // whether the line before it is blank
}

// between sorts the trivia before the token at index i.
func (f *formatter) between(i int) between {
	segments := [][]Trivia{nil}
	for _, t := range f.tokens[i].Leading {
		if t.Kind == LineEnd {
			segments = append(segments, nil)
			continue
		}
		segments[len(segments)-1] = append(segments[len(segments)-1], t)
	}
	last := len(segments) - 1
	b := between{breaks: last > 0}
	if f.tokens[i].Kind == TokenEOF {
		segments = append(segments, nil) // comments before it are on a line without it
		last++
	}
	b.inline = segments[last]
	blank := false
	for n, s := range segments[:last] {
		switch {
		case n == 0 && i > 0:
			b.trailing = s
		case len(s) > 0:
			b.lines = append(b.lines, commentLine{s, blank})
			blank = false
		default:
			blank = true
		}
	}
	b.blank = blank
	return b
}

// separation is the separation of an item from the text before it.
type separation struct {
	kind    layout.Layout // a Space, Gap or LineEnd
	blank   bool          // whether blank lines are kept
	first   bool          // whether nothing but comments is before it in its brackets: no blank line at the top
	closing bool          // whether it is the closing bracket: no blank line directly before it
}

// separate returns the comments before the next token, up to but not including
// those on its own line, and the line break directly before it. The comments
// can so be indented further than a closing bracket.
func (f *formatter) separate(s separation) (comments, lineBreak layout.Layout) {
	b := f.between(f.at)
	f.separated = f.at
	hard := s.kind.MustBreak() || len(b.lines) > 0 || s.blank && !s.first && !s.closing && b.blank
	for _, c := range b.trailing {
		hard = hard || c.Kind == LineComment || strings.Contains(c.Text, "\n")
	}
	var before, after []layout.Layout
	for _, c := range b.trailing {
		switch text := commentText(c); {
		case hard:
			before = append(before, layout.Suffix(text))
		default:
			// On one line, the comment looks like one before the token, which it
			// then is.
			before = append(before, layout.IfBroken(layout.Suffix(text), layout.Concat()))
			after = append(after, layout.IfBroken(layout.Concat(), layout.Comment(text)))
		}
	}
	if !hard {
		return layout.Concat(before...), layout.Concat(append([]layout.Layout{s.kind}, after...)...)
	}
	for i, line := range b.lines {
		before = append(before, lineBreakOf(line.blank && s.blank && !(s.first && i == 0)))
		for j, c := range line.comments {
			if j > 0 {
				before = append(before, layout.Text(" "))
			}
			before = append(before, layout.Text(commentText(c)))
		}
	}
	return layout.Concat(before...), lineBreakOf(b.blank && s.blank && !s.closing && !(s.first && len(b.lines) == 0))
}

func lineBreakOf(blank bool) layout.Layout {
	if blank {
		return layout.BlankLine()
	}
	return layout.LineEnd()
}

// commentsHere returns the comments before the next token in a place where no
// line breaks: those that reach to the end of their line move to the end of
// this one.
func (f *formatter) commentsHere() layout.Layout {
	b := f.between(f.at)
	var comments []Trivia
	if f.separated != f.at {
		comments = append(comments, b.trailing...)
		for _, line := range b.lines {
			comments = append(comments, line.comments...)
		}
	}
	var l []layout.Layout
	for _, c := range append(comments, b.inline...) {
		if c.Kind == LineComment {
			l = append(l, layout.Suffix(commentText(c)))
		} else {
			l = append(l, layout.Comment(commentText(c)))
		}
	}
	return layout.Concat(l...)
}

// commentText returns a comment as it is written, with plain line ends.
func commentText(c Trivia) string {
	return plainLineEnds(c.Text)
}

// plainLineEnds returns text with a line feed for each line end.
func plainLineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// hasComments reports whether there is more than line ends.
func hasComments(leading []Trivia) bool {
	for _, t := range leading {
		if t.Kind != LineEnd {
			return true
		}
	}
	return false
}
