package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxPins bounds the pinning sets that are looked for at each step. It takes a
// composite of many fields, each given in several ways, to come near it.
const maxPins = 512

// equality is an Equality with the path from the action's row that it fixes.
type equality struct {
	*model.Equality
	path []*model.Field
}

// pinSet is a set of equalities by their ordinals, ascending.
type pinSet []int

// findPins finds the sets of equalities of a get, update or delete that pin one
// row. It reports if none does.
func (c *checker) findPins(a *actionDecl) {
	if a.Kind != model.Get && a.Kind != model.Update && a.Kind != model.Delete {
		return
	}
	p := pinner{}
	for _, in := range a.Reads {
		if !in.Explicit {
			p.add(&model.Equality{Input: in}, in.Path)
		}
	}
	for _, w := range a.Wheres {
		p.conjunct(w.Expression)
	}
	for _, e := range p.equalities {
		a.doubtful = a.doubtful || slices.ContainsFunc(e.path, c.isDoubtful)
	}
	var sets []pinSet
	if a.union != nil {
		sets = p.pinUnion()
	} else {
		sets = p.pin(a.Model)
	}
	for _, set := range sets {
		var pins []*model.Equality
		for _, i := range set {
			e := p.equalities[i].Equality
			if e.Input != nil {
				e.Input.Nullable = false
			} else {
				for _, in := range expr.Mentions(e.Where).Inputs {
					in.(*model.Input).Nullable = false // several rows may be null there
				}
			}
			pins = append(pins, e)
		}
		a.Pins = append(a.Pins, pins)
	}
	if len(a.Pins) == 0 && !a.Custom && !a.doubtful && !c.badUniques && !c.isIncomplete(a.owner()) {
		c.report(NotPinned, a.Span, notPinned(a))
	}
}

// pinner collects the equalities of an action, and its top-level alternatives.
type pinner struct {
	equalities   []equality
	alternatives []*expr.Logic // each of the form a || b
}

func (p *pinner) add(e *model.Equality, path []*model.Field) {
	p.equalities = append(p.equalities, equality{e, path})
}

// conjunct takes apart a condition that must hold.
func (p *pinner) conjunct(n expr.Node) {
	switch n := n.(type) {
	case *expr.Logic:
		if n.Op == syntax.And {
			p.conjunct(n.Left)
			p.conjunct(n.Right)
		} else {
			p.alternatives = append(p.alternatives, n)
		}
	case *expr.Compare:
		if n.Op != syntax.Equal {
			return
		}
		for _, sides := range [][2]expr.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
			if path, ok := rowFields(sides[0]); ok && isSingle(sides[1]) {
				p.add(&model.Equality{Where: n}, path)
				return
			}
		}
	}
}

// rowFields returns the fields of a path of the row. A union's row has none, except a
// stand-in of its name, so that pinUnion asks the node.
func rowFields(n expr.Node) ([]*model.Field, bool) {
	p, ok := n.(*expr.Path)
	if !ok || p.Root != expr.RootRow {
		return nil, false
	}
	var path []*model.Field
	for _, s := range p.Steps {
		if f, ok := s.(*model.Field); ok {
			path = append(path, f)
		}
	}
	return path, true
}

// isSingle tells whether a node has one value, other than null, that does not
// depend on the row.
func isSingle(n expr.Node) bool {
	switch n := n.(type) {
	case *expr.Literal:
		return n.Type().Kind != expr.NullKind
	case *expr.Path:
		return n.Root != expr.RootRow && !slices.ContainsFunc(n.Steps, func(s expr.Step) bool {
			return s.StepType().Kind == expr.Model && s.StepType().Array
		})
	case *expr.Arithmetic:
		return isSingle(n.Left) && isSingle(n.Right)
	case *expr.Negative:
		return isSingle(n.Operand)
	case *expr.Function:
		return !slices.ContainsFunc(n.Arguments, func(argument expr.Node) bool { return !isSingle(argument) })
	}
	return true
}

// pin returns the smallest sets of equalities that pin a row of a model, in the
// order of their first equalities. A set that comes from alternatives holds an
// equality for each of them.
func (p *pinner) pin(m *model.Model) []pinSet {
	all := make([]int, len(p.equalities))
	for i := range all {
		all[i] = i
	}
	return p.withAlternatives(all, p.alternatives, func(given []int) []pinSet {
		return p.pinModel(m, given, 0)
	})
}

// withAlternatives returns the sets of the given equalities, and the sets of each
// alternative whose branches all pin together with them.
func (p *pinner) withAlternatives(given []int, alternatives []*expr.Logic, pin func([]int) []pinSet) []pinSet {
	sets := pin(given)
	for _, alternative := range alternatives {
		combined := []pinSet{{}}
		for _, branch := range branches(alternative) {
			// The branch's own equalities are appended, so that ordinals stay valid.
			inner := pinner{equalities: p.equalities}
			inner.conjunct(branch)
			own := slices.Clone(given)
			for i := len(p.equalities); i < len(inner.equalities); i++ {
				own = append(own, i)
			}
			p.equalities = inner.equalities
			found := p.withAlternatives(own, inner.alternatives, pin)
			combined = product(combined, found)
		}
		sets = append(sets, combined...)
	}
	return smallest(sets)
}

