package emit_test

import (
	"testing"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestPlanOfSteps writes steps that belong to no change of a whole database, as for changes by hand.
func TestPlanOfSteps(t *testing.T) {
	t.Parallel()
	const text = "create policy post_select on app.post for select to sternpost_caller using (true);"
	statements := emit.Plan(&diff.Plan{Steps: []*diff.Step{{Change: diff.CreatePolicy{Policy: &pg.Policy{Text: text}}}}})
	if len(statements) != 1 || statements[0].Text != text {
		t.Errorf("got %v, want %s alone", statements, text)
	}
}
