package emit

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/parallel"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Render gives each object that is replaced as a whole its text, a digest of it and its dependencies. It ends the
// lowering of a schema: a database without texts is half done.
func Render(db *pg.Database) {
	for _, v := range db.Views {
		if v.IsQuery() {
			renderView(db, v)
		}
	}
	parallel.Each(db.Tables, func(t *pg.Table) { renderTable(db, t) })
	parallel.Each(db.Functions, func(f *pg.Function) {
		f.Text = function(f)
		f.Digest = pg.DigestOf(f.Text, f.Title, f.Comment)
	})
	RenderCode(db)
}

func renderTable(db *pg.Database, t *pg.Table) {
	for _, f := range t.Functions {
		f.Text = comment(f.Title) + "\n" + function(f)
		f.Digest = pg.DigestOf(f.Text)
	}
	if t.Tester != nil {
		t.Tester.Text = comment(t.Tester.Function.Title) + "\n" + function(t.Tester.Function)
		t.Tester.Digest = pg.DigestOf(t.Tester.Text)
	}
	for _, g := range t.Triggers {
		g.Text = trigger(t, g)
		g.Digest = pg.DigestOf(trigger(&pg.Table{Schema: t.Schema}, g)) // it follows its table through renames
	}
	for _, p := range t.Policies {
		renderPolicy(db, t, p)
	}
}

// RenderCode does so for the project's own SQL.
func RenderCode(db *pg.Database) {
	for _, f := range db.Code {
		f.Digest = pg.DigestOf(f.Text, grantCode)
		f.Mentions = nil
		for _, t := range db.Tables {
			if strings.Contains(f.Text, t.Name) { // at any place: SQL may be put together from texts
				f.Mentions = append(f.Mentions, t.Name)
			}
		}
		for _, v := range db.Views {
			if v.IsQuery() && strings.Contains(f.Text, v.Name) {
				f.Mentions = append(f.Mentions, v.Name)
			}
		}
	}
}

func renderView(db *pg.Database, v *pg.View) {
	mentioned := pg.Mentions(&pg.Subquery{Query: v.Query})
	for _, other := range db.Views {
		if mentioned.Relation(other.Schema, other.Name) {
			v.Reads = append(v.Reads, other.Name)
		}
	}
	v.Text = written(cat(
		comment(v.Title), hard,
		"create view ", pg.Qualified(v.Schema, v.Name), " as", hard,
		selectClauses(v.Query), ";",
	))
	v.Digest = pg.DigestOf(v.Text)
}

func renderPolicy(db *pg.Database, t *pg.Table, p *pg.Policy) {
	var conditions []pg.Expr
	for _, b := range slices.Concat(p.Branches, p.Check) {
		conditions = append(conditions, b.Condition)
	}
	mentioned := pg.Mentions(conditions...)
	for _, c := range t.Columns {
		if mentioned.Column(c.Name) {
			p.Columns = append(p.Columns, c.Name)
		}
	}
	for _, v := range db.Views {
		if mentioned.Relation(v.Schema, v.Name) {
			p.Views = append(p.Views, v.Name)
		}
	}
	p.Text = policy(t, p)
	p.Digest = pg.DigestOf(p.Text)
}

// createTable writes the statement that makes a table with some of its references. It lays out the description of
// columns and constraints below.
func createTable(t *pg.Table, references []*pg.Reference) string {
	var lines []doc
	for _, c := range t.Columns {
		line := cat(pg.Ident(c.Name), " ", c.Type)
		if c.NotNull {
			line = cat(line, " not null")
		}
		if c.Generated != "" {
			line = cat(line, generatedDoc(c))
		}
		if c.Default != "" {
			line = cat(line, " default ", c.Default)
		}
		lines = append(lines, line)
	}
	for _, c := range t.Constraints {
		if c.Where == "" { // else it is an index
			lines = append(lines, cat("constraint ", pg.Ident(c.Name), " ", constraintDoc(c)))
		}
	}
	for _, r := range references {
		lines = append(lines, reference(r))
	}
	return written(cat(
		comment(t.Origin.Of), hard,
		"create table ", pg.Qualified(t.Schema, t.Name), " (", nest(hard, join(cat(",", hard), lines)), hard, ");",
	))
}

// generated is the expression that Postgres computes a column from.
func generated(c *pg.Column) string { return oneLine(generatedDoc(c)) }

func generatedDoc(c *pg.Column) doc {
	return cat(" generated always as ", group("(", nest(soft, c.Generated), soft, ") stored"))
}

