package emit

import (
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// testRows writes the statement that tests a rule on the existing rows.
func testRows(t *pg.Table, rule *pg.Constraint) string {
	return "do " + pg.DollarQuote("", "\nbegin\n  if exists (select from "+pg.Qualified(t.Schema, t.Name)+" where ("+rule.Condition+") is false) then\n    perform "+
		Expr(pg.BreakRule(t, pg.Str(rule.Name)))+";\n  end if;\nend;\n") + ";"
}

// countRows writes the statement that counts the rows that break what a plan adds, and ends the transaction if there are
// any.
func countRows(r *diff.Refusal) string {
	return "do " + pg.DollarQuote("", "\ndeclare\n  v_rows bigint;\nbegin\n  select count(*) into v_rows from "+pg.Qualified("app", r.Table)+" where "+r.Condition+";\n"+
		"  if v_rows > 0 then\n    raise check_violation using\n"+
		"      message = "+pg.Quote(r.Object+" "+r.Change+" (")+" || v_rows || case v_rows when 1 then ' row' else ' rows' end || "+pg.Quote("): "+r.Reason)+",\n"+
		"      hint = 'Mend the rows and apply the migration again. Statements that mend them may be above this one.';\n  end if;\nend;\n") + ";"
}
