package lower

import (
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// conjunct is one of several conditions that have to hold together, and so have one witness for all mentions of a
// to-many. It is a part of an expression, or an input that finds rows by a path.
type conjunct struct {
	prefixes []expr.Prefix // the to-manys that it passes
	// lower lowers it where its prefixes have their witnesses.
	lower func(expression) pg.Expr
	// absent is the condition under which it does not count because an input is missing; nil means never.
	absent pg.Expr
}

// partsOf returns the conditions that have to hold for expressions to hold together.
func partsOf(nodes ...expr.Node) []conjunct {
	var list []conjunct
	for _, n := range nodes {
		for _, part := range conjunctsOf(n) {
			list = append(list, conjunct{
				prefixes: expr.Prefixes(part),
				lower:    func(x expression) pg.Expr { return x.holds(part) },
			})
		}
	}
	return list
}

// unlessAbsent returns conjuncts that do not count where a condition holds.
func unlessAbsent(absent pg.Expr, list []conjunct) []conjunct {
	guarded := slices.Clone(list)
	for i := range guarded {
		guarded[i].absent = absent
	}
	return guarded
}

// allHold lowers expressions that are conjuncts of one.
func (x expression) allHold(nodes []expr.Node) pg.Expr { return x.conjunction(partsOf(nodes...)) }

// conjunction lowers conjuncts. It lowers those that share a witness as one, inside the query for the witness, and each
// of the others by itself.
func (x expression) conjunction(conjuncts []conjunct) pg.Expr {
	var conditions []pg.Expr
	for _, g := range sharing(x, conjuncts, func(c conjunct) []expr.Prefix { return c.prefixes }) {
		conditions = append(conditions, x.group(g))
	}
	return pg.AllOf(conditions...)
}

// group lowers conjuncts that share a witness, or a single one. A condition under which none of them counts is outside
// of the query for the witness.
func (x expression) group(g []conjunct) pg.Expr {
	absent := g[0].absent
	if absent != nil && !slices.ContainsFunc(g, func(c conjunct) bool { return c.absent != absent }) {
		return pg.AnyOf(absent, x.group(unlessAbsent(nil, g)))
	}
	if len(g) == 1 {
		return g[0].lower(x)
	}
	var prefixes []expr.Prefix
	for _, c := range g {
		prefixes = append(prefixes, c.prefixes...)
	}
	if p := x.unbound(prefixes); p != nil {
		return x.withWitness(*p, g)
	}
	panic("lower: conjuncts are in one group that share no prefix")
}

// sharing groups conjuncts: two are in one group if they mention one prefix that has no witness yet, or if each shares
// one with a third. Conjuncts keep their order, and groups the order of their first members.
func sharing[T any](x expression, conjuncts []T, prefixes func(T) []expr.Prefix) [][]T {
	type group struct {
		members  []int
		prefixes map[string]bool
	}
	var groups []group
	for i, c := range conjuncts {
		joined := group{prefixes: map[string]bool{}}
		for _, p := range prefixes(c) {
			if _, bound := x.witnesses[p.Key()]; !bound {
				joined.prefixes[p.Key()] = true
			}
		}
		var others []group
		for _, g := range groups {
			if !overlap(g.prefixes, joined.prefixes) {
				others = append(others, g)
				continue
			}
			joined.members = append(joined.members, g.members...)
			maps.Copy(joined.prefixes, g.prefixes)
		}
		joined.members = append(joined.members, i)
		groups = append(others, joined)
	}

	for _, g := range groups {
		slices.Sort(g.members)
	}
	slices.SortFunc(groups, func(a, b group) int { return a.members[0] - b.members[0] })
	lists := make([][]T, len(groups))
	for i, g := range groups {
		for _, m := range g.members {
			lists[i] = append(lists[i], conjuncts[m])
		}
	}
	return lists
}

func overlap(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// unbound returns the first of some prefixes that has no witness yet, or nil. A shorter prefix comes before those that
// it begins.
func (x expression) unbound(prefixes []expr.Prefix) *expr.Prefix {
	for _, p := range prefixes {
		if _, bound := x.witnesses[p.Key()]; !bound {
			return &p
		}
	}
	return nil
}
