package syntax

import "strings"

// fail reports that the grammar asks for something else than the next token.
// Only the first error at a token is reported; errors in the token itself go before.
func (p *parser) fail(message string, notes ...Note) {
	p.failAt(p.token().Span, Syntax, message, notes...)
}

// failAfter is fail for a missing part behind the last token read: if the next token
// is on another line, the error is shown where the missing part should be.
func (p *parser) failAfter(message string, notes ...Note) {
	span := p.token().Span
	if p.at > 0 && (p.token().startsLine() || p.token().Kind == TokenEOF) {
		span = p.tokens[p.at-1].Span
		span.Start = span.End
	}
	p.failAt(span, Syntax, message, notes...)
}

// failAt is fail for an error that is shown elsewhere or has another code.
func (p *parser) failAt(span Span, code Code, message string, notes ...Note) {
	p.losses++
	if p.reportedAt == p.at {
		return
	}
	if p.token().Kind == TokenInvalid || len(p.token().faults) > 0 {
		p.reportFaults()
	} else {
		p.errs.Add(code, span, message, notes...)
	}
	p.reportedAt = p.at
}

// reportFaults reports, once, the errors in the next token itself.
func (p *parser) reportFaults() {
	t := p.token()
	for _, f := range t.faults {
		p.losses++
		p.errs.Add(f.code, f.span, f.message)
	}
	if t.Kind == TokenInvalid {
		p.losses++
	}
	t.faults = nil
}

// failNotClosed reports that the bracket at index open lacks its other half,
// noticed at the next token. A text that is not closed may contain that half.
func (p *parser) failNotClosed(open int, owner string) {
	bracket := &p.tokens[open]
	if bracket.is("{") && p.hidBrace > open || bracket.is("(") && p.hidParen > open {
		p.losses++
		p.reportedAt = p.at
		return
	}
	if bracket.is("(") {
		p.failAt(bracket.Span, Syntax, argumentsNotClosed())
		return
	}
	p.failAt(bracket.Span, Syntax, blockNotClosed(owner), Note{p.token().Span, noticedHere(p.token())})
}

// atDecl reports whether a declaration begins here, in a place where none can,
// which tells that a brace was left open. A field or enum value whose name is a
// keyword looks almost the same: what follows its brace is an attribute.
func (p *parser) atDecl() bool {
	brace := p.declBrace()
	return brace > 0 && !p.peek(brace+1).is("@")
}

// looksLikeDecl is atDecl for places where fields and enum values cannot stand.
func (p *parser) looksLikeDecl() bool { return p.declBrace() > 0 }

// declBrace returns how far ahead the opening brace of a declaration is that
// seems to begin here, 0 if none does.
func (p *parser) declBrace() int {
	t := p.token()
	switch {
	case t.Kind != TokenName || !isKeyword(t.Text):
		return 0
	case t.Text == "routes" && p.peek(1).is("{"):
		return 1
	case t.Text != "routes" && p.peek(1).Kind == TokenName && p.peek(2).is("{"):
		return 2
	}
	return 0
}

// skipToDecl skips at least one token: up to the next declaration, or to text that looks
// like one at the very beginning of a line.
func (p *parser) skipToDecl() {
	for first := true; p.token().Kind != TokenEOF; first = false {
		t := p.token()
		looksLike := t.Kind == TokenName && (isKeyword(t.Text) || p.peek(1).Kind == TokenName && p.peek(2).is("{"))
		if !first && (p.atDecl() || looksLike && t.Span.Start.Column == 1) {
			return
		}
		p.skip()
	}
}

// skipToItem passes over the rest of a broken field, arm or action: up to a name
// that begins a line, or that looks like the beginning of the next one on the
// same line, or to the end of the block.
func (p *parser) skipToItem() {
	for {
		t := p.token()
		switch {
		case t.Kind == TokenEOF, t.is("}"), p.atDecl():
			return
		case t.Kind == TokenName && (t.startsLine() || p.atItem() && !p.peek(1).startsLine() && !beginsWithCapital(t.Text)):
			return
		case t.is("@") && t.startsLine():
			return
		case isOpening(t):
			p.skipBalanced()
		default:
			p.skip()
		}
	}
}

// skipToName skips to the next value of an enum, or name in an api, or to the end of
// the block.
func (p *parser) skipToName() {
	for t := p.token(); t.Kind != TokenName && t.Kind != TokenEOF && !t.is("}"); t = p.token() {
		if isOpening(t) {
			p.skipBalanced()
		} else {
			p.skip()
		}
	}
}

