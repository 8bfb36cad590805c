package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// ShownOfIdentity are the fields that an embedded Identity shows: who somebody is,
// and nothing by which they could be found elsewhere or signed in as.
var ShownOfIdentity = []string{
	"id", "email", "emailVerified", "name", "givenName", "familyName", "middleName", "nickName", "picture",
}

// recordMembers returns the members of the record of a row whose table is joined. alias
// is that of the queries that make records. An embedded relation replaces its foreign key,
// or is where a to-many is declared.
func recordMembers(at tableAlias, embeds []*schema.Embed, aliases map[string]bool, alias string) []pg.Output {
	var members []pg.Output
	for _, f := range at.model.Fields {
		e := schema.EmbedOf(f, embeds)
		switch {
		case e != nil:
			members = append(members, pg.Output{Value: embedded(at, e, aliases, alias), As: f.Name, Quote: true})
		case f.IsRelation(), f.FKOf != nil && schema.EmbedOf(f.FKOf, embeds) != nil, f.StepWriteOnly():
		default:
			members = append(members, pg.Output{Value: wire(f.Type, pg.Col(at.name, f.Column)), As: f.Name, Quote: true})
		}
	}
	return members
}

// embedded returns what an embedded relation shows: the related record or null, or
// an array of all related records. It walks without row security: the action's
// rule vouches for what the action shows.
func embedded(at tableAlias, e *schema.Embed, aliases map[string]bool, alias string) pg.Expr {
	j := newJoins(aliases)
	related := j.row(j.follow(at, e.Field))
	members := recordMembers(related, e.Embeds, j.aliases, alias)
	if related.model.IsIdentity {
		members = slices.DeleteFunc(members, func(m pg.Output) bool { return !slices.Contains(ShownOfIdentity, m.As) })
	}
	rows := j.query(members, nil)
	from := &pg.SubqueryRef{Query: rows, Alias: alias}
	one := pg.Fn("row_to_json", pg.Var(alias))
	if e.Field.IsToOne() {
		return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: one}}, From: from}}
	}
	rows.OrderBy = []pg.Order{{Value: related.id}}
	// json_agg would put spaces and line ends between the records.
	list := pg.Op(pg.Op(pg.Str("["), "||", pg.Fn("string_agg", pg.As(one, "text"), pg.Str(","))), "||", pg.Str("]"))
	return &pg.Subquery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.As(pg.Fn("coalesce", list, pg.Str("[]")), "json")}},
		From:    from,
	}}
}
