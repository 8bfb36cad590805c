package syntax

import (
	"fmt"
	"slices"
	"sort"

	"github.com/sternpost/sternpost/sqlgen/layout"
)

// Format returns the text of a file in the formatted spelling. It loses
// nothing, and formatted text is its own formatted text. A file that did not
// parse as a whole is returned as it is.
//
//   - Everything keeps its order, blocks that could be joined stay apart, and
//     names and literals stay as written. What is indented is so by two spaces.
//   - Declarations are separated by one blank line; those that take one line
//     each, without a comment before them, may follow each other directly. Within braces, several blank lines
//     become one, and those directly after "{" and before "}" go.
//   - The braces of a model, union, message, api, and of fields, conditions, arms,
//     actions and models blocks are always broken over lines, one item on each. Those of
//     an enum, a role and its blocks, and of a model in an api, stay on one line
//     if that is how they were written and they fit.
//   - A field or enum value is on one line with its attributes, without
//     braces. If they do not fit, they are in braces, one on each line.
//   - The attributes of an action or arm are in braces: on the same line if
//     they fit and were not broken over lines, else one on each line.
//   - Inputs, arguments and lists are on one line if they fit, else one on
//     each line. The last has no comma after it.
//   - An expression that does not fit is broken before each of its outermost
//     operators && or ||, and further inwards if that is not enough.
//   - A line fits if it has at most 120 characters, not counting a comment at
//     its end.
//   - Comments at the end of a line stay there, those on lines of their own
//     before what follows them, block comments where they are. A comment in a
//     place where a line cannot break moves to the end of the line, and so do
//     those behind it, in their order.
//   - The body of a declaration, and the arguments of an attribute, that the
//     language does not support yet stay as written.
func Format(f *File) []byte {
	if f.incomplete {
		return slices.Clone(f.Source.Text)
	}
	p := &formatter{src: f.Source, tokens: slices.Clone(f.Tokens), separated: -1}
	return []byte(p.file(f).File())
}

// formatter turns a tree into a layout. It reads the tokens along with the
// tree, each once and in order, because only they carry the comments.
type formatter struct {
	src       *Source
	tokens    []Token
	at        int // index of the next token
	separated int // index of the token before which separate has written the comments
}

func (f *formatter) file(file *File) layout.Layout {
	var l []layout.Layout
	wasOneLine := false
	for i, d := range file.Decls {
		b := f.between(f.at)
		comments, lineBreak := f.separate(separation{kind: layout.LineEnd(), blank: true, first: i == 0})
		decl := f.decl(d)
		blank := b.blank
		for _, line := range b.lines {
			blank = blank || line.blank
		}
		apart := i > 0 && !blank && !(wasOneLine && decl.IsOneLine() && len(b.lines) == 0)
		if apart && len(b.lines) == 0 {
			lineBreak = layout.BlankLine()
		} else if apart {
			comments = layout.Concat(f.blankBefore(comments, len(b.trailing)))
		}
		l = append(l, comments, lineBreak, decl)
		wasOneLine = decl.IsOneLine()
	}
	comments, _ := f.separate(separation{kind: layout.LineEnd(), blank: true, first: len(file.Decls) == 0})
	return layout.Concat(append(l, comments)...)
}

// blankBefore puts a blank line before the comments that are on lines of
// their own; trailing others come first.
func (f *formatter) blankBefore(comments layout.Layout, trailing int) layout.Layout {
	return comments.Replacing(trailing, layout.BlankLine())
}

// is reports whether the next token is the punctuation text.
func (f *formatter) is(text string) bool { return f.tokens[f.at].is(text) }

// token returns the next token with the comments before it.
func (f *formatter) token() layout.Layout {
	comments := f.commentsHere()
	text := f.tokens[f.at].Text
	f.at++
	return layout.Concat(comments, layout.Text(text))
}

// tokensTo returns all tokens up to the end of a node, nothing between them but
// comments.
func (f *formatter) tokensTo(end Pos) layout.Layout {
	var l []layout.Layout
	for f.tokens[f.at].Span.Start.Offset < end.Offset {
		l = append(l, f.token())
	}
	return layout.Concat(l...)
}

// verbatim returns everything up to the end of a node as it is written.
func (f *formatter) verbatim(end Pos) layout.Layout {
	comments := f.commentsHere()
	text := string(f.src.Text[f.tokens[f.at].Span.Start.Offset:end.Offset])
	f.at = f.indexAt(end)
	return layout.Concat(comments, layout.Text(plainLineEnds(text)))
}

// indexAt returns the index of the first token at or after a place.
func (f *formatter) indexAt(pos Pos) int {
	return sort.Search(len(f.tokens)-1, func(i int) bool { return f.tokens[i].Span.Start.Offset >= pos.Offset })
}