// branches returns the operands of a chain of ||.
func branches(n expr.Node) []expr.Node {
	if l, ok := n.(*expr.Logic); ok && l.Op == syntax.Or {
		return append(branches(l.Left), branches(l.Right)...)
	}
	return []expr.Node{n}
}

// pinModel returns the sets of the equalities given that pin a row of a model
// which paths reach after depth steps.
func (p *pinner) pinModel(m *model.Model, given []int, depth int) []pinSet {
	var sets []pinSet
	for _, i := range given { // the row itself, its id, or a unique field
		path := p.equalities[i].path[depth:]
		if len(path) == 0 || len(path) == 1 && path[0].Unique {
			sets = append(sets, pinSet{i})
		}
	}
	for _, f := range m.Fields { // a row that leads to no other
		if f.IsToMany() || f.IsToOne() && (f.Unique || f.Column == "") {
			if below := p.below(f, given, depth); len(below) > 0 {
				sets = append(sets, p.pinModel(f.Target, below, depth+1)...)
			}
		}
	}
	for _, u := range m.Uniques { // a composite, all of it
		combined := []pinSet{{}}
		for _, f := range u.Fields {
			combined = product(combined, p.pinField(f, given, depth))
		}
		sets = append(sets, combined...)
	}
	return smallest(sets)
}

// pinField returns the sets that fix a field of a composite.
func (p *pinner) pinField(f *model.Field, given []int, depth int) []pinSet {
	if f.FKOf != nil {
		f = f.FKOf
	}
	var sets []pinSet
	for _, i := range given {
		path := p.equalities[i].path[depth:]
		if len(path) == 1 && (path[0] == f || f.IsToOne() && path[0] == f.FK) {
			sets = append(sets, pinSet{i})
		}
	}
	if f.IsToOne() {
		if below := p.below(f, given, depth); len(below) > 0 {
			sets = append(sets, p.pinModel(f.Target, below, depth+1)...)
		}
	}
	return smallest(sets)
}

// below returns the equalities whose path goes through a field.
func (p *pinner) below(f *model.Field, given []int, depth int) []int {
	var below []int
	for _, i := range given {
		if path := p.equalities[i].path; len(path) > depth && path[depth] == f {
			below = append(below, i)
		}
	}
	return below
}

// pinUnion returns the sets that pin a row of a union: only its id does.
func (p *pinner) pinUnion() []pinSet {
	all := make([]int, len(p.equalities))
	for i := range all {
		all[i] = i
	}
	return p.withAlternatives(all, p.alternatives, func(given []int) []pinSet {
		var sets []pinSet
		for _, i := range given {
			e := p.equalities[i]
			if e.Input != nil && e.Input.Union.Name == "id" || e.Where != nil && namesUnionID(e.Where) {
				sets = append(sets, pinSet{i})
			}
		}
		return sets
	})
}

// namesUnionID tells whether one side of a comparison is the id of a union's row.
func namesUnionID(compare *expr.Compare) bool {
	return slices.ContainsFunc([]expr.Node{compare.Left, compare.Right}, func(n expr.Node) bool {
		p, ok := n.(*expr.Path)
		return ok && p.Root == expr.RootRow && len(p.Steps) == 1 && p.Steps[0].StepName() == "id"
	})
}

// product joins each set of one list with each of another.
func product(left, right []pinSet) []pinSet {
	var sets []pinSet
	for _, l := range left {
		for _, r := range right {
			if len(sets) == maxPins {
				return smallest(sets)
			}
			joined := slices.Concat(l, r)
			slices.Sort(joined)
			sets = append(sets, slices.Compact(joined))
		}
	}
	return sets
}

// smallest sorts sets by their equalities and drops those that hold another.
func smallest(sets []pinSet) []pinSet {
	slices.SortFunc(sets, func(a, b pinSet) int { return slices.Compare(a, b) })
	sets = slices.CompactFunc(sets, func(a, b pinSet) bool { return slices.Equal(a, b) })
	var kept []pinSet
	for i, s := range sets {
		holdsOther := false
		for j, other := range sets {
			holdsOther = holdsOther || i != j && isSubset(other, s)
		}
		if !holdsOther {
			kept = append(kept, s)
		}
	}
	return kept
}

// isSubset tells whether all ordinals of a set are in another; both ascend.
func isSubset(small, big pinSet) bool {
	for _, i := range small {
		if _, found := slices.BinarySearch(big, i); !found {
			return false
		}
	}
	return true
}
