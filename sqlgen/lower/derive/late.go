package derive

import (
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// findLate finds the models whose rows late rules depend on, and the parts in which rows keep what the rules read of
// others.
func (l *Lowering) findLate() {
	for _, m := range l.Schema.Models {
		for _, v := range m.Validations {
			if table.IsLate(v) {
				l.FeedsLate[m] = true
				l.Ruled(m, m.Table).Holds(v.Expression)
			}
		}
	}
	for n := -1; n < len(l.FeedsLate); { // until it finds no more
		n = len(l.FeedsLate)
		for _, p := range l.Parts {
			if l.FeedsLate[p.Owner] {
				l.FeedsLate[p.other()] = true
			}
		}
	}
}

// Ruled prepares to lower the rules of a model over the columns of a row, its parts among them.
func (l *Lowering) Ruled(m *model.Model, alias string) value.Expression {
	x := l.over(m, alias)
	x.Logic, x.Site = value.ValidateLogic, value.InFunction
	return x
}
