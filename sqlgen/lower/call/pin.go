package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// PinningInputs returns sets of optional inputs. A request has to give one of the sets, so that one row is pinned. It
// returns none if some set of equalities always pins the row. Custom code finds its row by itself, except for rules
// that judge it before.
func PinningInputs(a *model.Action) [][]*model.Input {
	if a.Custom && !judgesPinnedRow(a) {
		return nil
	}
	var sets [][]*model.Input
	for _, pin := range a.Pins {
		var needed []*model.Input
		for _, e := range pin {
			for _, in := range NeededInputs(a, e) {
				if !slices.Contains(needed, in) {
					needed = append(needed, in)
				}
			}
		}
		if len(needed) == 0 {
			return nil
		}
		isSame := func(other []*model.Input) bool {
			return len(other) == len(needed) && !slices.ContainsFunc(needed, func(in *model.Input) bool { return !slices.Contains(other, in) })
		}
		if !slices.ContainsFunc(sets, isSame) {
			sets = append(sets, needed)
		}
	}
	return sets
}

// NeededInputs returns the optional inputs without which an equality does not count: its own, or those of its @where.
func NeededInputs(a *model.Action, e *model.Equality) []*model.Input {
	if e.Input != nil {
		if e.Input.Optional {
			return []*model.Input{e.Input}
		}
		return nil
	}
	for _, w := range a.Wheres {
		isPart := false
		expr.Inspect(w.Expression, func(n expr.Node) bool {
			isPart = isPart || n == expr.Node(e.Where)
			return !isPart
		})
		if isPart {
			return OptionalInputs(w)
		}
	}
	panic("lower: an equality stands in no @where")
}

// PinsBy tells whether read or write inputs are among those that pin a row.
func PinsBy(a *model.Action, isWrite bool) bool {
	for _, set := range PinningInputs(a) {
		if slices.ContainsFunc(set, func(in *model.Input) bool { return in.IsWrite == isWrite }) {
			return true
		}
	}
	return false
}
