package syntax

import (
	"unicode"
	"unicode/utf8"
)

// model parses the rest of a model declaration.
//
//	Model = "model" Name "{" { Fields | Conditions | Actions | Attr } "}" ;
func (p *parser) model(m mark, doc *Doc, name *Ident) *Model {
	d := &Model{Doc: doc, Name: name, Members: p.members("model", name)}
	d.node = p.node(m)
	return d
}

// union parses the rest of a union declaration.
//
//	Union = "union" Name "{" { Fields | Arms | Actions | Attr } "}" ;
func (p *parser) union(m mark, doc *Doc, name *Ident) *Union {
	d := &Union{Doc: doc, Name: name, Members: p.members("union", name)}
	d.node = p.node(m)
	return d
}

// members parses the body of a model or union.
func (p *parser) members(keyword string, name *Ident) []Member {
	var members []Member
	owner := ownerOf(keyword, name)
	p.block(owner, func() bool {
		t, second := p.token(), p.peek(1)
		switch {
		case p.looksLikeDecl():
			p.abandoned = true
			return false
		case t.is("@"):
			if a := p.attributeOrNil(); a != nil {
				members = append(members, a)
			}
		case t.isName("fields"), t.isName("actions"), t.isName("arms"), t.isName("conditions"):
			members = p.memberBlock(members, t.Text, keyword)
		case keyword == "union" && p.atStrayArm():
			members = append(members, p.strayArms())
		case t.Kind == TokenName && second.Kind == TokenName:
			members = append(members, p.strayItems())
		case t.Kind == TokenName && second.is("{"):
			meant := Suggest(t.Text, []string{"fields", "actions", "arms", "conditions"})
			if meant == "" {
				p.fail(expectedMember(owner, keyword == "union", t))
				p.skip()
				p.skipBalanced()
				break
			}
			p.fail(misspelled(t.Text, meant))
			members = p.memberBlock(members, meant, keyword)
		default:
			p.fail(expectedMember(owner, keyword == "union", t))
			p.skip()
			p.skipToItem()
		}
		return true
	})
	return members
}

// memberBlock parses a fields, conditions, arms or actions block of a model or union, and
// appends it to members. The next token is its keyword, or was meant to be it.
func (p *parser) memberBlock(members []Member, keyword, declaration string) []Member {
	m := p.mark()
	if keyword == "arms" && declaration == "model" {
		p.fail(armsInModel())
	}
	if keyword == "conditions" && declaration == "union" {
		p.fail(conditionsInUnion())
	}
	p.next()
	switch keyword {
	case "fields":
		b := &FieldsBlock{Fields: p.fields("fields block")}
		b.node = p.node(m)
		return append(members, b)
	case "conditions":
		b := &ConditionsBlock{Conditions: p.conditions()}
		b.node = p.node(m)
		return append(members, b)
	case "actions":
		b := &ActionsBlock{Actions: p.actions()}
		b.node = p.node(m)
		return append(members, b)
	default:
		b := &ArmsBlock{Arms: p.arms()}
		b.node = p.node(m)
		if declaration == "model" {
			return members
		}
		return append(members, b)
	}
}

// strayItems parses fields, or actions, that are directly in a model or union. It
// reports one error for all in a row, and loses none of them.
func (p *parser) strayItems() Member {
	m := p.mark()
	if p.peek(2).is("(") {
		p.fail(actionOutsideBlock(p.peek(1).Text))
		b := &ActionsBlock{}
		for p.atItem() && p.peek(2).is("(") {
			p.action(&b.Actions)
		}
		b.node = p.node(m)
		return b
	}
	p.fail(fieldOutsideBlock(p.token().Text))
	b := &FieldsBlock{}
	for p.atItem() && !p.peek(2).is("(") {
		p.field(&b.Fields)
	}
	b.node = p.node(m)
	return b
}

// atStrayArm reports whether an arm with braces begins here, rather than a field.
func (p *parser) atStrayArm() bool { return p.atItem() && p.peek(2).is("{") }

// strayArms parses arms that are directly in a union: one error for all that follow each other.
func (p *parser) strayArms() Member {
	m := p.mark()
	p.fail(armOutsideBlock(p.token().Text, p.peek(1).Text))
	b := &ArmsBlock{}
	for p.atStrayArm() {
		start := p.mark()
		a := &Arm{Doc: p.docOrNil(), Name: p.newName("arm"), Model: p.ident()}
		if p.peek(1).is("}") {
			p.skipBalanced() // the braces are part of the same mistake
		} else {
			a.Attrs = p.attrs("arm " + a.Name.Name)
		}
		a.node = p.node(start)
		b.Arms = append(b.Arms, a)
	}
	b.node = p.node(m)
	return b
}

// atItem reports whether two names follow, as at the beginning of a field, arm
// or action, and no declaration.
func (p *parser) atItem() bool {
	return !p.abandoned && p.token().Kind == TokenName && p.peek(1).Kind == TokenName && !p.atDecl()
}

// atMemberBlock reports whether a fields, conditions, arms or actions block begins here, in
// a place where none can.
func (p *parser) atMemberBlock() bool {
	t := p.token()
	return (t.isName("fields") || t.isName("conditions") || t.isName("arms") || t.isName("actions")) && p.peek(1).is("{") && !p.peek(2).is("@")
}

