package value

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// recordMembers returns the members of the record of a row whose table is joined. alias is that of the queries that
// make records.
func recordMembers(at TableAlias, shape model.Shape, aliases map[string]bool, alias string) []pg.Output {
	members := make([]pg.Output, len(shape))
	for i, m := range shape {
		members[i] = pg.Output{As: m.Field.Name, Quote: true}
		if m.Field.IsRelation() {
			members[i].Value = Embedded(at, m, aliases, alias)
		} else {
			members[i].Value = Wire(m.Field.Type, pg.Col(at.Name, m.Field.Column))
		}
	}
	return members
}

// Embedded returns the value of an embedded relation: the related record or null, or an array of all related records.
// It reads without row security: the action's rule vouches for the records that the action shows.
func Embedded(at TableAlias, m *model.Member, aliases map[string]bool, alias string) pg.Expr {
	j := NewJoins(aliases)
	related := j.row(j.Follow(at, m.Field))
	members := recordMembers(related, m.Shape, j.Aliases, alias)
	rows := j.Query(members, nil)
	from := &pg.SubqueryRef{Query: rows, Alias: alias}
	one := pg.Fn("row_to_json", pg.Var(alias))
	if m.Field.IsToOne() {
		return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: one}}, From: from}}
	}
	rows.OrderBy = []pg.Order{{Value: related.ID}}
	// json_agg would put spaces and line ends between the records.
	list := pg.Op(pg.Op(pg.Str("["), "||", pg.Fn("string_agg", pg.As(one, "text"), pg.Str(","))), "||", pg.Str("]"))
	return &pg.Subquery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.As(pg.Fn("coalesce", list, pg.Str("[]")), "json")}},
		From:    from,
	}}
}
