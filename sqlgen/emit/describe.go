package emit

import (
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Describe turns a database into its description: the text of each object, by
// name. platform is the digest of the hand-written functions that the database
// is compiled for.
func Describe(db *pg.Database, platform string) *diff.Database {
	d := &diff.Database{Platform: platform}
	for _, t := range db.Tables {
		d.Tables = append(d.Tables, describeTable(t))
		if g := describeGrants(t); g != nil {
			d.Grants = append(d.Grants, g)
		}
		for _, p := range t.Policies {
			text := policy(t, p)
			d.Policies = append(d.Policies, &diff.Policy{Table: t.Name, Name: p.Name, Text: text, Digest: diff.DigestOf(text)})
		}
	}
	for _, v := range db.Views {
		text := view(v)
		d.Views = append(d.Views, &diff.View{Name: v.Name, Text: text, Digest: diff.DigestOf(text)})
	}
	for _, f := range db.Code {
		d.Code = append(d.Code, &diff.CodeFile{Name: f.Name, Text: f.Text, Digest: diff.DigestOf(f.Text)})
	}
	for _, f := range db.Functions {
		d.Functions = append(d.Functions, describeFunction(f))
	}
	return d
}

func describeTable(t *pg.Table) *diff.Table {
	d := &diff.Table{Name: t.Name, Origin: t.Origin, Comment: t.Comment, Text: createTable(t)}
	for _, c := range t.Columns {
		column := &diff.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Comment: c.Comment, Sealed: c.Sealed}
		if c.Default != nil {
			column.Default = Expr(c.Default)
		}
		d.Columns = append(d.Columns, column)
	}
	for _, c := range t.Constraints {
		if c.Where != nil {
			d.Indexes = append(d.Indexes, &diff.Index{
				Name:   c.Name,
				Unique: true,
				Keys:   identList(c.Columns),
				Where:  Expr(c.Where),
			})
			continue
		}
		d.Constraints = append(d.Constraints, &diff.Constraint{Name: c.Name, Definition: constraint(c), Columns: c.Columns})
	}
	for _, r := range t.References {
		d.References = append(d.References, &diff.Constraint{
			Name: r.Name,
			Definition: "foreign key (" + pg.Ident(r.Column) + ") references " + pg.Qualified(r.Schema, r.Table) +
				" on delete " + r.OnDelete,
			Columns: []string{r.Column},
		})
	}
	for _, i := range t.Indexes {
		keys := make([]string, len(i.Keys))
		for n, k := range i.Keys {
			keys[n] = pg.Ident(k.Column)
			if k.Function != "" {
				keys[n] = k.Function + "(" + keys[n] + `) collate "C"`
			}
			if k.Descending {
				keys[n] += " desc"
			}
		}
		d.Indexes = append(d.Indexes, &diff.Index{Name: i.Name, Keys: strings.Join(keys, ", "), Comment: i.Comment})
	}
	for _, g := range t.Triggers {
		d.Triggers = append(d.Triggers, &diff.Trigger{Name: g.Name, Text: trigger(t, g)})
	}
	return d
}

// createTable writes the statement that makes a table. What it says of a column
// or constraint is what is described below, laid out.
func createTable(t *pg.Table) string {
	var lines []doc
	for _, c := range t.Columns {
		line := cat(pg.Ident(c.Name), " ", c.Type)
		if c.NotNull {
			line = cat(line, " not null")
		}
		if c.Default != nil {
			line = cat(line, " default ", expr(c.Default, bindAny))
		}
		lines = append(lines, line)
	}
	for _, c := range t.Constraints {
		if c.Where == nil { // else it is an index
			lines = append(lines, cat("constraint ", pg.Ident(c.Name), " ", constraintDoc(c)))
		}
	}
	return layout(cat(
		comment(t.Origin), hard,
		"create table ", pg.Qualified(t.Schema, t.Name), " (", nest(hard, join(cat(",", hard), lines)), hard, ");",
	))
}

func constraintDoc(c *pg.Constraint) doc {
	if c.Kind == pg.Check {
		return cat("check ", group("(", nest(soft, expr(c.Condition, bindAny)), soft, ")"))
	}
	return cat(string(c.Kind), " ", identifiers(c.Columns))
}

// identifiers is a list of names in parentheses.
func identifiers(names []string) doc {
	quoted := make([]doc, len(names))
	for i, n := range names {
		quoted[i] = pg.Ident(n)
	}
	return bracketed("(", quoted, ")")
}

func constraint(c *pg.Constraint) string {
	return oneLine(constraintDoc(c))
}

func identList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = pg.Ident(n)
	}
	return strings.Join(quoted, ", ")
}

func trigger(t *pg.Table, g *pg.Trigger) string {
	d := cat("create trigger ", pg.Ident(g.Name), " ", g.Timing, " on ", pg.Qualified(t.Schema, t.Name), nest(hard, "for each row "))
	if g.When != nil {
		d = cat(d, "when (", oneLine(expr(g.When, bindAny)), ") ")
	}
	arguments := make([]doc, len(g.Arguments))
	for i, a := range g.Arguments {
		arguments[i] = pg.Quote(a)
	}
	return layout(cat(d, "execute function ", g.Function, bracketed("(", arguments, ")"), ";"))
}

