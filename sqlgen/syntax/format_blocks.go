package syntax

import "github.com/sternpost/sternpost/sqlgen/layout"

// block is items in braces, one on each line.
func block[T any](f *formatter, items []T, item func(T) layout.Layout) layout.Layout {
	n := 0
	return f.braces(layout.LineEnd(), func() bool { return n < len(items) }, func() layout.Layout {
		n++
		return item(items[n-1])
	})
}

// flexibleBlock is items in braces that stay on one line if they were written so.
func flexibleBlock[T any](f *formatter, items []T, item func(T) layout.Layout) layout.Layout {
	n := 0
	return f.braces(f.asWritten(f.at+1), func() bool { return n < len(items) }, func() layout.Layout {
		n++
		return item(items[n-1])
	})
}

// tokenBlock is block for items that their tokens identify.
func (f *formatter) tokenBlock(item func() layout.Layout) layout.Layout {
	return f.braces(layout.LineEnd(), func() bool { return !f.is("}") }, item)
}

// flexibleTokenBlock is flexibleBlock for items that their tokens identify.
func (f *formatter) flexibleTokenBlock(item func() layout.Layout) layout.Layout {
	return f.braces(f.asWritten(f.at+1), func() bool { return !f.is("}") }, item)
}

// asWritten is the separation of items the first of which is the token at index
// i: broken if this one is on a line of its own, else if they do not fit.
func (f *formatter) asWritten(i int) layout.Layout {
	if f.between(i).breaks {
		return layout.LineEnd()
	}
	return layout.Space()
}

// braces is items in braces, each set off by kind.
func (f *formatter) braces(kind layout.Layout, more func() bool, item func() layout.Layout) layout.Layout {
	opening := f.token()
	var l []layout.Layout
	for more() {
		comments, lineBreak := f.separate(separation{kind: kind, first: len(l) == 0, blank: true})
		l = append(l, comments, lineBreak, item())
	}
	if len(l) == 0 {
		kind = layout.Gap()
	}
	comments, lineBreak := f.separate(separation{kind: kind, first: len(l) == 0, blank: true, closing: true})
	return layout.Group(opening, layout.Indent(append(l, comments)...), lineBreak, f.token())
}

// sequence is items in brackets, with commas between them.
func sequence[T any](f *formatter, items []T, item func(T) layout.Layout) layout.Layout {
	opening := f.token()
	kind := layout.Gap()
	var l []layout.Layout
	for i, it := range items {
		comments, lineBreak := f.separate(separation{kind: kind})
		l = append(l, comments, lineBreak, item(it))
		if i < len(items)-1 {
			l = append(l, f.token())
		} else if f.is(",") {
			f.drop()
		}
		kind = layout.Space()
	}
	comments, lineBreak := f.separate(separation{kind: layout.Gap(), closing: true})
	return layout.Group(opening, layout.Indent(append(l, comments)...), lineBreak, f.token())
}

// drop leaves out the next token; the comments before it go to the one after.
func (f *formatter) drop() {
	dropped := f.tokens[f.at].Leading
	f.at++
	if hasComments(dropped) {
		next := &f.tokens[f.at]
		next.Leading = append(append([]Trivia(nil), dropped...), next.Leading...)
	}
}

// openAttrs passes over the brace before attributes, if there is one, and
// returns what to do after the last attribute. It reports whether the braces
// are held by a comment before the closing one; then nothing was passed over.
func (f *formatter) openAttrs(attrs []*Attribute) (closeAttrs func(), held bool) {
	if !f.is("{") {
		return func() {}, false
	}
	closing := f.indexAt(attrs[len(attrs)-1].span.End)
	if hasComments(f.tokens[closing].Leading) {
		return nil, true
	}
	f.drop()
	return func() { f.at++ }, false
}

// attrsInLine is the attributes of a field or enum value, with braces only if
// they are broken over lines.
func (f *formatter) attrsInLine(attrs []*Attribute) layout.Layout {
	if len(attrs) == 0 {
		return layout.Concat()
	}
	closeAttrs, held := f.openAttrs(attrs)
	if held {
		return layout.Concat(layout.Text(" "), block(f, attrs, f.attribute))
	}
	var l []layout.Layout
	for _, a := range attrs {
		comments, lineBreak := f.separate(separation{kind: layout.Space()})
		l = append(l, comments, lineBreak, f.attribute(a))
	}
	closeAttrs()
	return layout.Group(
		layout.IfBroken(layout.Text(" {"), layout.Concat()),
		layout.Indent(l...),
		layout.IfBroken(layout.Concat(layout.Gap(), layout.Text("}")), layout.Concat()),
	)
}

// attrsInBraces is the attributes of an action or arm.
func (f *formatter) attrsInBraces(attrs []*Attribute) layout.Layout {
	if len(attrs) == 0 {
		return layout.Concat()
	}
	closeAttrs, held := f.openAttrs(attrs)
	if held {
		return layout.Concat(layout.Text(" "), block(f, attrs, f.attribute))
	}
	kind := f.asWritten(f.at)
	var l []layout.Layout
	for i, a := range attrs {
		comments, lineBreak := f.separate(separation{kind: kind, first: i == 0, blank: true})
		l = append(l, comments, lineBreak, f.attribute(a))
	}
	closeAttrs()
	return layout.Group(layout.Text(" {"), layout.Indent(l...), layout.Space(), layout.Text("}"))
}
