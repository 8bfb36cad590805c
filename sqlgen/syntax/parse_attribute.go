package syntax

// attrs parses the attributes of a field, arm, action or enum value.
//
//	Attrs = Attr { Attr } | "{" Attr { Attr } "}" ;
func (p *parser) attrs(owner string) []*Attribute {
	var attrs []*Attribute
	if !p.token().is("{") {
		for p.token().is("@") {
			if a := p.attributeOrNil(); a != nil {
				attrs = append(attrs, a)
			}
		}
		return attrs
	}
	if p.peek(1).is("}") {
		p.next()
		p.fail(noAttributes())
		p.next()
		return nil
	}
	p.block(owner, func() bool {
		switch t := p.token(); {
		case t.is("@"):
			if a := p.attributeOrNil(); a != nil {
				attrs = append(attrs, a)
			}
		case p.atMemberBlock(), t.startsLine() && p.atItem():
			return false
		default:
			p.fail(expectedAttribute(t))
			p.skip()
			p.skipToItem()
		}
		return true
	})
	return attrs
}

// attributeOrNil parses an attribute.
//
//	Attr = "@" Name [ "(" [ Arg { "," Arg } ] ")" ] ;
func (p *parser) attributeOrNil() *Attribute {
	m := p.mark()
	p.next()
	if p.token().Kind != TokenName {
		p.failAfter(expectedAttributeName(p.token()))
		return nil
	}
	a := &Attribute{Name: p.ident()}
	a.Later = isLaterAttribute(a.Name.Name)
	a.Parens = p.token().is("(")
	switch {
	case a.Later:
		p.errs.Add(NotSupportedYet, p.node(m).span, laterAttribute(a.Name.Name))
		if open := p.at; a.Parens && !p.skipBalanced() {
			p.failNotClosed(open, "")
		}
	case a.Parens:
		p.list(brackets{closing: ")"}, func() {
			if arg := p.argOrNil(); arg != nil {
				a.Args = append(a.Args, arg)
			}
		})
	}
	a.node = p.node(m)
	return a
}

func isLaterAttribute(name string) bool {
	return name == "search"
}

// argOrNil parses an argument of an attribute.
//
//	Arg = [ Name ":" ] ( Path "=" Expr | Expr ) ;
func (p *parser) argOrNil() *Arg {
	m := p.mark()
	arg := &Arg{}
	if p.token().Kind == TokenName && p.peek(1).is(":") {
		arg.Label = p.ident()
		p.next()
	}
	arg.Value = p.expr()
	if p.token().is("=") {
		if target, ok := arg.Value.(*Path); ok {
			p.next()
			arg.Target = target
			arg.Value = p.expr()
		} else {
			p.fail(assignmentToNoPath())
			p.skip()
			p.expr()
			arg.Value = &BadExpr{node: p.node(m)}
		}
	}
	arg.node = p.node(m)
	return arg
}
