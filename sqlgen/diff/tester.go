package diff

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Triggers test rules over values that are computed from other rows at the end of a transaction. These triggers are
// dropped before rows change, since Postgres alters no table while some wait, and made again when all rows are final.

// retests tells whether the triggers of a table that test rules are dropped and made again.
func (p *planner) retests(pr *pair) bool {
	if pr.old == nil || pr.new == nil || pr.old.Tester == nil || pr.new.Tester == nil {
		return true
	}
	return pr.rekeeps || pr.changesColumns() || pr.old.Tester.Digest != pr.new.Tester.Digest
}

// stopTesting drops the triggers.
func (p *planner) stopTesting() {
	for _, pr := range p.pairs {
		if pr.old != nil && pr.old.Tester != nil && p.retests(pr) {
			reason := "the rules are tested anew below"
			p.step(DropTrigger{pr.old, pg.TestTrigger}, pr.old, reason, AccessExclusive)
			p.step(DropTester{pr.old}, pr.old, reason, NoLock)
		}
	}
}

// startTesting makes the functions of the triggers.
func (p *planner) startTesting() {
	for _, pr := range p.pairs {
		if pr.new != nil && pr.new.Tester != nil && p.retests(pr) {
			p.step(CreateTester{pr.new}, pr.new, pr.new.Origin.String()+": rules over what is computed from other rows", NoLock)
		}
	}
}

// testRows tests rules on existing rows. The triggers exist by then, so that no row escapes both.
func (p *planner) testRows(pr *pair) {
	for _, r := range pr.new.Tester.Rules {
		var hazards []Hazard
		switch was := pr.hadRule(r); {
		case was && !pr.rekeeps:
			continue
		case was:
		case pr.rekeeps || pr.changesColumns(): // columns that the rule reads may change on the way: only Postgres can tell
			hazards = []Hazard{MayFail}
		default:
			hazards = p.mayAdd(pr, r)
		}
		reason := r.Origin.String()
		if p.options.Concurrent {
			p.afterwards(TestRows{pr.new, r}, pr.new, reason, NoLock, append(hazards, Long)...)
		} else {
			p.step(TestRows{pr.new, r}, pr.new, reason, NoLock, append(hazards, Long)...)
		}
	}
}

// hadRule tells whether the rows satisfied a rule before, over columns that stay.
func (pr *pair) hadRule(n *pg.Constraint) bool {
	rules := slices.Clone(pr.old.Constraints)
	if pr.old.Tester != nil {
		rules = append(rules, pr.old.Tester.Rules...)
	}
	_, known := pr.before(n.Columns)
	return known && slices.ContainsFunc(rules, func(o *pg.Constraint) bool {
		return o.Kind == pg.Check && pg.Renamed(o.Condition, pr.names) == n.Condition
	})
}