// message parses the rest of a message declaration.
//
//	Message = "message" Name "{" { Field } "}" ;
func (p *parser) message(m mark, doc *Doc, name *Ident) *Message {
	d := &Message{Doc: doc, Name: name, Fields: p.fields(ownerOf("message", name))}
	d.node = p.node(m)
	return d
}

// fields parses fields in braces.
//
//	Fields = "fields" "{" { Field } "}" ;
func (p *parser) fields(owner string) []*Field {
	var fields []*Field
	p.block(owner, func() bool {
		switch t := p.token(); {
		case p.atMemberBlock():
			return false
		case t.Kind == TokenName:
			p.field(&fields)
		case t.is("@"):
			p.fail(attributeWithoutBearer("field"))
			p.attributeOrNil()
		default:
			p.fail(expectedField(t))
			p.skipToItem()
		}
		return true
	})
	return fields
}

// field parses a field and appends it to fields.
//
//	Field = Name Name [ "[" "]" ] [ "?" ] [ Attrs ] ;
func (p *parser) field(fields *[]*Field) {
	m := p.mark()
	f := &Field{Doc: p.docOrNil(), Name: p.newName("field")}
	if p.token().is(":") {
		p.fail(colonAfterFieldName(f.Name.Name))
		p.skip()
	}
	if p.token().is("[") && p.peek(1).Kind == TokenName {
		p.fail(arrayOf(p.peek(1).Text))
		p.skipToItem()
		return
	}
	if !p.atTypeName() {
		p.failAt(f.Name.span, Syntax, fieldWithoutType(f.Name.Name))
		p.skipToItem()
		return
	}
	f.Type = p.ident()
	if p.token().is("<") && p.peek(1).Kind == TokenName {
		p.fail(arrayOf(p.peek(1).Text))
		p.skipToItem()
		return
	}
	f.Array, f.Optional = p.marks(f.Type.Name)
	f.Attrs = p.attrs("field " + f.Name.Name)
	f.node = p.node(m)
	*fields = append(*fields, f)
}

// atTypeName reports whether the type of a field, or the model of an arm, is
// next. No type begins with a small letter; one that does, on a line of its own
// and before another name, is the next field.
func (p *parser) atTypeName() bool {
	t := p.token()
	if t.Kind != TokenName || p.atDecl() {
		return false
	}
	beginsItem := t.startsLine() && p.peek(1).Kind == TokenName && !p.peek(1).startsLine()
	return beginsWithCapital(t.Text) || !beginsItem
}

func beginsWithCapital(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first)
}

// marks parses what may follow a type.
//
//	[ "[" "]" ] [ "?" ]
func (p *parser) marks(typeName string) (array, optional *Mark) {
	array = p.arrayOrNil(typeName)
	m := p.mark()
	if p.take("?") {
		optional = &Mark{node: p.node(m)}
		if p.token().is("[") {
			p.fail(arrayAfterOptional())
			array = p.arrayOrNil(typeName)
		}
	}
	return array, optional
}

func (p *parser) arrayOrNil(typeName string) *Mark {
	m := p.mark()
	if !p.token().is("[") {
		return nil
	}
	if p.peek(1).is("]") {
		p.next()
		p.next()
	} else {
		p.fail(arrayOf(typeName))
		p.skipBalanced()
	}
	return &Mark{node: p.node(m)}
}

// conditions parses conditions in braces.
//
//	Conditions = "conditions" "{" { Name "=" Expr } "}" ;
func (p *parser) conditions() []*Condition {
	var conditions []*Condition
	p.block("conditions block", func() bool {
		m := p.mark()
		switch t := p.token(); {
		case p.atMemberBlock():
			return false
		case t.Kind != TokenName || !p.peek(1).is("="):
			p.fail(expectedCondition(t))
			p.skip()
			p.skipToItem()
		default:
			d := &Condition{Doc: p.docOrNil(), Name: p.newName("condition")}
			p.next()
			d.Expression = p.expr()
			d.node = p.node(m)
			conditions = append(conditions, d)
		}
		return true
	})
	return conditions
}

// arms parses arms in braces.
//
//	Arms = "arms" "{" { Name Name [ Attrs ] } "}" ;
func (p *parser) arms() []*Arm {
	var arms []*Arm
	p.block("arms block", func() bool {
		switch t := p.token(); {
		case p.atMemberBlock():
			return false
		case t.Kind == TokenName:
			p.arm(&arms)
		case t.is("@"):
			p.fail(attributeWithoutBearer("arm"))
			p.attributeOrNil()
		default:
			p.fail(expectedArm(t))
			p.skipToItem()
		}
		return true
	})
	return arms
}

// arm parses an arm and appends it to arms.
func (p *parser) arm(arms *[]*Arm) {
	m := p.mark()
	a := &Arm{Doc: p.docOrNil(), Name: p.newName("arm")}
	if !p.atTypeName() {
		p.failAt(a.Name.span, Syntax, armWithoutModel(a.Name.Name))
		p.skipToItem()
		return
	}
	a.Model = p.ident()
	a.Attrs = p.attrs("arm " + a.Name.Name)
	a.node = p.node(m)
	*arms = append(*arms, a)
}