func (f *formatter) decl(d Decl) layout.Layout {
	if later, ok := d.(*Later); ok {
		return f.later(later)
	}
	heading := layout.Concat(f.token(), layout.Text(" "), f.token(), layout.Text(" "))
	switch d := d.(type) {
	case *Model:
		return layout.Concat(heading, block(f, d.Members, f.member))
	case *Union:
		return layout.Concat(heading, block(f, d.Members, f.member))
	case *Message:
		return layout.Concat(heading, block(f, d.Fields, f.field))
	case *Enum:
		return layout.Concat(heading, flexibleBlock(f, d.Values, f.enumValue))
	case *Role:
		return layout.Concat(heading, flexibleBlock(f, d.Blocks, f.roleBlock))
	case *Job:
		return layout.Concat(heading, block(f, d.Members, f.member))
	case *API:
		return layout.Concat(heading, f.tokenBlock(f.modelsBlock))
	}
	panic(fmt.Sprintf("syntax: declaration of type %T", d))
}

func (f *formatter) later(d *Later) layout.Layout {
	heading := layout.Concat(f.token(), layout.Text(" "))
	if d.Name != nil {
		heading = layout.Concat(heading, f.token(), layout.Text(" "))
	}
	return layout.Concat(heading, f.verbatim(d.span.End))
}

func (f *formatter) member(m Member) layout.Layout {
	switch m := m.(type) {
	case *FieldsBlock:
		return layout.Concat(f.token(), layout.Text(" "), block(f, m.Fields, f.field))
	case *ConditionsBlock:
		return layout.Concat(f.token(), layout.Text(" "), block(f, m.Conditions, f.condition))
	case *ArmsBlock:
		return layout.Concat(f.token(), layout.Text(" "), block(f, m.Arms, f.arm))
	case *ActionsBlock:
		return layout.Concat(f.token(), layout.Text(" "), block(f, m.Actions, f.action))
	case *Attribute:
		return f.attribute(m)
	}
	panic(fmt.Sprintf("syntax: member of type %T", m))
}

func (f *formatter) field(d *Field) layout.Layout {
	name := layout.Concat(f.token(), layout.Text(" "), f.token())
	marks := layout.Concat()
	if d.Array != nil {
		marks = layout.Concat(marks, f.token(), f.token())
	}
	if d.Optional != nil {
		marks = layout.Concat(marks, f.token())
	}
	return layout.Concat(name, marks, f.attrsInLine(d.Attrs))
}

func (f *formatter) condition(d *Condition) layout.Layout {
	return layout.Concat(f.token(), layout.Text(" "), f.token(), layout.Text(" "), f.expr(d.Expression, true))
}

func (f *formatter) arm(d *Arm) layout.Layout {
	return layout.Concat(f.token(), layout.Text(" "), f.token(), f.attrsInBraces(d.Attrs))
}

func (f *formatter) action(d *Action) layout.Layout {
	l := layout.Concat(f.token(), layout.Text(" "), f.token(), f.inputs(d.Reads))
	for _, clause := range []*Inputs{d.With, d.Returns} {
		if clause != nil {
			l = layout.Concat(l, layout.Text(" "), f.token(), layout.Text(" "), f.inputs(clause))
		}
	}
	return layout.Concat(l, f.attrsInBraces(d.Attrs))
}

func (f *formatter) inputs(in *Inputs) layout.Layout {
	return sequence(f, in.List, func(i *Input) layout.Layout {
		if i.Label == nil {
			return f.tokensTo(i.span.End)
		}
		return layout.Concat(f.token(), f.token(), layout.Text(" "), f.tokensTo(i.span.End))
	})
}

func (f *formatter) enumValue(v *EnumValue) layout.Layout {
	return layout.Concat(f.token(), f.attrsInLine(v.Attrs))
}

func (f *formatter) roleBlock(b *RoleBlock) layout.Layout {
	if b.Expression != nil {
		return layout.Concat(f.token(), layout.Text(" "), flexibleBlock(f, []Expr{b.Expression}, func(e Expr) layout.Layout { return f.expr(e, true) }))
	}
	return layout.Concat(f.token(), layout.Text(" "), flexibleBlock(f, b.Members, func(*String) layout.Layout { return f.token() }))
}

// The tree joins the blocks of an api, so their layout follows the tokens.
func (f *formatter) modelsBlock() layout.Layout {
	return layout.Concat(f.token(), layout.Text(" "), f.tokenBlock(f.apiModel))
}

func (f *formatter) apiModel() layout.Layout {
	name := f.token()
	if !f.is("{") {
		return name
	}
	return layout.Concat(name, layout.Text(" "), f.flexibleTokenBlock(func() layout.Layout {
		return layout.Concat(f.token(), layout.Text(" "), f.flexibleTokenBlock(f.token))
	}))
}
