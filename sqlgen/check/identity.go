package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// identityName is the name of the built-in model that callers are rows of.
const identityName = "Identity"

// identityTexts lists the fields of Identity that are optional Text, in order.
func identityTexts() []string {
	return []string{"email", "externalId", "issuer", "name", "givenName", "familyName", "middleName", "nickName",
		"profile", "picture", "website", "gender", "zoneInfo", "locale"}
}

// isIdentityField tells whether Identity has a field of that snake form without
// any configuration.
func isIdentityField(snake string) bool {
	names := append(identityTexts(), "id", "emailVerified", "password", "createdAt", "updatedAt")
	return slices.ContainsFunc(names, func(n string) bool { return model.SnakeForm(n) == snake })
}

// declareIdentity makes the built-in model and the fields that the claims of the
// configuration add to it. Backlinks follow when relations are known.
func (c *checker) declareIdentity() {
	m := &model.Model{
		Name:       identityName,
		Variable:   model.Variable(identityName),
		Table:      model.SnakeForm(identityName),
		Doc:        "A user or machine that can be authenticated. Other callers are anonymous.",
		IsIdentity: true,
	}
	add := func(name string, kind expr.Kind) *model.Field {
		f := &model.Field{Model: m, Name: name, Column: model.SnakeForm(name), Type: expr.Type{Kind: kind}, Optional: true}
		m.Fields = append(m.Fields, f)
		return f
	}
	m.Fields = append(m.Fields, idField(m))
	for _, name := range identityTexts() {
		add(name, expr.Text)
	}
	together := []*model.Field{m.Field("email"), m.Field("issuer")}
	for _, claim := range c.options.Config.Claims {
		f := add(claim.Field, expr.Text)
		if claim.Unique {
			together = append(together, f)
		}
	}
	verified := add("emailVerified", expr.Boolean)
	verified.Optional, verified.Default = false, &model.Default{Bare: true}
	add("password", expr.Password)
	m.Fields = append(m.Fields, timestampFields(m)...)
	m.Uniques = []*model.Unique{
		{Fields: together},
		{Fields: []*model.Field{m.Field("issuer"), m.Field("externalId")}},
	}
	if c.options.Config.Incomplete {
		c.breakField(m.Name, "") // a claim may be missing
	}
	c.identity = m
	c.types[identityName] = &typeDecl{model: m}
	c.schema.Models = append(c.schema.Models, m)
	m.Rules = []*model.Rule{c.ownIdentity(m)}
}

// ownIdentity is the rule of Identity itself: callers see their own row.
func (c *checker) ownIdentity(m *model.Model) *model.Rule {
	own := &syntax.Binary{
		Op:    syntax.Equal,
		Left:  &syntax.Path{Steps: []*syntax.Ident{{Name: m.Variable}}},
		Right: &syntax.Path{Steps: []*syntax.Ident{{Name: "ctx"}, {Name: "identity"}}},
	}
	s := &scope{c: c, place: expr.ModelRule, variable: m.Variable, model: m.Name, nameable: true}
	text := syntax.FormatExpr(own)
	return &model.Rule{Expression: s.check(own), Kinds: []model.Kind{model.Get, model.List}, Text: text, Condition: text}
}

// idField makes the field id of a model.
func idField(m *model.Model) *model.Field {
	return &model.Field{Model: m, Name: "id", Column: "id", Type: expr.Type{Kind: expr.ID}, Unique: true, BuiltIn: true,
		Default: &model.Default{Bare: true}, Span: m.Span}
}

// timestampFields makes the fields createdAt and updatedAt of a model.
func timestampFields(m *model.Model) []*model.Field {
	var fields []*model.Field
	for _, name := range []string{"createdAt", "updatedAt"} {
		fields = append(fields, &model.Field{Model: m, Name: name, Column: model.SnakeForm(name), Type: expr.Type{Kind: expr.Timestamp},
			BuiltIn: true, Default: &model.Default{Bare: true}, Span: m.Span})
	}
	return fields
}

// addBacklinks gives Identity an optional to-one back for each unique to-one to
// it. A name that Identity has already, or that several models claim, links
// nothing: otherwise the order of models would matter.
func (c *checker) addBacklinks() {
	type backlink struct {
		name string
		of   *fieldDecl
	}
	var links []backlink
	for _, m := range c.models {
		own := map[string]syntax.Span{}
		for _, f := range m.fieldDecls {
			if f.Target != c.identity || !f.IsToOne() || !f.uniq || f.isComputed() {
				continue
			}
			name := m.Variable
			if f.relation != nil {
				if f.relation.name == nil {
					c.breakField(identityName, m.Variable)
					continue
				}
				name = f.relation.name.Name
				if !isFieldName(name) {
					c.report(BadRelation, f.relation.name.Span(), badBacklinkName(name))
					c.breakField(identityName, m.Variable)
					continue
				}
			}
			if earlier, found := own[name]; found {
				c.report(AmbiguousRelation, f.Span, ambiguousBacklink(m.Name, name), note(earlier, otherHere(name)))
				continue
			}
			own[name] = f.Span
			c.backlinks[name] = append(c.backlinks[name], f)
			links = append(links, backlink{name, f})
		}
	}
	end := len(c.identity.Fields) - 2 // before createdAt
	for _, l := range links {
		if c.identity.Field(l.name) != nil || len(c.backlinks[l.name]) > 1 {
			continue
		}
		back := &model.Field{
			Model:    c.identity,
			Name:     l.name,
			Type:     expr.Type{Kind: expr.Model, Name: l.of.Model.Name},
			Optional: true,
			Target:   l.of.Model,
			Inverse:  l.of.Field,
			Span:     l.of.Span,
		}
		l.of.Inverse = back
		c.identity.Fields = slices.Insert(c.identity.Fields, end, back)
		end++
	}
}

// contestedNotes points to the fields that claim a name on Identity, if there are
// several, so that it has no field of that name.
func (c *checker) contestedNotes(name string) []syntax.Note {
	claims := c.backlinks[name]
	if len(claims) < 2 {
		return nil
	}
	var notes []syntax.Note
	for _, f := range claims[:min(len(claims), maxCandidateNotes)] {
		notes = append(notes, note(f.Span, contestedHere(f.Model.Name, f.Name, name)))
	}
	if more := len(claims) - len(notes); more > 0 {
		notes = append(notes, note(syntax.Span{}, moreCandidates(more)))
	}
	return notes
}
