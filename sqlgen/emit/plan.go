package emit

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Statement is a statement of a plan, or a whole file of the project's own SQL.
type Statement struct {
	Text string
	Code string // the name of the file; empty for a statement of ours
}

// Plan writes the steps of a plan as statements, in order.
func Plan(p *diff.Plan) []Statement {
	var w planWriter
	for _, s := range p.Steps {
		w.step(s)
	}
	return w.finish()
}

// planWriter gathers statements, and the functions whose ownership passes at the
// end, all together.
type planWriter struct {
	statements []Statement
	created    []*diff.Function
	viewsMade  bool
}

func (w *planWriter) add(format string, args ...any) {
	w.statements = append(w.statements, Statement{Text: fmt.Sprintf(format, args...)})
}

func (w *planWriter) step(s diff.Step) {
	switch s := s.(type) {
	case diff.DropPolicy:
		w.add("drop policy %s on %s;", pg.Ident(s.Policy.Name), pg.Qualified("app", s.Policy.Table))
	case diff.DropView:
		w.add("drop view %s;", pg.Qualified("related", s.View.Name))
	case diff.DropFunction:
		w.add("drop function %s;", signature(s.Function))
	case diff.CreateTable:
		w.createTable(s.Table)
	case diff.AddColumn:
		w.add("alter table %s add column %s;", pg.Qualified("app", s.Table), columnDefinition(s.Column))
		if s.Column.Comment != "" {
			w.commentColumn(s.Table, s.Column)
		}
	case diff.DropTable:
		w.add("drop table %s;", pg.Qualified("app", s.Table))
	case diff.DropColumn:
		w.add("alter table %s drop column %s;", pg.Qualified("app", s.Table), pg.Ident(s.Column))
	case diff.AlterType:
		w.alterType(s)
	case diff.AlterColumn:
		w.alterColumn(s)
	case diff.CommentTable:
		w.add("%s", commentOn("table "+pg.Qualified("app", s.Table), s.Comment))
	case diff.DropConstraint:
		w.add("alter table %s drop constraint %s;", pg.Qualified("app", s.Table), pg.Ident(s.Constraint.Name))
	case diff.AddConstraint:
		w.add("alter table %s add constraint %s %s;", pg.Qualified("app", s.Table), pg.Ident(s.Constraint.Name), s.Constraint.Definition)
	case diff.RenameConstraint:
		w.add("alter table %s rename constraint %s to %s;", pg.Qualified("app", s.Table), pg.Ident(s.Old), pg.Ident(s.New))
	case diff.DropIndex:
		w.add("drop index %s;", pg.Qualified("app", s.Index.Name))
	case diff.CreateIndex:
		w.add("%s", createIndex(s.Table, s.Index))
	case diff.DropTrigger:
		w.add("drop trigger %s on %s;", pg.Ident(s.Trigger.Name), pg.Qualified("app", s.Table))
	case diff.CreateTrigger:
		if s.Replace {
			w.add("drop trigger %s on %s;", pg.Ident(s.Trigger.Name), pg.Qualified("app", s.Table))
		}
		w.add("%s", s.Trigger.Text)
	case diff.CreateView:
		w.add("%s", s.View.Text)
		w.viewsMade = true
	case diff.CreatePolicy:
		w.add("%s", s.Policy.Text)
	case diff.SetGrants:
		// Privileges on columns go with those on the table.
		w.add("revoke all on %s from sternpost_caller;", pg.Qualified("app", s.Grants.Table))
		for _, grant := range s.Grants.Texts {
			w.add("%s", grant)
		}
	case diff.CreateFunction:
		w.add("%s\n%s", comment(s.Function.Title), s.Function.Text)
		w.add("%s", commentFunction(s.Function))
		w.created = append(w.created, s.Function)
	case diff.ClearCode:
		w.statements = append(w.statements, clearCode()...)
	case diff.RunCode:
		for _, f := range s.Files {
			w.statements = append(w.statements, Statement{Text: f.Text, Code: f.Name})
		}
		w.add("%s", grantCode)
	default:
		panic(fmt.Sprintf("emit: no statement for step %T", s))
	}
}

func (w *planWriter) createTable(t *diff.Table) {
	w.add("%s", t.Text)
	w.add("%s", enableRowSecurity(t.Name))
	if t.Comment != "" {
		w.add("%s", commentOn("table "+pg.Qualified("app", t.Name), t.Comment))
	}
	for _, c := range t.Columns {
		if c.Comment != "" {
			w.commentColumn(t.Name, c)
		}
	}
}

func (w *planWriter) commentColumn(table string, c *diff.Column) {
	w.add("%s", commentOn("column "+pg.Qualified("app", table)+"."+pg.Ident(c.Name), c.Comment))
}

// alterType changes the type of a column. The old
// default need not fit the new type, so it comes off first.
func (w *planWriter) alterType(s diff.AlterType) {
	alter := "alter table " + pg.Qualified("app", s.Table) + " alter column " + pg.Ident(s.New.Name)
	if s.Old.Default != "" {
		w.add("%s drop default;", alter)
	}
	using := "null"
	if s.Keep {
		using = pg.Ident(s.New.Name) + "::" + s.New.Type
	}
	w.add("%s type %s using %s;", alter, s.New.Type, using)
	without := *s.Old
	without.Default = ""
	w.alterColumn(diff.AlterColumn{Table: s.Table, Old: &without, New: s.New})
}

func (w *planWriter) alterColumn(s diff.AlterColumn) {
	alter := "alter table " + pg.Qualified("app", s.Table) + " alter column " + pg.Ident(s.New.Name)
	if s.Old.Default != s.New.Default {
		if s.New.Default == "" {
			w.add("%s drop default;", alter)
		} else {
			w.add("%s set default %s;", alter, s.New.Default)
		}
	}
	if s.Old.NotNull != s.New.NotNull {
		if s.New.NotNull {
			w.add("%s set not null;", alter)
		} else {
			w.add("%s drop not null;", alter)
		}
	}
	if s.Old.Comment != s.New.Comment {
		w.commentColumn(s.Table, s.New)
	}
}

// clearCode makes schema functions anew, as the platform does at first.
func clearCode() []Statement {
	return []Statement{
		{Text: "drop schema functions cascade;"},
		{Text: "create schema functions;"},
		{Text: "comment on schema functions is 'Custom code of the project.';"},
		{Text: "grant usage on schema functions to sternpost_caller;"},
	}
}

func (w *planWriter) finish() []Statement {
	if w.viewsMade {
		w.add("%s", grantViews)
	}
	if len(w.created) > 0 {
		for _, statement := range ownership {
			w.add("%s", statement)
		}
	}
	return w.statements
}
