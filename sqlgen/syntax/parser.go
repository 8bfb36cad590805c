package syntax

import "strings"

// maxNesting bounds how deep brackets and negations nest in an expression, and
// maxOperators how many operators it has, so that anyone who walks a tree may
// recurse.
const (
	maxNesting   = 200
	maxOperators = 10_000
)

// parser builds the tree of one file by recursive descent, one method for each
// production. What does not parse is reported and left out, and reading goes on
// at the next field, action or declaration.
type parser struct {
	src    *Source
	tokens []Token
	at     int // index of the token to be read next
	errs   *Errors

	reportedAt int  // index of the token at which an error was last reported: one place, one error
	losses     int  // how often something was left out of the tree
	hidBrace   int  // index of the last token read that is a text without end with a "}" in it, -1 if none
	hidParen   int  // the same of ")"
	abandoned  bool // whether the declaration was given up because the next one begins inside it
	depth      int  // of nesting in the expression being read
	operators  int  // in the expression being read
}

// Parse parses a file. It reports every error it finds to errs and returns what
// did parse.
//
//	File = { Decl } ;
func Parse(src *Source, errs *Errors) *File {
	tokens, sound := scan(src, errs)
	p := &parser{src: src, tokens: tokens, errs: errs, reportedAt: -1, hidBrace: -1, hidParen: -1}
	file := &File{Source: src, Tokens: tokens}
	for p.token().Kind != TokenEOF {
		if d := p.declOrNil(); d != nil {
			file.Decls = append(file.Decls, d)
		}
	}
	p.reportFaults()
	file.span = Span{File: src, Start: Pos{Line: 1, Column: 1}, End: p.token().Span.End}
	file.incomplete = p.losses > 0 || !sound
	return file
}

// keywords are the words that begin a declaration.
var keywords = [...]string{"model", "union", "enum", "message", "role", "api", "job", "flow", "task", "routes"}

// declOrNil parses one declaration, or skips anything else.
//
//	Decl = Model | Union | Enum | Message | Role | Api | Job | Later ;
func (p *parser) declOrNil() Decl {
	p.abandoned = false
	keyword := p.token()
	if keyword.Kind == TokenName && p.peek(1).Kind == TokenName && p.peek(2).is("{") && !isKeyword(keyword.Text) {
		if meant := Suggest(keyword.Text, keywords[:]); meant != "" {
			p.fail(misspelled(keyword.Text, meant))
			return p.declOfKind(meant)
		}
	}
	if keyword.Kind == TokenName && isKeyword(keyword.Text) {
		return p.declOfKind(keyword.Text)
	}
	switch {
	case keyword.is("}"):
		p.fail(closesNothing())
		for p.token().is("}") {
			p.skip()
		}
		return nil
	case keyword.is("@"), keyword.Kind == TokenName && p.peek(1).is("{"):
		p.fail(outsideDeclaration(keyword))
	default:
		p.fail(expectedDeclaration(keyword))
	}
	p.skipToDecl()
	return nil
}

// declOfKind parses a declaration that begins with a keyword, or with a word meant
// as one.
func (p *parser) declOfKind(keyword string) Decl {
	m, doc := p.mark(), p.docOrNil()
	if isLater(keyword) {
		return p.laterOrNil(m, doc)
	}
	p.next()
	name := p.declNameOrNil(keyword)
	var d Decl
	switch keyword {
	case "model":
		d = p.model(m, doc, name)
	case "union":
		d = p.union(m, doc, name)
	case "enum":
		d = p.enum(m, doc, name)
	case "message":
		d = p.message(m, doc, name)
	case "role":
		d = p.role(m, doc, name)
	case "api":
		d = p.api(m, doc, name)
	case "job":
		d = p.job(m, doc, name)
	default:
		panic("syntax: no declaration begins with " + keyword)
	}
	if name == nil {
		return nil
	}
	return d
}

// declNameOrNil parses the name of a declaration.
func (p *parser) declNameOrNil(keyword string) *Ident {
	if p.token().Kind != TokenName {
		p.failAfter(expectedDeclarationName(keyword, p.token()))
		return nil
	}
	return p.newName(keyword)
}

