package expr

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// MaxAlternatives is the most alternatives into which an && of several is split.
const MaxAlternatives = 6

// Alternatives returns the alternatives of an expression, each as the conjuncts of
// it: a || b has two, and so has c && (a || b).
func Alternatives(n Node) [][]Node {
	l, ok := n.(*Logic)
	if !ok {
		return [][]Node{{n}}
	}
	left, right := Alternatives(l.Left), Alternatives(l.Right)
	if l.Op == syntax.Or {
		return append(left, right...)
	}
	if len(left)*len(right) > MaxAlternatives {
		return [][]Node{{n}}
	}
	var both [][]Node
	for _, a := range left {
		for _, b := range right {
			both = append(both, append(slices.Clone(a), b...))
		}
	}
	return both
}
