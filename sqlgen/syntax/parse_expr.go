package syntax

import "strings"

// expr parses an expression; anything else becomes a *BadExpr.
//
//	Expr = And { "||" And } ;
func (p *parser) expr() Expr {
	if p.depth == 0 {
		p.operators = 0
	}
	m := p.mark()
	e := p.chain(m, p.and, Or)
	if p.token().is("?") {
		return p.unsupported(m, UnsupportedOperator, conditional())
	}
	return e
}

// And = Cmp { "&&" Cmp } ;
func (p *parser) and() Expr {
	return p.chain(p.mark(), p.comparison, And)
}

// comparison also accepts a chain of comparisons, which has no meaning: the checker
// knows its operands and reports it best.
//
//	Cmp = Unary [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" ) Unary ] ;
func (p *parser) comparison() Expr {
	return p.chain(p.mark(), p.unary, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual, In)
}

// chain parses operands with operators of one precedence between them.
func (p *parser) chain(m mark, operand func() Expr, operators ...Operator) Expr {
	left := operand()
	for {
		op, ok := p.operator(operators)
		if !ok {
			return left
		}
		if p.operators++; p.operators > maxOperators {
			p.fail(expressionTooLong())
			p.skipInBrackets(false)
			return &BadExpr{node: p.node(m)}
		}
		span := p.next().Span
		p.foreignOperator(op, span)
		b := &Binary{Op: op, OpSpan: span, Left: left, Right: operand()}
		b.node = p.node(m)
		left = b
	}
}

// foreignOperators has the operators of other languages that begin with one of this language:
// what follows that at once, and the operator that is meant.
var foreignOperators = map[Operator]struct{ rest, meant string }{
	Equal:    {"=", "=="},
	NotEqual: {"=", "!="},
	Less:     {">", "!="},
}

// foreignOperator reports an operator of another language, whose beginning has been read,
// and passes over the rest of it.
func (p *parser) foreignOperator(op Operator, read Span) {
	foreign, ok := foreignOperators[op]
	if t := p.token(); ok && t.is(foreign.rest) && t.Span.Start == read.End {
		read.End = t.Span.End
		p.failAt(read, UnsupportedOperator, foreignOperator(string(op)+foreign.rest, foreign.meant))
		p.next()
	}
}

// operator returns which of the operators is next.
func (p *parser) operator(operators []Operator) (op Operator, ok bool) {
	t := p.token()
	for _, op := range operators {
		if t.is(string(op)) || op == In && t.isName("in") {
			return op, true
		}
	}
	return "", false
}

// Sum = Term { ( "+" | "-" ) Term } ;
func (p *parser) sum() Expr {
	return p.chain(p.mark(), p.term, Add, Subtract)
}

// term also refuses a remainder, which the language has not.
//
//	Term = Factor { ( "*" | "/" ) Factor } ;
func (p *parser) term() Expr {
	m := p.mark()
	e := p.chain(m, p.factor, Multiply, Divide)
	if p.token().is("%") {
		return p.unsupported(m, UnsupportedOperator, remainder())
	}
	return e
}

// factor takes the sign of a number for a part of it.
//
//	Factor = "-" Factor | Primary ;
func (p *parser) factor() Expr {
	return p.prefixed("-", func(t *Token) bool { return t.Kind == TokenNumber }, p.primary,
		func(operand Expr, n node) Expr { return &Negative{Operand: operand, node: n} })
}

// unsupported reports the next token as something that expressions do not have,
// and passes over the rest of the expression.
func (p *parser) unsupported(m mark, code Code, message string) Expr {
	p.failAt(p.token().Span, code, message)
	p.skipInBrackets(false)
	return &BadExpr{node: p.node(m)}
}

// Unary = "!" Unary | Sum ;
func (p *parser) unary() Expr {
	return p.prefixed("!", func(*Token) bool { return false }, p.sum,
		func(operand Expr, n node) Expr { return &Not{Operand: operand, node: n} })
}

// prefixed parses any number of one sign with an operand behind them. A sign before a
// token that has it for its own is part of the operand.
func (p *parser) prefixed(sign string, hasOwn func(*Token) bool, operand func() Expr, with func(Expr, node) Expr) Expr {
	var signs []mark
	for p.token().is(sign) && !hasOwn(p.peek(1)) {
		if p.depth+len(signs) >= maxNesting {
			m := p.mark()
			p.fail(nestedTooDeeply())
			p.skipInBrackets(false)
			return &BadExpr{node: p.node(m)}
		}
		signs = append(signs, p.mark())
		p.next()
	}
	p.depth += len(signs)
	e := operand()
	p.depth -= len(signs)
	for i := len(signs) - 1; i >= 0; i-- {
		e = with(e, p.node(signs[i]))
	}
	return e
}