// laterOrNil parses a declaration of a later stage and passes over its body.
//
//	Later = ( "flow" | "task" ) Name Block | "routes" Block ;
func (p *parser) laterOrNil(m mark, doc *Doc) Decl {
	d := &Later{Doc: doc, Keyword: p.ident()}
	p.errs.Add(NotSupportedYet, d.Keyword.span, laterDeclaration(d.Keyword.Name))
	if d.Keyword.Name != "routes" {
		if p.token().Kind != TokenName {
			p.failAfter(expectedDeclarationName(d.Keyword.Name, p.token()))
			p.skipToDecl()
			return nil
		}
		d.Name = p.ident()
	}
	if !p.token().is("{") {
		p.failAfter(expectedOpeningBrace(d.Keyword.Name, p.token()))
		p.skipToDecl()
	} else if open := p.at; !p.skipBalanced() {
		p.failNotClosed(open, d.Keyword.Name)
	}
	d.node = p.node(m)
	return d
}

// ownerOf names a declaration in a message; the name is nil if it is missing.
func ownerOf(keyword string, name *Ident) string {
	if name == nil {
		return keyword
	}
	return keyword + " " + name.Name
}

func isKeyword(name string) bool {
	for _, k := range keywords {
		if k == name {
			return true
		}
	}
	return false
}

func isLater(keyword string) bool {
	return keyword == "flow" || keyword == "task" || keyword == "routes"
}

// token returns the token to be read next.
func (p *parser) token() *Token { return &p.tokens[p.at] }

// peek returns the token n places further on, the end of the file if it comes before.
func (p *parser) peek(n int) *Token {
	return &p.tokens[min(p.at+n, len(p.tokens)-1)]
}

// next reads one token, and reports errors in it.
func (p *parser) next() *Token {
	t := p.token()
	p.reportFaults()
	p.skip()
	return t
}

// skip passes over one token without looking at it.
func (p *parser) skip() {
	if p.at < len(p.tokens)-1 {
		if t := p.token(); t.isOpen && strings.Contains(t.Text, "}") {
			p.hidBrace = p.at
		}
		if t := p.token(); t.isOpen && strings.Contains(t.Text, ")") {
			p.hidParen = p.at
		}
		p.at++
	}
}

// take reads a token if it is the punctuation text, and reports whether it did.
func (p *parser) take(text string) bool {
	if !p.token().is(text) {
		return false
	}
	p.next()
	return true
}

// ident reads a name.
func (p *parser) ident() *Ident {
	m := p.mark()
	t := p.next()
	return &Ident{Name: t.Text, node: p.node(m)}
}

// mark is where a node begins.
type mark struct {
	at     int
	losses int
}

func (p *parser) mark() mark { return mark{p.at, p.losses} }

// node returns the place of a node that ends here.
func (p *parser) node(m mark) node {
	span := p.tokens[m.at].Span
	if p.at > m.at {
		span.End = p.tokens[p.at-1].Span.End
	} else {
		span.End = span.Start
	}
	return node{span: span, incomplete: p.losses > m.losses}
}

// docOrNil returns the description before the next token: the run of /// lines
// that ends on the line directly before it, each standing alone on its line.
func (p *parser) docOrNil() *Doc {
	leading := p.token().Leading
	first := len(leading)
	for i := len(leading) - 2; i >= 0; i -= 2 {
		alone := i > 0 && leading[i-1].Kind == LineEnd || i == 0 && p.at == 0
		if leading[i+1].Kind != LineEnd || !leading[i].isDescription() || !alone {
			break
		}
		first = i
	}
	if first == len(leading) {
		return nil
	}
	var lines []string
	for i := first; i < len(leading); i += 2 {
		text := strings.TrimPrefix(leading[i].Text, "///")
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	span := leading[first].Span
	span.End = leading[len(leading)-2].Span.End
	return &Doc{Text: strings.Join(lines, "\n"), node: node{span: span}}
}

// isDescription reports whether the trivia is a comment with exactly three
// slashes.
func (t Trivia) isDescription() bool {
	return t.Kind == LineComment && strings.HasPrefix(t.Text, "///") && !strings.HasPrefix(t.Text, "////")
}
