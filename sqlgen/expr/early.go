package expr

import "slices"

// Knowledge is the knowledge of a path's value before a call, or of many calls at once.
type Knowledge int

// The degrees of knowledge.
const (
	Open    Knowledge = iota // nothing: it may be null or any value
	Present                  // that it is not null
	Fixed                    // the value, which is that of the call
)

// Early returns the value of a @permission's expression before any row is read:
// every comparison that involves the row is unknown, unless it is false for want
// of a caller or an input. True and False are final; on Unknown, rows decide.
// Early does not read the call's Row.
func Early(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: InRule, known: allBut(RootRow)}
	return e.choose([]Node{rule})
}

// Foresee returns the value of a @permission's expression, given the knowledge of each path.
// It calls undecided for each comparison that stays unknown. It reads only the Fixed parts
// of the call.
func Foresee(call Call, rule Node, known func(*Path) Knowledge, undecided func(*Compare)) Truth {
	e := evaluator{call: call, logic: InRule, known: known, undecided: undecided}
	return e.choose([]Node{rule})
}

// allBut knows every path except those from some roots.
func allBut(roots ...Root) func(*Path) Knowledge {
	return func(p *Path) Knowledge {
		if slices.Contains(roots, p.Root) {
			return Open
		}
		return Fixed
	}
}
