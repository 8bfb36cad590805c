package syntax

// enum parses the rest of an enum declaration.
//
//	Enum = "enum" Name "{" { Name [ Attrs ] } "}" ;
func (p *parser) enum(m mark, doc *Doc, name *Ident) *Enum {
	d := &Enum{Doc: doc, Name: name}
	p.block(ownerOf("enum", name), func() bool {
		if p.token().Kind != TokenName {
			p.fail(expectedEnumValue(p.token()))
			p.skipToName()
			return true
		}
		m := p.mark()
		v := &EnumValue{Doc: p.docOrNil(), Name: p.newName("enum value")}
		v.Attrs = p.attrs("value " + v.Name.Name)
		v.node = p.node(m)
		d.Values = append(d.Values, v)
		return true
	})
	d.node = p.node(m)
	return d
}

// role parses the rest of a role declaration.
//
//	Role = "role" Name "{" { ( "emails" | "domains" ) "{" { String } "}" | "expression" "{" Expr "}" } "}" ;
func (p *parser) role(m mark, doc *Doc, name *Ident) *Role {
	d := &Role{Doc: doc, Name: name}
	p.block(ownerOf("role", name), func() bool {
		t := p.token()
		if t.isName("expression") && p.peek(1).is("{") {
			d.Blocks = append(d.Blocks, p.roleExpression())
			return true
		}
		if !t.isName("emails") && !t.isName("domains") {
			p.fail(expectedRoleBlock(t))
			p.skip()
			p.skipToItem()
			return true
		}
		m := p.mark()
		b := &RoleBlock{Keyword: p.ident()}
		p.block(b.Keyword.Name+" block", func() bool {
			if p.token().Kind != TokenString {
				p.fail(expectedRoleMember(b.Keyword.Name, p.token()))
				p.skipToString()
				return true
			}
			if s, ok := p.stringLiteral().(*String); ok {
				b.Members = append(b.Members, s)
			}
			return true
		})
		b.node = p.node(m)
		d.Blocks = append(d.Blocks, b)
		return true
	})
	d.node = p.node(m)
	return d
}

// roleExpression parses the expression of a role.
func (p *parser) roleExpression() *RoleBlock {
	m := p.mark()
	b := &RoleBlock{Keyword: p.ident()}
	p.block("expression block", func() bool {
		if b.Expression != nil {
			p.fail(expectedEndOfRoleExpression(p.token()))
			p.skip()
			return true
		}
		b.Expression = p.expr()
		return true
	})
	b.node = p.node(m)
	return b
}

// skipToString skips to the next member of a role, to the next line or to the end of
// the block.
func (p *parser) skipToString() {
	p.skip()
	for t := p.token(); t.Kind != TokenString && t.Kind != TokenEOF && !t.startsLine() && !t.is("}"); t = p.token() {
		p.skip()
	}
}

// api parses the rest of an api declaration.
//
//	Api = "api" Name "{" { "models" "{" { ApiModel } "}" } "}" ;
func (p *parser) api(m mark, doc *Doc, name *Ident) *API {
	d := &API{Doc: doc, Name: name}
	p.block(ownerOf("api", name), func() bool {
		if !p.token().isName("models") {
			p.fail(expectedModelsBlock(p.token()))
			p.skip()
			p.skipToItem()
			return true
		}
		p.next()
		p.block("models block", func() bool {
			if p.token().Kind != TokenName {
				p.fail(expectedAPIModel(p.token()))
				p.skipToName()
				return true
			}
			d.Models = append(d.Models, p.apiModel())
			return true
		})
		return true
	})
	d.node = p.node(m)
	return d
}

// apiModel parses a model of an api.
//
//	ApiModel = Name [ "{" { "actions" "{" { Name } "}" } "}" ] ;
func (p *parser) apiModel() *APIModel {
	m := p.mark()
	a := &APIModel{Name: p.ident()}
	if p.token().is("{") {
		p.block("model "+a.Name.Name, func() bool {
			if !p.token().isName("actions") {
				p.fail(expectedActionsBlock(p.token()))
				p.skip()
				p.skipToItem()
				return true
			}
			a.Listed = true
			p.next()
			p.block("actions block", func() bool {
				if p.token().Kind != TokenName {
					p.fail(expectedActionName(p.token()))
					p.skipToName()
					return true
				}
				a.Actions = append(a.Actions, p.ident())
				return true
			})
			return true
		})
	}
	a.node = p.node(m)
	return a
}

// job parses the rest of a job declaration.
//
//	Job = "job" Name "{" { "inputs" "{" { Field } "}" | Attr } "}" ;
func (p *parser) job(m mark, doc *Doc, name *Ident) *Job {
	d := &Job{Doc: doc, Name: name}
	p.block(ownerOf("job", name), func() bool {
		m := p.mark()
		switch t := p.token(); {
		case p.looksLikeDecl():
			p.abandoned = true
			return false
		case t.is("@"):
			if a := p.attributeOrNil(); a != nil {
				d.Members = append(d.Members, a)
			}
		case t.isName("inputs"):
			p.next()
			b := &FieldsBlock{Fields: p.fields("inputs block")}
			b.node = p.node(m)
			d.Members = append(d.Members, b)
		default:
			p.fail(expectedJobMember(t))
			p.skip()
			p.skipToItem()
		}
		return true
	})
	d.node = p.node(m)
	return d
}
