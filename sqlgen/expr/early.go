package expr

import "slices"

// Knowledge is what is known of a path's value before a call, or of many calls at once.
type Knowledge int

// What can be known of a value.
const (
	Open    Knowledge = iota // nothing: it may be null or any value
	Present                  // that it is not null
	Fixed                    // the value, which is that of the call
)

// Early returns the value of a @permission's expression before any row is read:
// every comparison that involves the row is unknown, unless it is false for want
// of a caller or an input. True and False are final; on Unknown, rows decide.
// The call's Row is not looked at.
func Early(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: InRule, known: allBut(RootRow)}
	return e.choose([]Node{rule})
}

// EarlyWithoutInputs returns the value of a @permission's expression when only
// the caller and ctx are known, as when a file is uploaded ahead of the call.
func EarlyWithoutInputs(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: InRule, known: allBut(RootRow, RootInput)}
	return e.choose([]Node{rule})
}

// Foresee returns the value of a @permission's expression when of each path as much is
// known as known says. The comparisons that stay unknown are told to undecided. Of the
// call, no more is looked at than what is Fixed.
func Foresee(call Call, rule Node, known func(*Path) Knowledge, undecided func(*Compare)) Truth {
	e := evaluator{call: call, logic: InRule, known: known, undecided: undecided}
	return e.choose([]Node{rule})
}

// allBut knows every path but those from some roots.
func allBut(roots ...Root) func(*Path) Knowledge {
	return func(p *Path) Knowledge {
		if slices.Contains(roots, p.Root) {
			return Open
		}
		return Fixed
	}
}
