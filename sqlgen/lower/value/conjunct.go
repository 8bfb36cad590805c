package value

import (
	"maps"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Conjunct is one of several conditions that have to hold together, and so have one witness for all mentions of a
// to-many. It is a part of an expression, or an input that finds rows by a path.
type Conjunct struct {
	Prefixes []expr.Prefix // the to-manys that it passes
	// lower lowers it where its prefixes have their witnesses.
	Lower func(Expression) pg.Expr
	// absent is the condition under which it does not count because an input is missing; nil means never.
	Absent pg.Expr
}

// PartsOf returns the conditions that have to hold for expressions to hold together.
func PartsOf(nodes ...expr.Node) []Conjunct {
	var list []Conjunct
	for _, n := range nodes {
		for _, part := range conjunctsOf(n) {
			list = append(list, Conjunct{
				Prefixes: expr.Prefixes(part),
				Lower:    func(x Expression) pg.Expr { return x.Holds(part) },
			})
		}
	}
	return list
}

// UnlessAbsent returns conjuncts that do not count where a condition holds.
func UnlessAbsent(absent pg.Expr, list []Conjunct) []Conjunct {
	guarded := slices.Clone(list)
	for i := range guarded {
		guarded[i].Absent = absent
	}
	return guarded
}

// AllHold lowers expressions that are conjuncts of one.
func (x Expression) AllHold(nodes []expr.Node) pg.Expr { return x.Conjunction(PartsOf(nodes...)) }

// Conjunction lowers conjuncts. It lowers those that share a witness as one, inside the query for the witness, and each
// of the others by itself.
func (x Expression) Conjunction(conjuncts []Conjunct) pg.Expr {
	var conditions []pg.Expr
	for _, g := range Sharing(x, conjuncts, func(c Conjunct) []expr.Prefix { return c.Prefixes }) {
		conditions = append(conditions, x.Group(g))
	}
	return pg.AllOf(conditions...)
}

// Group lowers conjuncts that share a witness, or a single one. A condition under which none of them counts is outside
// of the query for the witness.
func (x Expression) Group(g []Conjunct) pg.Expr {
	absent := g[0].Absent
	if absent != nil && !slices.ContainsFunc(g, func(c Conjunct) bool { return c.Absent != absent }) {
		return pg.AnyOf(absent, x.Group(UnlessAbsent(nil, g)))
	}
	if len(g) == 1 {
		return g[0].Lower(x)
	}
	var prefixes []expr.Prefix
	for _, c := range g {
		prefixes = append(prefixes, c.Prefixes...)
	}
	if p := x.Unbound(prefixes); p != nil {
		return x.WithWitness(*p, g)
	}
	panic("lower: conjuncts are in one group that share no prefix")
}

// Sharing groups conjuncts: two are in one group if they mention one prefix that has no witness yet, or if each shares
// one with a third. Conjuncts keep their order, and groups the order of their first members.
func Sharing[T any](x Expression, conjuncts []T, prefixes func(T) []expr.Prefix) [][]T {
	type group struct {
		members  []int
		prefixes map[string]bool
	}
	var groups []group
	for i, c := range conjuncts {
		joined := group{prefixes: map[string]bool{}}
		for _, p := range prefixes(c) {
			if _, bound := x.Witnesses[p.Key()]; !bound {
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

// Unbound returns the first of some prefixes that has no witness yet, or nil. A shorter prefix comes before those that
// it begins.
func (x Expression) Unbound(prefixes []expr.Prefix) *expr.Prefix {
	for _, p := range prefixes {
		if _, bound := x.Witnesses[p.Key()]; !bound {
			return &p
		}
	}
	return nil
}
