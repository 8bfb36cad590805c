package lower

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// recordMembers returns the members of the record of a row whose table is joined. alias is that of the queries that
// make records.
func recordMembers(at tableAlias, shape model.Shape, aliases map[string]bool, alias string) []pg.Output {
	members := make([]pg.Output, len(shape))
	for i, m := range shape {
		members[i] = pg.Output{As: m.Field.Name, Quote: true}
		if m.Field.IsRelation() {
			members[i].Value = embedded(at, m, aliases, alias)
		} else {
			members[i].Value = wire(m.Field.Type, pg.Col(at.name, m.Field.Column))
		}
	}
	return members
}

// embedded returns the value of an embedded relation: the related record or null, or an array of all related records.
// It reads without row security: the action's rule vouches for the records that the action shows.
func embedded(at tableAlias, m *model.Member, aliases map[string]bool, alias string) pg.Expr {
	j := newJoins(aliases)
	related := j.row(j.follow(at, m.Field))
	members := recordMembers(related, m.Shape, j.aliases, alias)
	rows := j.query(members, nil)
	from := &pg.SubqueryRef{Query: rows, Alias: alias}
	one := pg.Fn("row_to_json", pg.Var(alias))
	if m.Field.IsToOne() {
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