// Primary = Path | Literal | List | "(" Expr ")" | Path "(" Expr [ "," Expr ] ")" ;
// Literal = String | [ "-" ] Number | "true" | "false" | "null" ;
func (p *parser) primary() Expr {
	m := p.mark()
	switch t := p.token(); {
	case t.isName("true"), t.isName("false"):
		p.next()
		return p.suffix(m, &Bool{Value: t.Text == "true", node: p.node(m)})
	case t.isName("null"):
		p.next()
		return p.suffix(m, &Null{node: p.node(m)})
	case t.isWordNot() && p.peek(1).beginsValue() && !p.peek(1).is("("):
		p.failAt(t.Span, UnsupportedOperator, negationByWord(t.Text))
		p.next()
		if p.token().isWordNot() {
			p.skipInBrackets(false)
			return &BadExpr{node: p.node(m)}
		}
		return p.primary()
	case t.Kind == TokenName && t.Text != "in":
		path, ok := p.path()
		if !ok {
			return &BadExpr{node: p.node(m)}
		}
		return p.suffix(m, path)
	case t.Kind == TokenString:
		return p.suffix(m, p.stringLiteral())
	case t.Kind == TokenNumber, t.is("-") && p.peek(1).Kind == TokenNumber:
		return p.suffix(m, p.number())
	case t.is("["), t.is("("):
		if p.depth >= maxNesting {
			p.fail(nestedTooDeeply())
			p.skipBalanced()
			return &BadExpr{node: p.node(m)}
		}
		p.depth++
		e := p.bracketed(m)
		p.depth--
		return p.suffix(m, e)
	default:
		p.failAfter(expectedValue(t))
		switch {
		case t.is("{"):
			p.skipBalanced()
		case t.isName("in") && !p.peek(1).beginsValue():
			p.skip() // it stands for the value, rather than between two
			p.skipSteps()
		}
		return &BadExpr{node: p.node(m)}
	}
}

// suffix parses a call, and refuses an index, and a call of what is not a name, after e.
func (p *parser) suffix(m mark, e Expr) Expr {
	for {
		switch t := p.token(); {
		case t.is("["):
			p.failAt(t.Span, UnsupportedOperator, indexing())
		case t.is("(") && isCallable(e):
			if p.depth >= maxNesting {
				p.fail(nestedTooDeeply())
				p.skipBalanced()
				return &BadExpr{node: p.node(m)}
			}
			p.depth++
			e = p.call(m, &Ident{Name: e.(*Path).String(), node: e.(*Path).node})
			p.depth--
			continue
		case t.is("("):
			p.failAt(t.Span, UnsupportedOperator, callOf(e))
		default:
			return e
		}
		p.skipBalanced()
		p.skipSteps()
		e = &BadExpr{node: p.node(m)}
	}
}

// call parses the text behind the name of a function.
func (p *parser) call(m mark, name *Ident) Expr {
	call := &Call{Name: name}
	p.list(brackets{closing: ")"}, func() { call.Args = append(call.Args, p.expr()) })
	call.node = p.node(m)
	return call
}

// isCallable tells whether an expression is what the name of a function may be. The checker knows the functions.
func isCallable(e Expr) bool {
	path, ok := e.(*Path)
	return ok && (len(path.Steps) == 1 && !isWordNot(path.Steps[0].Name) || path.String() == SignedInWithin)
}

// SignedInWithin is the function that takes how long ago the caller showed a credential at most.
const SignedInWithin = "ctx.signedInWithin"

// skipSteps skips the steps of a path behind something else than a path.
func (p *parser) skipSteps() {
	for p.token().is(".") && p.peek(1).Kind == TokenName {
		p.skip()
		p.skip()
	}
}

// beginsValue reports whether an operand can begin with the token.
func (t *Token) beginsValue() bool {
	switch t.Kind {
	case TokenName:
		return t.Text != "in"
	case TokenString, TokenNumber:
		return true
	}
	return t.is("(") || t.is("[") || t.is("-") || t.is("!")
}

// isWordNot tells whether a token is the negation of other languages.
func (t *Token) isWordNot() bool { return t.Kind == TokenName && isWordNot(t.Text) }

func isWordNot(name string) bool { return strings.EqualFold(name, "not") }

// bracketed parses a list or an expression in parentheses.
//
//	List = "[" [ Expr { "," Expr } ] "]" ;
func (p *parser) bracketed(m mark) Expr {
	if p.token().is("[") {
		l := &List{}
		p.list(brackets{closing: "]"}, func() { l.Elements = append(l.Elements, p.expr()) })
		l.node = p.node(m)
		return l
	}
	opening := p.next()
	inner := p.expr()
	if !p.take(")") {
		p.failAfter(expectedClosingParen(p.token()), Note{opening.Span, opensHere("(")})
		for p.skipInBrackets(false); p.token().is(","); p.skipInBrackets(false) {
			p.skip()
		}
		p.take(")")
	}
	return &Paren{Inner: inner, node: p.node(m)}
}

// path parses a path, and reports whether it is whole.
//
//	Path = Name { "." Name } ;
func (p *parser) path() (path *Path, ok bool) {
	m := p.mark()
	path = &Path{Steps: []*Ident{p.ident()}}
	for p.take(".") {
		if p.token().Kind != TokenName {
			p.failAfter(expectedNameAfterDot(p.token()))
			return nil, false
		}
		path.Steps = append(path.Steps, p.ident())
	}
	path.node = p.node(m)
	return path, true
}

// stringLiteral parses a text literal; one with mistakes in it becomes a *BadExpr.
func (p *parser) stringLiteral() Expr {
	m := p.mark()
	t := p.next()
	if p.losses > m.losses {
		if p.token().startsLine() || p.token().Kind == TokenEOF {
			p.reportedAt = p.at // a text that is not closed hides what should close the rest
		}
		return &BadExpr{node: p.node(m)}
	}
	return &String{Value: t.value, text: t.Text, node: p.node(m)}
}

// number parses a number with its sign; one with mistakes in it becomes a *BadExpr.
func (p *parser) number() Expr {
	m := p.mark()
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	t := p.next()
	if p.losses > m.losses {
		return &BadExpr{node: p.node(m)}
	}
	return &Number{Text: sign + t.Text, IsInteger: isInteger(t.Text), node: p.node(m)}
}

// isInteger reports whether a number has neither fraction nor exponent.
func isInteger(number string) bool {
	for _, r := range number {
		if !isDigit(r) {
			return false
		}
	}
	return true
}
