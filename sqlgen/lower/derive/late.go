package derive

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/table"
)

// findLate finds the models whose rows late rules depend on.
func (l *Lowering) findLate() {
	for _, m := range l.Schema.Models {
		if slices.ContainsFunc(m.Validations, table.IsLate) {
			l.FeedsLate[m] = true
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
