package rule

import (
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Roles lowers the roles of a schema to the view that rules ask: a row for a caller whose e-mail is verified and whose
// access token is not over, with a column for each role that has members. There is none if no role has.
func (l *Lowering) Roles() []*pg.View {
	q := &pg.Select{
		From: pg.Ref(value.RelatedSchema, "identity"),
		Where: pg.AllOf(
			pg.Eq(pg.Col("identity", "id"), value.IdentityID(value.InQuery)),
			pg.Col("identity", "email_verified"),
			pg.Negate(value.IsOver(value.IdentityID(value.InQuery), value.Settled(pg.Fn("platform.token"), value.InQuery))),
		),
	}
	for _, r := range l.Schema.Roles {
		if r.HasMembers() {
			q.Columns = append(q.Columns, pg.Output{Value: IsMember(r), As: roleColumn(r)})
		}
	}
	if len(q.Columns) == 0 {
		return nil
	}
	return []*pg.View{{Schema: value.RelatedSchema, Name: value.CallerRoles, Title: "the roles of the caller", Query: q}}
}

// address matches an e-mail address with its domain, and no list of addresses. The domain is behind the last @.
const address = `^[^][\s,;:<>()"\\]+@([^][\s,;:<>()"\\@]+)$`

// IsMember tells whether an identity's e-mail is one of a role's, or its part after the last @ one of the role's domains.
func IsMember(r *model.Role) pg.Expr {
	email := pg.Fn("lower", pg.Col("identity", "email"))
	var member []pg.Expr
	if len(r.Emails) > 0 {
		member = append(member, &pg.In{Value: email, List: texts(r.Emails)})
	}
	if len(r.Domains) > 0 {
		member = append(member, &pg.In{Value: pg.Fn("substring", email, pg.Str(address)), List: texts(r.Domains)})
	}
	return pg.AnyOf(member...)
}

func texts(values []string) []pg.Expr {
	list := make([]pg.Expr, len(values))
	for i, v := range values {
		list[i] = pg.Str(v)
	}
	return list
}

func roleColumn(r *model.Role) string { return "is_" + model.SnakeForm(r.Name) }

// HasRole tells whether the caller has one of some roles.
func HasRole(roles []*model.Role) pg.Expr {
	var has []pg.Expr
	for _, r := range roles {
		if r.HasMembers() {
			has = append(has, pg.Col("caller", roleColumn(r)))
		}
	}
	if len(has) == 0 {
		return pg.False()
	}
	return &pg.Exists{Query: &pg.Select{
		From:  &pg.TableRef{Schema: value.RelatedSchema, Name: value.CallerRoles, Alias: "caller"},
		Where: pg.AnyOf(has...),
	}}
}