func view(v *pg.View) string {
	schema, table, _ := strings.Cut(v.Table, ".")
	query := &pg.Select{Columns: v.Columns, From: pg.Ref(schema, table)}
	return layout(cat("create view ", pg.Qualified(v.Schema, v.Name), " as", hard, selectClausesBroken(query), ";"))
}

// selectClausesBroken lays out a query with each clause on a line of its own,
// whatever its length.
func selectClausesBroken(q *pg.Select) doc {
	return cat("select", columns(q.Columns), hard, tailDoc(&pg.QueryTail{From: q.From}))
}

func policy(t *pg.Table, p *pg.Policy) string {
	condition := branches(p.Branches, pg.False())
	head := group("create policy ", pg.Ident(p.Name), nest(
		line, "on ", pg.Qualified(t.Schema, t.Name), " for ", string(p.Command), " to ", p.Role))
	switch p.Command {
	case pg.ForInsert:
		return layout(cat(head, " with check (", nest(hard, condition), hard, ");"))
	case pg.ForUpdate:
		check := doc("true")
		if len(p.Check) > 0 {
			check = branches(p.Check, pg.True())
		}
		return layout(cat(head, " using (", nest(hard, condition), hard, ") with check (", nest(
			hard, "-- An update is judged on the row as it was. Without this clause the condition above would judge the new row too.",
			hard, check), hard, ");"))
	}
	return layout(cat(head, " using (", nest(hard, condition), hard, ");"))
}

// branches lays out the condition of a policy: a case over the action, each
// branch under the rule that it stands for.
func branches(list []*pg.Branch, otherwise pg.Expr) doc {
	whens := catDoc{}
	for _, b := range list {
		if b.Comment != "" {
			whens = append(whens, hard, comment(b.Comment))
		}
		whens = append(whens, hard, "when ", actionTest(b.Actions), " then", nest(hard, expr(b.Condition, bindAny)))
	}
	whens = append(whens, hard, "else ", expr(otherwise, bindAny))
	return cat("case", nest(whens), hard, "end")
}

// actionTest calls platform.action bare: the planner evaluates it and keeps the
// branches of the action at hand only.
func actionTest(actions []string) doc {
	if len(actions) == 1 {
		return expr(pg.Eq(pg.Fn("platform.action"), pg.Str(actions[0])), bindAny)
	}
	list := make([]pg.Expr, len(actions))
	for i, a := range actions {
		list[i] = pg.Str(a)
	}
	return expr(&pg.In{Value: pg.Fn("platform.action"), List: list}, bindAny)
}

func describeGrants(t *pg.Table) *diff.Grants {
	if len(t.Grants) == 0 {
		return nil
	}
	d := &diff.Grants{Table: t.Name}
	for _, g := range t.Grants {
		what := doc(g.Privilege)
		if len(g.Columns) > 0 {
			what = cat(g.Privilege, " ", identifiers(g.Columns))
		}
		d.Texts = append(d.Texts, layout(group("grant ", what, nest(line, "on ", pg.Qualified(t.Schema, t.Name), " to ", g.Role, ";"))))
	}
	d.Digest = diff.DigestOf(d.Texts...)
	return d
}

func describeFunction(f *pg.Function) *diff.Function {
	types := make([]string, len(f.Arguments))
	for i, a := range f.Arguments {
		types[i] = a.Type
	}
	text := function(f)
	return &diff.Function{
		Name:      f.Name,
		Arguments: strings.Join(types, ", "),
		Title:     f.Title,
		Text:      text,
		Digest:    diff.DigestOf(text, f.Title, f.Comment),
		Comment:   f.Comment,
	}
}

func function(f *pg.Function) string {
	arguments := make([]doc, len(f.Arguments))
	for i, a := range f.Arguments {
		arguments[i] = pg.Ident(a.Name) + " " + a.Type
	}
	head := cat(
		"create function ", pg.Qualified(f.Schema, f.Name), bracketed("(", arguments, ")"), " returns ", f.Returns, hard,
		"language plpgsql", hard,
		string(f.Volatility), hard,
		"security definer", hard,
		"set search_path = pg_catalog, pg_temp", hard,
	)
	for _, s := range f.Settings {
		head = cat(head, "set ", s.Name, " = ", s.Value, hard)
	}
	body := layout(functionBody(f))
	return layout(cat(head, "as ")) + pg.DollarQuote("", "\n"+body+"\n") + ";"
}

func functionBody(f *pg.Function) doc {
	var parts catDoc
	if f.UseVariable {
		parts = append(parts, "#variable_conflict use_variable", hard)
	}
	if len(f.Variables) > 0 {
		declarations := catDoc{}
		for _, v := range f.Variables {
			if v.Comment != "" {
				declarations = append(declarations, hard, comment(v.Comment))
			}
			d := catDoc{v.Name, " ", v.Type}
			if v.Initial != nil {
				d = append(d, " := ", expr(v.Initial, bindAny))
			}
			declarations = append(declarations, hard, group(d, ";"))
		}
		parts = append(parts, "declare", nest(declarations), hard)
	}
	parts = append(parts, "begin")
	for i, p := range f.Body {
		if i > 0 {
			parts = append(parts, "\n")
		}
		block := catDoc{hard}
		if p.Comment != "" {
			block = append(block, comment(p.Comment), hard)
		}
		parts = append(parts, nest(append(block, statements(p.Statements))))
	}
	return append(parts, hard, "end;")
}
