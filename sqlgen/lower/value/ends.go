package value

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Ends returns the array of all values that a path from the caller leads to.
func (x Expression) Ends(p *expr.Path) pg.Expr {
	start, steps := x.Start(p.Root, p.Steps)
	j := x.joinsFrom(p.Root)
	at := *start
	var end pg.Expr
	for _, s := range steps {
		f := Field(s)
		if !f.IsRelation() {
			end = j.value(at, f)
			break
		}
		at = j.Follow(at, f)
		end = at.ID
	}
	columns := []pg.Output{{Value: pg.As(end, "text")}}
	if len(j.List) == 0 {
		return &pg.ArrayOf{Query: &pg.Select{Columns: columns}}
	}
	return &pg.ArrayOf{Query: j.Query(columns, nil)}
}
