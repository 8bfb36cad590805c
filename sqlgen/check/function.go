package check

import (
	"path"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// checkFunction checks an action with custom code: its file, the names of its
// parameters, and that rules can be applied to a row.
func (c *checker) checkFunction(a *actionDecl) {
	file := a.Name + ".sql"
	if !slices.ContainsFunc(c.options.Functions, func(f string) bool { return path.Base(f) == file }) {
		c.report(FunctionFileMissing, a.Span, functionFileMissing(a.Name, a.Function))
	}
	var parameters clashes
	for _, p := range a.Parameters() {
		in := p.Inputs[0]
		if earlier, found := parameters.add(p.Name, in.Name, in.Span); found {
			c.report(NameClash, in.Span, parameterClash(in.Name, earlier.name, p.Name), note(earlier.span, firstHere(earlier.name)))
		}
	}
	if a.Kind != model.Delete || len(a.Pins) > 0 || a.doubtful {
		return
	}
	for _, r := range a.Rules {
		if r.MentionsRow() {
			c.report(RowRuleWithoutRow, a.Span, rowRuleWithoutRow(a.Name), note(r.Span, ruleHere()))
			return
		}
	}
}