func constraintDoc(c *pg.Constraint) doc {
	if c.Kind == pg.Check {
		condition := doc(c.Condition)
		if c.Layout != nil {
			condition = expr(c.Layout, bindAny)
		}
		return cat("check ", group("(", nest(soft, condition), soft, ")"))
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

func trigger(t *pg.Table, g *pg.Trigger) string {
	create := "create trigger "
	if g.IsDeferred {
		create = "create constraint trigger "
	}
	d := cat(create, pg.Ident(g.Name), " ", g.Timing)
	if len(g.Columns) > 0 {
		names := make([]doc, len(g.Columns))
		for i, c := range g.Columns {
			names[i] = pg.Ident(c)
		}
		d = group(d, " of", nest(line, commaLines(names), line, "on ", pg.Qualified(t.Schema, t.Name)))
	} else {
		d = cat(d, " on ", pg.Qualified(t.Schema, t.Name))
	}
	each := "for each row "
	if g.PerStatement {
		each = "for each statement "
	}
	if g.IsDeferred {
		d = cat(d, nest(hard, "deferrable initially deferred"))
	}
	if g.Rows != "" {
		d = cat(d, nest(hard, "referencing ", g.Rows))
	}
	if g.When != nil {
		d = cat(d, nest(hard, each, "when ", group("(", nest(soft, expr(g.When, bindAny)), soft, ")"), " "))
	} else {
		d = cat(d, nest(hard, each))
	}
	arguments := make([]doc, len(g.Arguments))
	for i, a := range g.Arguments {
		arguments[i] = pg.Quote(a)
	}
	return written(cat(d, "execute function ", g.Function, bracketed("(", arguments, ")"), ";"))
}

func view(v *pg.View) string {
	if v.IsQuery() {
		return v.Text
	}
	columns := make([]doc, len(v.Columns))
	for i, c := range v.Columns {
		columns[i] = pg.Ident(c.Name)
		if c.Value != "" {
			columns[i] = cat(c.Value, " as ", pg.Ident(c.Name))
		}
	}
	list := group(nest(line, commaLines(columns)))
	if len(columns) == 1 {
		list = cat(" ", columns[0])
	}
	return written(cat(
		"create view ", pg.Qualified(v.Schema, v.Name), " as", hard,
		"select", list, hard,
		"from ", pg.Qualified("app", v.Table), ";",
	))
}

func policy(t *pg.Table, p *pg.Policy) string {
	condition := branches(p.Branches, pg.False())
	head := group("create policy ", pg.Ident(p.Name), nest(
		line, "on ", pg.Qualified(t.Schema, t.Name), " for ", string(p.Command), " to ", p.Role))
	switch p.Command {
	case pg.ForInsert:
		return written(cat(head, " with check (", nest(hard, condition), hard, ");"))
	case pg.ForUpdate:
		if len(p.Check) == 0 {
			return written(cat(head, " using (", nest(hard, condition), hard, ") with check (true);"))
		}
		return written(cat(head, " using (", nest(hard, condition), hard, ") with check (", nest(hard, branches(p.Check, pg.True())), hard, ");"))
	}
	return written(cat(head, " using (", nest(hard, condition), hard, ");"))
}

// branches lays out the condition of a policy: a case with each branch under its rule, or the condition that always
// holds.
func branches(list []*pg.Branch, otherwise pg.Expr) doc {
	if len(list) == 1 && list[0].When == nil {
		return cat(comment(list[0].Comment), hard, expr(list[0].Condition, bindAny))
	}
	whens := catDoc{}
	for _, b := range list {
		if b.Comment != "" {
			whens = append(whens, hard, comment(b.Comment))
		}
		whens = append(whens, hard, group("when ", expr(b.When, bindAny), " then", nest(line, expr(b.Condition, bindAny))))
	}
	whens = append(whens, hard, "else ", expr(otherwise, bindAny))
	return cat("case", nest(whens), hard, "end")
}

// reference lays out a foreign key as a table's constraint.
func reference(r *pg.Reference) doc {
	return group(
		"constraint ", pg.Ident(r.Name),
		nest(
			line, "foreign key (", pg.Ident(r.Column), ")",
			line, "references ", pg.Qualified(r.Schema, r.Table), " on delete ", r.OnDelete,
		),
	)
}

// grants writes the privileges on a table and its sequences: a statement for all that a role has, and for all roles
// that have the same.
func grants(t *pg.Table) []string {
	privileges, roles := map[string][]doc{}, map[string][]doc{}
	var order []string
	for _, g := range t.Grants {
		if privileges[g.Role] == nil {
			order = append(order, g.Role)
		}
		privileges[g.Role] = append(privileges[g.Role], privilege(g))
	}
	var lists []string
	for _, role := range order {
		list := oneLine(join(", ", privileges[role]))
		if roles[list] == nil {
			lists = append(lists, list)
		}
		roles[list] = append(roles[list], role)
	}
	for i, list := range lists {
		of := privileges[roles[list][0].(string)]
		lists[i] = written(group(
			"grant ", nest(filled(",", "", of)),
			nest(line, "on ", pg.Qualified(t.Schema, t.Name), " to ", join(", ", roles[list]), ";"),
		))
	}
	return append(lists, grantSequences(t)...)
}

func privilege(g *pg.Grant) doc {
	if len(g.Columns) == 0 {
		return g.Privilege
	}
	return cat(g.Privilege, " ", identifiers(g.Columns))
}

func function(f *pg.Function) string {
	arguments := make([]doc, len(f.Arguments))
	for i, a := range f.Arguments {
		arguments[i] = pg.ParamIdent(a.Name) + " " + a.Type
	}
	head := cat(
		"create function ", pg.Qualified(f.Schema, f.Name), bracketedLines("(", arguments, ")"), " returns ", result(f.Returns), hard,
		"language plpgsql", hard,
		string(f.Volatility), hard,
		"security definer", hard,
		"set search_path = pg_catalog, pg_temp", hard,
	)
	for _, s := range f.Settings {
		head = cat(head, "set ", s.Name, " = ", s.Value, hard)
	}
	body := written(functionBody(f))
	return written(cat(head, "as ")) + pg.DollarQuote("", "\n"+body+"\n") + ";"
}

func functionBody(f *pg.Function) doc {
	var parts catDoc
	if f.UseVariable {
		parts = append(parts, "#variable_conflict use_variable", hard)
	}
	if f.UseColumn {
		parts = append(parts, "#variable_conflict use_column", hard)
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

// result lays out the return type of a function; a table has a line for each column once a line would wrap. No type in
// one has a comma.
func result(returns string) doc {
	columns, isTable := strings.CutPrefix(returns, "table (")
	if !isTable {
		return returns
	}
	var list []doc
	for _, c := range strings.Split(strings.TrimSuffix(columns, ")"), ", ") {
		list = append(list, c)
	}
	return cat("table ", bracketedLines("(", list, ")"))
}
