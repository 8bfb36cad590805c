package value

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// OuterJoins are the tables at the ends of to-ones from a row, each joined once.
type OuterJoins struct {
	Joins *joins
	Rows  map[string]TableAlias // by the steps that lead to them
}

// value is the value at the end of a path through to-ones, null if one of them leads nowhere.
func (o *OuterJoins) value(p *expr.Path) pg.Expr {
	at := ""
	for _, s := range p.Steps {
		f := Field(s)
		if !f.IsRelation() && f.Name != "id" {
			return pg.Col(o.joined(at).Name, f.Column)
		}
		if f.IsRelation() {
			at = o.follow(at, f)
		}
	}
	return o.Rows[at].ID
}

func (o *OuterJoins) follow(at string, f *model.Field) string {
	next := at + "." + f.Name
	if _, known := o.Rows[next]; !known {
		from := o.Rows[at]
		if f.FK != nil {
			from = o.joined(at)
		}
		o.Rows[next] = o.Joins.Follow(from, f)
	}
	return next
}

func (o *OuterJoins) joined(at string) TableAlias {
	o.Rows[at] = o.Joins.row(o.Rows[at])
	return o.Rows[at]
}