// skipInBrackets passes over the rest of a broken argument: up to the next
// comma or closing bracket, or to something that shows that the bracket was
// never closed: an attribute, a declaration, a line that begins with two names, a brace that
// closes something further out. Of inputs, an opening brace shows it too.
func (p *parser) skipInBrackets(ofInputs bool) {
	for {
		t := p.token()
		switch {
		case t.Kind == TokenEOF, t.is(","), t.is(")"), t.is("]"), t.is("}"), t.is("@"), t.is("{") && ofInputs, p.atDecl():
			return
		case t.startsLine() && p.atItem() && !isOperatorWord(t.Text) && !isOperatorWord(p.peek(1).Text):
			return
		case isOpening(t):
			p.skipBalanced()
		default:
			p.skip()
		}
	}
}

// isOperatorWord reports whether a name is an operator, or taken for one.
func isOperatorWord(name string) bool {
	_, isForeign := operatorWords[strings.ToLower(name)]
	return name == "in" || isForeign
}

// skipBalanced passes over an opening bracket and everything up to its other
// half, and reports whether there is one. It stops at a brace that closes
// something further out.
func (p *parser) skipBalanced() bool {
	var open []string
	for {
		t := p.token()
		switch {
		case t.Kind == TokenEOF:
			return false
		case isOpening(t):
			open = append(open, t.Text)
		case t.is("}"):
			for len(open) > 0 && open[len(open)-1] != "{" {
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				return false
			}
			open = open[:len(open)-1]
		case t.is(")") && open[len(open)-1] == "(", t.is("]") && open[len(open)-1] == "[":
			open = open[:len(open)-1]
		}
		p.skip()
		if len(open) == 0 {
			return true
		}
	}
}

func isOpening(t *Token) bool { return t.is("(") || t.is("[") || t.is("{") }

// block parses the items of a block in braces. Instead of reading an item, the
// function returns false if what follows shows that the block was left open.
func (p *parser) block(owner string, item func() bool) {
	open, ok := p.openBlock(owner)
	if !ok {
		return
	}
	p.items(open, owner, item)
}

// openBlock reads the opening brace of a block and returns its index. If it is
// missing, reading goes on as if it were there, unless nothing like a block
// follows; its place is then that of the token before.
func (p *parser) openBlock(owner string) (open int, ok bool) {
	if p.take("{") {
		return p.at - 1, true
	}
	p.failAfter(expectedOpeningBrace(owner, p.token()))
	for t := p.token(); !t.startsLine() && !p.atInnerBlock(); t = p.token() {
		if p.take("{") {
			return p.at - 1, true
		}
		if t.Kind == TokenEOF || t.is("}") {
			break
		}
		p.skip()
	}
	return p.at - 1, p.token().Kind != TokenEOF && !p.token().is("}") && !p.atDecl()
}

// atInnerBlock reports whether a block begins here that is in others.
func (p *parser) atInnerBlock() bool {
	switch p.token().Text {
	case "fields", "conditions", "arms", "actions", "emails", "domains", "expression", "models":
		return p.peek(1).is("{")
	}
	return false
}

// items parses the text between the brace at index open and its other half.
func (p *parser) items(open int, owner string, item func() bool) {
	separated := false
	for !p.abandoned {
		t := p.token()
		switch {
		case t.is("}"):
			p.next()
			return
		case t.Kind == TokenEOF || p.atDecl():
			p.failNotClosed(open, owner)
			p.abandoned = true
			return
		case t.is(",") || t.Kind == TokenInvalid && t.Text == ";":
			if !separated {
				p.failAt(t.Span, Syntax, needlessSeparator(owner))
			}
			separated = true
			p.skip()
			continue
		}
		before := p.at
		if !item() {
			p.failNotClosed(open, owner)
			return
		}
		if p.at == before && !p.abandoned {
			p.skip()
		}
	}
}

// brackets are the brackets of a list.
type brackets struct {
	closing  string
	ofInputs bool // whether inputs are in it, whose last may be followed by a comma
}

// list parses comma-separated items in brackets, the next token being the
// opening one.
func (p *parser) list(b brackets, item func()) {
	opening := p.next()
	for !p.take(b.closing) {
		item()
		comma := p.at
		if p.take(",") {
			if p.token().is(b.closing) && !b.ofInputs && p.reportedAt != comma {
				p.failAt(p.tokens[comma].Span, Syntax, trailingComma())
			}
			continue
		}
		if p.token().is(b.closing) {
			continue
		}
		p.failAfter(expectedListEnd(b.closing, p.token()), Note{opening.Span, opensHere(opening.Text)})
		p.skipInBrackets(b.ofInputs)
		switch t := p.token(); {
		case t.is(","):
			p.skip()
		case t.is(b.closing):
		case t.is("]"):
			p.skip() // closes nothing: it was probably meant to be the ")"
			return
		default:
			return
		}
	}
}
