package lower

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// callerRoles is the view of the caller's roles. No model's table has such a name.
const callerRoles = "caller__roles"

// roles lowers the roles of a schema to the view that rules ask: a row for a caller whose e-mail is verified and whose
// access token is not over, with a column for each role that has members. There is none if no role has.
func (l *lowering) roles() []*pg.View {
	q := &pg.Select{
		From: pg.Ref(relatedSchema, "identity"),
		Where: pg.AllOf(
			pg.Eq(pg.Col("identity", "id"), identityID(inQuery)),
			pg.Col("identity", "email_verified"),
			pg.Negate(isOver(identityID(inQuery), settled(pg.Fn("platform.token"), inQuery))),
		),
	}
	for _, r := range l.schema.Roles {
		if r.HasMembers() {
			q.Columns = append(q.Columns, pg.Output{Value: isMember(r), As: roleColumn(r)})
		}
	}
	if len(q.Columns) == 0 {
		return nil
	}
	return []*pg.View{{Schema: relatedSchema, Name: callerRoles, Title: "the roles of the caller", Query: q}}
}

// address matches an e-mail address with its domain, and no list of addresses. The domain is behind the last @.
const address = `^[^][\s,;:<>()"\\]+@([^][\s,;:<>()"\\@]+)$`

// isMember tells whether an identity's e-mail is one of a role's, or its part after the last @ one of the role's domains.
func isMember(r *model.Role) pg.Expr {
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

// hasRole tells whether the caller has one of some roles.
func hasRole(roles []*model.Role) pg.Expr {
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
		From:  &pg.TableRef{Schema: relatedSchema, Name: callerRoles, Alias: "caller"},
		Where: pg.AnyOf(has...),
	}}
}
