package lsp

import (
	"unicode"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// slot is the kind of a place in the language.
type slot int

const (
	slotNothing     slot = iota // nothing that could be named
	slotDeclaration             // the word that begins a declaration
	slotNew                     // a name that is declared here
	slotMember                  // a block of a model or union, or an attribute
	slotType                    // the type of a field or labelled input
	slotModel                   // the model of an arm, or of an api
	slotKind                    // the kind of an action
	slotClause                  // what may follow the inputs of an action
	slotInput                   // a path or type as input
	slotBlock                   // a block of a role or api
	slotAPIAction               // an action in an api
	slotAttribute               // an attribute
	slotArgument                // an argument of an attribute
)

// cursor is a place in a schema file, determined by the tokens before it: the rest need
// not be written yet.
type cursor struct {
	file       *syntax.File
	start, end int    // of the word at the place; if there is none, both are the place
	word       string // "" if there is none
	slot       slot
	path       []string // the names before the word, each with a dot behind it

	keyword   string          // of the declaration around it, "" at the top
	owner     *syntax.Token   // the declaration's name; nil means not known
	block     string          // the block around it: fields, actions, …, or as keyword
	item      []*syntax.Token // the names of the item around or before it: a field's name and type, an action's kind and name, …
	attribute string          // the attribute in whose parentheses it is, or ""
	label     string          // the label before it there
	assigned  bool            // whether it is right of =
	first     bool            // whether it begins an argument
	isLabel   bool            // whether the word is a label itself
	against   []string        // the path that it is compared with or assigned to; nil means none, or more than a path
	operator  string          // between the two
	clause    string          // of inputs: reads, with or returns
	rest      []string        // the names behind the word, each with a dot before it
	call      string          // the function whose arguments it is in, or ""
	argument  int             // the index of the argument in the attribute or call
	afterAt   bool            // whether an @ is before it
}

// name returns the n-th name of the item at the place, such as a field's type.
func (s *cursor) name(n int) string {
	if n < len(s.item) {
		return s.item[n].Text
	}
	return ""
}

// cursorAt returns the actual or possible content at a place. A word reaches to the place
// behind its last letter.
func cursorAt(file *syntax.File, offset int) *cursor {
	s := &cursor{file: file, start: offset, end: offset}
	at := 0 // the first token that does not end before the place
	for file.Tokens[at].Kind != syntax.TokenEOF && file.Tokens[at].Span.End.Offset < offset {
		at++
	}
	t := &file.Tokens[at]
	if t.Kind != syntax.TokenName && t.Kind != syntax.TokenEOF && t.Span.End.Offset == offset {
		if t.Kind != syntax.TokenPunctuation {
			return s
		}
		at++ // directly behind a bracket or dot
		t = &file.Tokens[at]
	}
	switch {
	case inComment(t, offset), t.Kind != syntax.TokenName && t.Kind != syntax.TokenPunctuation && t.Span.Start.Offset < offset:
		return s
	case t.Kind == syntax.TokenName && t.Span.Start.Offset <= offset:
		s.word, s.start, s.end = t.Text, t.Span.Start.Offset, t.Span.End.Offset
	}
	w := newWalk(file)
	for w.at < at {
		w.step()
	}
	w.look(s)
	return s
}

// cursorsOf returns the places of all names in a file, in their order.
func cursorsOf(file *syntax.File) []*cursor {
	var cursors []*cursor
	for w := newWalk(file); w.tokens[w.at].Kind != syntax.TokenEOF; w.step() {
		if t := &w.tokens[w.at]; t.Kind == syntax.TokenName {
			s := &cursor{file: file, word: t.Text, start: t.Span.Start.Offset, end: t.Span.End.Offset}
			w.look(s)
			cursors = append(cursors, s)
		}
	}
	return cursors
}

// look describes the current place of the walk, whose word is known.
func (w *walk) look(s *cursor) {
	at := w.at
	for i := at; i >= 2 && w.tokens[i-1].Text == "." && w.tokens[i-2].Kind == syntax.TokenName; i -= 2 {
		s.path = append([]string{w.tokens[i-2].Text}, s.path...)
	}
	s.isLabel = s.word != "" && w.tokens[at+1].Text == ":"
	for i := at + 1; s.word != "" && w.tokens[i].Text == "." && w.tokens[i+1].Kind == syntax.TokenName; i += 2 {
		s.rest = append(s.rest, w.tokens[i+1].Text)
	}
	w.readOperands(s)
	s.afterAt = at > 0 && w.tokens[at-1].Text == "@"
	w.describe(s)
}

// inComment tells whether a place is inside one of the comments before a token.
func inComment(t *syntax.Token, offset int) bool {
	for i, c := range t.Leading {
		end := c.Span.End.Offset - 1
		if c.Kind == syntax.LineComment {
			end = t.Span.Start.Offset // the spaces behind it included
			if i+1 < len(t.Leading) {
				end = t.Leading[i+1].Span.Start.Offset
			}
		}
		if c.Kind != syntax.LineEnd && c.Span.Start.Offset < offset && offset <= end {
			return true
		}
	}
	return false
}

// walk follows the brackets of a file token by token. It is the grammar without its
// details: it goes on after every mistake, and a declaration at the beginning of a line
// brings it back to the top.
type walk struct {
	tokens []syntax.Token
	at     int
	stack  []*frame
}

func newWalk(file *syntax.File) *walk {
	return &walk{tokens: file.Tokens, stack: []*frame{{kind: "file"}}}
}

// frame is an open bracket and the last item in it.
type frame struct {
	kind      string          // the block's keyword, or: file, attributes, inputs, arguments, group, skipped
	opening   string          // the bracket
	item      []*syntax.Token // its names
	attribute string          // the attribute read last; "@" means that its name is next
	label     string          // in inputs and arguments: before the colon
	assigned  bool            // in arguments: whether = was read
	clause    string          // of inputs: reads, with or returns
	call      string          // of a group: the name before it
	commas    int             // how many there are in it so far
}

func (w *walk) top() *frame { return w.stack[len(w.stack)-1] }

func (w *walk) push(kind, opening string) {
	w.stack = append(w.stack, &frame{kind: kind, opening: opening})
}

func (w *walk) pop() { w.stack = w.stack[:len(w.stack)-1] }

// closeParentheses goes back to the innermost brace.
func (w *walk) closeParentheses() {
	for w.top().opening == "(" || w.top().opening == "[" {
		w.pop()
	}
}

func (w *walk) step() {
	t := &w.tokens[w.at]
	if w.atDeclaration() {
		w.stack = []*frame{{kind: "file"}}
	}
	switch {
	case t.Kind == syntax.TokenName:
		w.name(t)
	case t.Kind != syntax.TokenPunctuation:
	case t.Text == "@":
		w.closeParentheses()
		w.top().attribute = "@"
	case t.Text == "{":
		w.brace()
	case t.Text == "}":
		w.closeParentheses()
		if len(w.stack) > 1 {
			w.pop()
			w.top().attribute = ""
		}
	case t.Text == "(", t.Text == "[":
		w.bracket(t.Text)
	case t.Text == ")", t.Text == "]":
		if opening := w.top().opening; opening == "(" || opening == "[" {
			w.pop()
		}
	case t.Text == ",":
		w.top().label, w.top().assigned = "", false
		w.top().commas++
	case t.Text == ":":
		w.top().label = w.tokens[max(w.at-1, 0)].Text
	case t.Text == "=":
		w.top().assigned = true
	}
	w.at++
}

// atDeclaration tells whether a declaration begins here. The attribute behind its brace
// shows that a keyword is the name of a field or enum value.
func (w *walk) atDeclaration() bool {
	next := func(n int) *syntax.Token { return &w.tokens[min(w.at+n, len(w.tokens)-1)] }
	return declarationWords.has(w.tokens[w.at].Text) && next(1).Kind == syntax.TokenName &&
		next(2).Text == "{" && next(3).Text != "@"
}

// name reads a name: of an attribute, or as part of the item, or of a new one.
func (w *walk) name(t *syntax.Token) {
	// A line that begins with two names shows that a bracket was left open.
	next := &w.tokens[min(w.at+1, len(w.tokens)-1)]
	beginsItem := startsLine(t) && next.Kind == syntax.TokenName && t.Text != "in" && next.Text != "in"
	if beginsItem {
		w.closeParentheses()
		if w.top().kind == "attributes" {
			w.pop()
		}
	}
	f := w.top()
	if f.opening == "(" || f.opening == "[" {
		return
	}
	switch {
	case f.attribute == "@":
		f.attribute = t.Text
	case f.kind == "conditions" && next.Text != "=":
		// a part of the expression
	case f.kind == "actions" && w.isClause(f, t):
		f.attribute = t.Text // until its inputs are read
	default:
		if f.isComplete(t) {
			f.item = nil
		}
		f.item = append(f.item, t)
		f.attribute = ""
	}
}

// isClause tells whether a name is the with or returns of an action.
func (w *walk) isClause(f *frame, t *syntax.Token) bool {
	return len(f.item) == 2 && (t.Text == "with" || t.Text == "returns") && w.tokens[min(w.at+2, len(w.tokens)-1)].Text != "("
}

// isComplete tells whether the item has all its names, so that another name begins the
// next item.
func (f *frame) isComplete(next *syntax.Token) bool {
	switch f.kind {
	case "file", "actions":
		return len(f.item) == 2
	case "fields", "message", "arms":
		// Types do not begin with a small letter, so a line that does is the next field.
		return len(f.item) == 2 || len(f.item) == 1 && next != nil && startsLine(next) && !isCapital(next.Text)
	}
	return true
}

func (w *walk) brace() {
	f := w.top()
	kind := "skipped"
	first := ""
	if len(f.item) > 0 {
		first = f.item[0].Text
	}
	switch f.kind {
	case "file":
		if declarationWords.has(first) {
			kind = first
		}
	case "model", "union", "role", "api":
		kind = first
	case "job":
		kind = "fields" // its inputs are written as fields
	case "models":
		kind = "api model"
	case "api model":
		kind = "api actions"
	case "fields", "arms", "actions", "enum":
		kind = "attributes"
	case "inputs":
		w.closeParentheses()
		kind = "attributes"
	}
	w.push(kind, "{")
}

func (w *walk) bracket(opening string) {
	f := w.top()
	switch {
	case f.opening == "(" || f.opening == "[":
		w.push("group", opening)
		if before := &w.tokens[max(w.at-1, 0)]; opening == "(" && functionWords.has(before.Text) {
			w.top().call = before.Text
		}
	case f.kind == "actions" && len(f.item) == 2 && (f.attribute == "" || f.attribute == "with" || f.attribute == "returns"):
		clause := "reads"
		if f.attribute != "" {
			clause = f.attribute
		}
		f.attribute = ""
		w.push("inputs", opening)
		w.top().clause = clause
	case f.attribute != "":
		w.push("arguments", opening)
	default:
		w.push("group", opening)
	}
}

// describe describes the current place of the walk.
func (w *walk) describe(s *cursor) {
	f := w.top()
	if names := w.stack[0].item; len(w.stack) > 1 && len(names) == 2 {
		s.keyword, s.owner = names[0].Text, names[1]
	}
	for i, at := range w.stack {
		switch at.kind {
		case "attributes":
		case "inputs":
			s.label, s.clause = at.label, at.clause
		case "arguments":
			s.attribute, s.label, s.assigned = w.stack[i-1].attribute, at.label, at.assigned
			s.argument = at.commas
		case "group":
			if at.call != "" {
				s.call, s.argument = at.call, at.commas
			}
		default:
			s.block, s.item = at.kind, at.item
		}
	}
	if before := w.tokens[max(w.at-1, 0)].Text; f.kind == "arguments" {
		s.first = before == "(" || before == ","
	}
	s.slot = w.slot(f, s)
}

func (w *walk) slot(f *frame, s *cursor) slot {
	switch {
	case s.afterAt, f.kind == "attributes":
		return slotAttribute
	case f.kind == "inputs" && s.isLabel:
		return slotNew
	case f.kind == "inputs" && s.label != "":
		return slotType
	case f.kind == "inputs":
		return slotInput
	case f.kind == "conditions" && (s.word != "" && w.tokens[w.at+1].Text == "=" || !f.assigned):
		return slotNew
	case s.attribute != "", s.block == "expression", s.block == "conditions":
		return slotArgument
	}
	onItsLine := len(f.item) > 0 && !w.lineEndsBefore(s.start)
	behind := onItsLine && f.isComplete(nil) // behind a whole item
	begins := len(f.item) == 0 || !onItsLine || behind
	if t := &w.tokens[w.at]; behind && t.Kind == syntax.TokenPunctuation && (t.Text == "[" || t.Text == "?") {
		return slotNothing // the type goes on
	}
	if s.word != "" {
		begins = len(f.item) == 0 || f.isComplete(&w.tokens[w.at])
	}
	switch f.kind {
	case "file":
		if begins {
			return slotDeclaration
		}
		return slotNew
	case "model", "union", "job":
		return slotMember
	case "fields", "message", "arms":
		switch {
		case behind && s.word == "":
			return slotAttribute
		case begins:
			return slotNew
		case f.kind == "arms":
			return slotModel
		}
		return slotType
	case "actions":
		switch {
		case behind:
			return slotClause
		case begins:
			return slotKind
		}
		return slotNew
	case "enum":
		if behind && s.word == "" {
			return slotAttribute
		}
		return slotNew
	case "role", "api", "api model":
		if s.word == "" && blockWords.has(w.tokens[max(w.at-1, 0)].Text) {
			return slotNothing // its brace is next
		}
		return slotBlock
	case "models":
		return slotModel
	case "api actions":
		return slotAPIAction
	}
	return slotNothing
}

// lineEndsBefore tells whether a line ends between the token before the place
// and the place itself.
func (w *walk) lineEndsBefore(offset int) bool {
	for _, t := range w.tokens[w.at].Leading {
		if t.Kind == syntax.LineEnd && t.Span.Start.Offset < offset {
			return true
		}
	}
	return false
}

// startsLine tells whether a token is the first one on its line.
func startsLine(t *syntax.Token) bool {
	for _, c := range t.Leading {
		if c.Kind == syntax.LineEnd {
			return true
		}
	}
	return t.Span.Start.Offset == 0
}

func isCapital(name string) bool {
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(r)
}
