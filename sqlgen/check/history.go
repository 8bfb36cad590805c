package check

import (
	"regexp"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// keepPattern is how long a history is kept: no more than Postgres can subtract from a time.
var keepPattern = regexp.MustCompile(`^(1 (hour|day|week|month|year)|[1-9][0-9]{0,3} (hours|days|weeks|months)|[1-9][0-9]{0,2} years)$`)

// history reads an @history or @history(keep: "7 years").
func (c *checker) history(a *syntax.Attribute) *model.History {
	h := &model.History{}
	if len(a.Args) == 0 {
		return h
	}
	if len(a.Args) > 1 || a.Args[0].Label == nil {
		c.badArguments(a, a.Args[len(a.Args)-1].Span())
		return h
	}
	value := c.plainArgument(a, a.Args[0], "keep")
	if keep, ok := value.(*syntax.String); ok && keepPattern.MatchString(keep.Value) {
		h.Keep = keep.Value
	} else if value != nil {
		c.badArguments(a, value.Span())
	}
	return h
}

// checkHistoryAction checks that a history is kept for an action to read, and that the id finds it.
func (c *checker) checkHistoryAction(a *actionDecl) {
	isKept := slices.ContainsFunc(syntax.AttributesOf(a.model.tree.Members), func(at *syntax.Attribute) bool { return at.Name.Name == "history" })
	in := a.tree.Reads.List
	switch isID := len(in) == 1 && in[0].Label == nil && in[0].Array == nil && in[0].Optional == nil && in[0].Path.String() == "id"; {
	case !isKept:
		c.report(HistoryAction, a.tree.Kind.Span(), historyNotKept(a.Model.Name))
	case !isID && !a.tree.Incomplete():
		c.report(HistoryAction, a.tree.Reads.Span(), historyInputs(a.Name))
		a.doubtful = true
	}
}
