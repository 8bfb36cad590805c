package syntax

// actions parses actions in braces.
//
//	Actions = "actions" "{" { Action } "}" ;
func (p *parser) actions() []*Action {
	var actions []*Action
	p.block("actions block", func() bool {
		switch t := p.token(); {
		case p.looksLikeDecl():
			p.abandoned = true
			return false
		case p.atMemberBlock():
			return false
		case t.Kind == TokenName:
			p.action(&actions)
		case t.is("@"):
			p.fail(attributeWithoutBearer("action"))
			p.attributeOrNil()
		default:
			p.fail(expectedAction(t))
			p.skipToItem()
		}
		return true
	})
	return actions
}

// action parses an action and appends it to actions.
//
//	Action = Name Name "(" [ Inputs ] ")" [ "with" "(" [ Inputs ] ")" ]
//	         [ "returns" "(" Inputs ")" ] [ Attrs ] ;
func (p *parser) action(actions *[]*Action) {
	m := p.mark()
	a := &Action{Doc: p.docOrNil(), Kind: p.ident()}
	if p.token().Kind != TokenName || p.looksLikeDecl() {
		p.failAfter(actionWithoutName(a.Kind.Name, p.token()))
		p.skipToItem()
		return
	}
	a.Name = p.newName("action")
	if p.token().is("(") {
		a.Reads = p.inputs()
	} else {
		p.failAfter(actionWithoutInputs(a.Name.Name, p.token()))
		a.Reads = &Inputs{node: p.node(p.mark())}
		a.Reads.incomplete = true
	}
	for keyword := p.token(); p.atClause(); keyword = p.token() {
		inputs := p.clauseOrNil()
		switch {
		case inputs == nil:
		case keyword.Text == "with" && a.With == nil:
			a.With = inputs
			if a.Returns != nil {
				p.failAt(keyword.Span, Syntax, withAfterReturns())
			}
		case keyword.Text == "returns" && a.Returns == nil:
			a.Returns = inputs
			if len(inputs.List) == 0 && !inputs.incomplete {
				p.failAt(inputs.span, Syntax, returnsNothing())
			}
		default:
			p.failAt(keyword.Span, Syntax, clauseRepeated(keyword.Text))
		}
	}
	a.Attrs = p.attrs("action " + a.Name.Name)
	a.node = p.node(m)
	*actions = append(*actions, a)
}

// atClause reports whether a with or returns clause is next. The name and bracket that
// follow show that with or returns was written as the kind of an action.
func (p *parser) atClause() bool {
	t := p.token()
	return (t.isName("with") || t.isName("returns")) && !(p.peek(1).Kind == TokenName && p.peek(2).is("("))
}

// clauseOrNil parses a with or returns clause.
func (p *parser) clauseOrNil() *Inputs {
	keyword := p.next().Text
	if !p.token().is("(") {
		p.failAfter(expectedInputsAfter(keyword, p.token()))
		for t := p.token(); !t.startsLine() && !t.is("{") && !t.is("@") && !t.is("}"); t = p.token() {
			if t.Kind == TokenEOF {
				break
			}
			p.skip()
		}
		return nil
	}
	return p.inputs()
}

// inputs parses inputs in parentheses.
//
//	Inputs = Input { "," Input } [ "," ] ;
func (p *parser) inputs() *Inputs {
	m := p.mark()
	in := &Inputs{}
	p.list(brackets{closing: ")", ofInputs: true}, func() {
		if i := p.inputOrNil(); i != nil {
			in.List = append(in.List, i)
		}
	})
	in.node = p.node(m)
	return in
}

// inputOrNil parses an input.
//
//	Input = [ Name ":" ] Path [ "[" "]" ] [ "?" ] ;
func (p *parser) inputOrNil() *Input {
	m := p.mark()
	in := &Input{}
	if p.token().Kind == TokenName && p.peek(1).is(":") {
		in.Label = p.newName("input")
		p.next()
	}
	if in.Label != nil && p.token().is("{") {
		member := "id"
		if first := p.peek(1); first.Kind == TokenName {
			member = first.Text
		}
		p.failAfter(nestedInput(in.Label.Name, member))
		p.skipBalanced()
		return nil
	}
	if p.token().Kind != TokenName {
		p.failAfter(expectedInput(p.token()))
		return nil
	}
	path, ok := p.path()
	if !ok {
		return nil
	}
	if typ := p.token(); in.Label == nil && len(path.Steps) == 1 && typ.Kind == TokenName && !typ.startsLine() && beginsWithCapital(typ.Text) {
		p.fail(inputWithoutColon(path.Steps[0].Name, typ.Text))
		in.Label = path.Steps[0]
		if path, ok = p.path(); !ok {
			return nil
		}
	}
	in.Path = path
	in.Array, in.Optional = p.marks(path.String())
	in.node = p.node(m)
	return in
}
