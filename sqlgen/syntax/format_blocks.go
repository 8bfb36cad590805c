package syntax

// block is items in braces, one on each line.
func block[T any](f *formatter, items []T, item func(T) layout) layout {
	n := 0
	return f.braces(lineEnd(), func() bool { return n < len(items) }, func() layout {
		n++
		return item(items[n-1])
	})
}

// flexibleBlock is items in braces that stay on one line if they were written so.
func flexibleBlock[T any](f *formatter, items []T, item func(T) layout) layout {
	n := 0
	return f.braces(f.asWritten(f.at+1), func() bool { return n < len(items) }, func() layout {
		n++
		return item(items[n-1])
	})
}

// tokenBlock is block for items that are told by their tokens.
func (f *formatter) tokenBlock(item func() layout) layout {
	return f.braces(lineEnd(), func() bool { return !f.is("}") }, item)
}

// flexibleTokenBlock is flexibleBlock for items that are told by their tokens.
func (f *formatter) flexibleTokenBlock(item func() layout) layout {
	return f.braces(f.asWritten(f.at+1), func() bool { return !f.is("}") }, item)
}

// asWritten is the separation of items the first of which is the token at index
// i: broken if this one stands on a line of its own, else if they do not fit.
func (f *formatter) asWritten(i int) layout {
	if f.between(i).breaks {
		return lineEnd()
	}
	return space()
}

// braces is items in braces, each set off by kind.
func (f *formatter) braces(kind layout, more func() bool, item func() layout) layout {
	opening := f.token()
	var l []layout
	for more() {
		comments, lineBreak := f.separate(separation{kind: kind, first: len(l) == 0, blank: true})
		l = append(l, comments, lineBreak, item())
	}
	if len(l) == 0 {
		kind = gap()
	}
	comments, lineBreak := f.separate(separation{kind: kind, first: len(l) == 0, blank: true, closing: true})
	return group(opening, indent(append(l, comments)...), lineBreak, f.token())
}

// sequence is items in brackets, with commas between them.
func sequence[T any](f *formatter, items []T, item func(T) layout) layout {
	opening := f.token()
	kind := gap()
	var l []layout
	for i, it := range items {
		comments, lineBreak := f.separate(separation{kind: kind})
		l = append(l, comments, lineBreak, item(it))
		if i < len(items)-1 {
			l = append(l, f.token())
		} else if f.is(",") {
			f.drop()
		}
		kind = space()
	}
	comments, lineBreak := f.separate(separation{kind: gap(), closing: true})
	return group(opening, indent(append(l, comments)...), lineBreak, f.token())
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
func (f *formatter) attrsInLine(attrs []*Attribute) layout {
	if len(attrs) == 0 {
		return concat()
	}
	closeAttrs, held := f.openAttrs(attrs)
	if held {
		return concat(textOf(" "), block(f, attrs, f.attribute))
	}
	var l []layout
	for _, a := range attrs {
		comments, lineBreak := f.separate(separation{kind: space()})
		l = append(l, comments, lineBreak, f.attribute(a))
	}
	closeAttrs()
	return group(
		ifBroken(textOf(" {"), concat()),
		indent(l...),
		ifBroken(concat(gap(), textOf("}")), concat()),
	)
}

// attrsInBraces is the attributes of an action or arm.
func (f *formatter) attrsInBraces(attrs []*Attribute) layout {
	if len(attrs) == 0 {
		return concat()
	}
	closeAttrs, held := f.openAttrs(attrs)
	if held {
		return concat(textOf(" "), block(f, attrs, f.attribute))
	}
	kind := f.asWritten(f.at)
	var l []layout
	for i, a := range attrs {
		comments, lineBreak := f.separate(separation{kind: kind, first: i == 0, blank: true})
		l = append(l, comments, lineBreak, f.attribute(a))
	}
	closeAttrs()
	return group(textOf(" {"), indent(l...), space(), textOf("}"))
}
