package emit

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// tester writes the function that tests rules when all is written. Its trigger calls it only for rows for which a rule
// was false when a statement left them. It reads the rows as they are now: the last transaction to write a row waited
// for the others, so that state stays.
func tester(t *pg.Table, x *pg.Tester) string {
	var cases []string
	for _, r := range x.Rules {
		cases = append(cases, "    when "+Expr(&pg.Is{Value: r.Layout, Test: "false"})+" then "+pg.Quote(r.Name))
	}
	table := pg.Qualified(t.Schema, t.Name)
	return comment("tests rules over what is computed from other rows, when all rows are written") + "\n" +
		"create function " + pg.Qualified(t.Schema, x.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity definer\n" +
		"set search_path = pg_catalog, pg_temp\nas " + pg.DollarQuote("", "\n#variable_conflict use_column\ndeclare\n  __id text := new.id;\n  __broken text;\nbegin\n"+
		"  select case\n"+strings.Join(cases, "\n")+"\n  end\n  into __broken\n  from "+table+"\n  where "+pg.Ident(t.Name)+".id = __id;\n\n"+
		"  if __broken is not null then\n"+indented(raiseBroken(t, "__broken"), 4)+"\n  end if;\n\n  return null;\nend;\n") + ";"
}

// raiseBroken ends the transaction as a check of a table does; an expression is the check's name.
func raiseBroken(t *pg.Table, name string) string {
	return "raise exception 'a row of % breaks the rule %', " + pg.Quote(t.Name) + ", " + name + "\n  using errcode = 'check_violation', " +
		"schema = " + pg.Quote(t.Schema) + ", table = " + pg.Quote(t.Name) + ", constraint = " + name + ";"
}

// testRows writes the statement that tests a rule on the existing rows.
func testRows(t *pg.Table, rule *pg.Constraint) string {
	return "do " + pg.DollarQuote("", "\nbegin\n  if exists (select from "+pg.Qualified(t.Schema, t.Name)+" where ("+rule.Condition+") is false) then\n"+
		indented(raiseBroken(t, pg.Quote(rule.Name)), 4)+"\n  end if;\nend;\n") + ";"
}

// countRows writes the statement that counts the rows that break what a plan adds, and ends the transaction if there are
// any.
func countRows(r *diff.Refusal) string {
	return "do " + pg.DollarQuote("", "\ndeclare\n  v_rows bigint;\nbegin\n  select count(*) into v_rows from "+pg.Qualified("app", r.Table)+" where "+r.Condition+";\n"+
		"  if v_rows > 0 then\n    raise check_violation using\n"+
		"      message = "+pg.Quote(r.Object+" "+r.Change+" (")+" || v_rows || case v_rows when 1 then ' row' else ' rows' end || "+pg.Quote("): "+r.Reason)+",\n"+
		"      hint = 'Mend the rows and apply the migration again. Statements that mend them may be above this one.';\n  end if;\nend;\n") + ";"
}

// indented moves lines to the right.
func indented(text string, by int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", by) + line
		}
	}
	return strings.Join(lines, "\n")
}
