package emit

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Statement is a statement of a plan, or a whole file of the project's own SQL.
type Statement struct {
	Text  string
	Code  string     // the name of the file; empty for a generated statement
	Step  *diff.Step // the step that it belongs to; nil if it follows from several
	Alone bool       // whether it must run outside of any transaction
}

// Plan writes the steps of a plan as statements, in order. Only a plan that makes functions needs a result, which names
// their owners.
func Plan(p *diff.Plan) []Statement {
	w := planWriter{plan: p}
	for i, s := range p.Steps {
		if s.Later && (i == 0 || !p.Steps[i-1].Later) {
			w.finish() // with the transaction
		}
		w.current = s
		w.step(s)
	}
	w.finish()
	return w.statements
}

// Lock writes the statement that locks what the steps of a plan change, before the first of them. It is empty if they
// change nothing that exists.
func Lock(l diff.Locks) string {
	var written, replaced []string
	for _, t := range l.Written {
		written = append(written, pg.Quote(pg.Qualified(t.Schema, t.Name)))
	}
	for _, v := range l.Views {
		replaced = append(replaced, pg.Quote(pg.Qualified(v.Schema, v.Name)))
	}
	for _, t := range l.Replaced {
		replaced = append(replaced, pg.Quote(pg.Qualified(t.Schema, t.Name)))
	}
	if len(written)+len(replaced) == 0 {
		return ""
	}
	return fmt.Sprintf("select platform.lock_tables(\n  array[%s]::text[],\n  array[%s]::text[]\n);",
		strings.Join(written, ", "), strings.Join(replaced, ", "))
}

// planWriter gathers statements, and the functions whose ownership passes at the end, all together.
type planWriter struct {
	plan       *diff.Plan
	statements []Statement
	current    *diff.Step
	created    bool
	viewsMade  bool
}

func (w *planWriter) add(format string, args ...any) {
	w.statements = append(w.statements, Statement{Text: fmt.Sprintf(format, args...), Step: w.current})
}

// alter changes a table.
func (w *planWriter) alter(t *pg.Table, format string, args ...any) {
	w.add("alter table %s %s;", pg.Qualified(t.Schema, t.Name), fmt.Sprintf(format, args...))
}

// alterColumn changes a column.
func (w *planWriter) alterColumn(t *pg.Table, c *pg.Column, format string, args ...any) {
	w.alter(t, "alter column %s %s", pg.Ident(c.Name), fmt.Sprintf(format, args...))
}

// step writes the statements of a step.
func (w *planWriter) step(s *diff.Step) {
	if !w.ofTable(s.Change) && !w.ofColumn(s.Change) && !w.ofConstraint(s.Change) && !w.ofFunction(s.Change) {
		panic(fmt.Sprintf("emit: no statement for change %T", s.Change))
	}
}

// ofTable writes a change of a table, its rows, its rights or its view. It returns false for any other.
func (w *planWriter) ofTable(change diff.Change) bool {
	switch c := change.(type) {
	case diff.CreateTable:
		w.createTable(c.Table, c.References)
	case diff.DropTable:
		w.add("drop table %s;", pg.Qualified(c.Table.Schema, c.Table.Name))
	case diff.RenameTable:
		w.alter(c.Old, "rename to %s", pg.Ident(c.New.Name))
	case diff.CommentTable:
		w.add("%s", commentTable(c.Table))
	case diff.CountFiles:
		w.add("select platform.file_recount();")
	case diff.UpdateRows:
		w.updateRows(c)
	case diff.CountRows:
		w.add("%s", countRows(c.Refusal))
	case diff.TestRows:
		w.add("%s", testRows(c.Table, c.Rule))
	case diff.SetGrants:
		for _, role := range c.From { // privileges on columns go with those on the table
			w.add("revoke all on %s from %s;", pg.Qualified(c.Table.Schema, c.Table.Name), role)
			for _, column := range c.Table.Numbered() {
				w.add("revoke all on sequence %s from %s;", sequenceName(c.Table, column), role)
			}
		}
		for _, text := range grants(c.Table) {
			w.add("%s", text)
		}
	case diff.DropPolicy:
		w.add("drop policy %s on %s;", pg.Ident(c.Policy.Name), pg.Qualified(c.Table.Schema, c.Table.Name))
	case diff.CreatePolicy:
		w.add("%s", c.Policy.Text)
	case diff.DropView:
		w.add("drop view %s;", pg.Qualified(c.View.Schema, c.View.Name))
	case diff.RenameViewColumn:
		w.add("alter view %s rename column %s to %s;", pg.Qualified(c.View.Schema, c.View.Name), pg.Ident(c.Old), pg.Ident(c.New))
	case diff.CreateView:
		w.add("%s", replacing(c.Replace, view(c.View)))
		w.viewsMade = true
	default:
		return false
	}
	return true
}

// ofColumn writes a change of a column or its sequence. It returns false for any other.
func (w *planWriter) ofColumn(change diff.Change) bool {
	switch c := change.(type) {
	case diff.AddColumn:
		w.alter(c.Table, "add column %s", columnDefinition(c.Column, c.Optional))
	case diff.DropColumn:
		w.alter(c.Table, "drop column %s", pg.Ident(c.Column.Name))
	case diff.RenameColumn:
		w.alter(c.Table, "rename column %s to %s", pg.Ident(c.Old), pg.Ident(c.Column.Name))
	case diff.AlterType:
		w.alterType(c)
	case diff.AlterDefault:
		w.alterDefault(c.Table, c.Column)
	case diff.DropExpression:
		w.alterColumn(c.Table, c.Column, "drop expression")
	case diff.SetNotNull:
		w.alterColumn(c.Table, c.Column, "set not null")
	case diff.DropNotNull:
		w.alterColumn(c.Table, c.Column, "drop not null")
	case diff.FillColumn:
		w.updateRows(diff.UpdateRows{
			Table: c.Table, Column: c.Column, Value: c.Column.Derived,
			Where: pg.Ident(c.Table.Name) + "." + pg.Ident(c.Column.Name) + " is distinct from " + c.Column.Derived,
		})
	case diff.CommentColumn:
		w.add("%s", commentColumn(c.Table, c.Column))
	case diff.CreateSequence:
		w.add("%s", createSequence(c.Table, c.Column, true))
	case diff.DropSequence:
		if c.Column.Sequence.Per != "" {
			w.add("delete from platform.counter where counter.sequence = %s;", pg.Quote(c.Column.Sequence.Name))
			break
		}
		w.alterColumn(c.Table, c.Column, "drop default")
		w.add("drop sequence %s;", sequenceName(c.Table, c.Column))
	case diff.RenameSequence:
		if c.IsCounter {
			w.add("update platform.counter set sequence = %s where counter.sequence = %s;", pg.Quote(c.New), pg.Quote(c.Old))
			break
		}
		w.add("alter sequence %s rename to %s;", pg.Qualified("app", c.Old), pg.Ident(c.New))
	case diff.RestartSequence:
		w.add("alter sequence %s start with %d;", sequenceName(c.Table, c.Column), c.Column.Sequence.First)
	case diff.AdvanceSequence:
		w.add("%s", advanceSequence(c.Table, c.Column))
	case diff.NumberRows:
		w.untouched(c.Table, numberRows(c.Table, c.Column))
	default:
		return false
	}
	return true
}

// ofConstraint writes a change of a constraint or an index. It returns false for any other.
func (w *planWriter) ofConstraint(change diff.Change) bool {
	switch c := change.(type) {
	case diff.DropConstraint:
		w.alter(c.Table, "drop constraint %s", pg.Ident(c.Name))
	case diff.AddConstraint:
		w.addConstraint(c)
	case diff.AddReference:
		w.alter(c.Table, "add %s%s", oneLine(reference(c.Reference)), notValid(c.NotValid))
	case diff.Validate:
		w.alter(c.Table, "validate constraint %s", pg.Ident(c.Name))
	case diff.RenameConstraint:
		w.alter(c.Table, "rename constraint %s to %s", pg.Ident(c.Old), pg.Ident(c.New))
	case diff.DropIndex:
		w.add("drop index %s;", pg.Qualified("app", c.Name))
	case diff.CreateIndex:
		w.build(c.Concurrently, createIndex(c.Table, c.Index, concurrently(c.Concurrently)))
	case diff.RenameIndex:
		w.add("alter index %s rename to %s;", pg.Qualified("app", c.Old), pg.Ident(c.New))
	case diff.CreateUnique:
		w.build(c.Concurrently, createUnique(c.Table, c.Constraint, concurrently(c.Concurrently)))
	default:
		return false
	}
	return true
}

// ofFunction writes a change of a function or a trigger. It returns false for any other.
func (w *planWriter) ofFunction(change diff.Change) bool {
	switch c := change.(type) {
	case diff.DropFunction:
		w.add("%s", written(cat("drop function ", signature(c.Function), ";")))
	case diff.CreateFunction:
		w.add("%s\n%s", comment(c.Function.Title), replacing(c.Replace, c.Function.Text))
		w.add("%s", commentFunction(c.Function))
		w.created = w.created || !c.Replace
	case diff.DropKeepers:
		for _, f := range c.Table.Functions {
			w.add("drop function %s();", pg.Qualified(c.Table.Schema, f.Name))
		}
	case diff.CreateKeepers:
		for _, f := range c.Table.Functions {
			w.add("%s", f.Text)
		}
	case diff.DropTester:
		w.add("drop function %s();", pg.Qualified(c.Table.Schema, c.Table.Tester.Name))
	case diff.CreateTester:
		w.add("%s", c.Table.Tester.Text)
	case diff.DropTrigger:
		w.add("drop trigger %s on %s;", pg.Ident(c.Name), pg.Qualified(c.Table.Schema, c.Table.Name))
	case diff.CreateTrigger:
		w.add("%s", c.Trigger.Text)
	case diff.ClearCode:
		w.clearCode()
	case diff.RunCode:
		for _, f := range c.Files {
			w.statements = append(w.statements, Statement{Text: f.Text, Code: f.Name, Step: w.current})
		}
		w.add("%s", grantCode)
	default:
		return false
	}
	return true
}

// build adds the statement that makes an index. Postgres makes one concurrently only
// outside of a transaction.
func (w *planWriter) build(alone bool, text string) {
	w.add("%s", text)
	w.statements[len(w.statements)-1].Alone = alone
}

func concurrently(is bool) string {
	if is {
		return "concurrently"
	}
	return ""
}

func notValid(is bool) string {
	if is {
		return " not valid"
	}
	return ""
}

// replacing turns the statement that makes an object into one that replaces the existing one.
func replacing(is bool, text string) string {
	if is {
		return "create or replace" + strings.TrimPrefix(text, "create")
	}
	return text
}

func (w *planWriter) createTable(t *pg.Table, references []*pg.Reference) {
	for _, sequence := range createSequences(t) {
		w.add("%s", sequence)
	}
	w.add("%s", createTable(t, references))
	for _, owned := range ownSequences(t) {
		w.add("%s", owned)
	}
	w.add("%s", enableRowSecurity(t.Name))
	if t.Comment != "" {
		w.add("%s", commentTable(t))
	}
	for _, c := range t.Columns {
		if c.Comment != "" {
			w.add("%s", commentColumn(t, c))
		}
	}
}

// alterType changes the type of a column. The old default need not fit the new type, so it is dropped first.
func (w *planWriter) alterType(c diff.AlterType) {
	if c.Old.Default != "" {
		w.alterColumn(c.Table, c.New, "drop default")
	}
	if c.Old.Type == c.New.Type {
		w.updateRows(diff.UpdateRows{Table: c.Table, Column: c.New, Value: c.Using})
		return
	}
	w.alterColumn(c.Table, c.New, "type %s using %s", c.New.Type, c.Using)
}

func (w *planWriter) alterDefault(t *pg.Table, c *pg.Column) {
	if c.Default == "" {
		w.alterColumn(t, c, "drop default")
	} else {
		w.alterColumn(t, c, "set default %s", c.Default)
	}
}

// updateRows gives rows a value.
func (w *planWriter) updateRows(c diff.UpdateRows) {
	text := "update " + pg.Qualified(c.Table.Schema, c.Table.Name) + "\nset " + pg.Ident(c.Column.Name) + " = " + c.Value
	if c.Where != "" {
		text += "\nwhere " + c.Where
	}
	w.untouched(c.Table, text+";")
}

// untouched changes rows of a table. No user of the application makes that change, so it leaves updated_at alone.
func (w *planWriter) untouched(t *pg.Table, update string) {
	w.alter(t, "disable trigger _100_touch")
	w.add("%s", update)
	w.alter(t, "enable trigger _100_touch")
}

func (w *planWriter) addConstraint(c diff.AddConstraint) {
	name := pg.Ident(c.Constraint.Name)
	if c.FromIndex {
		w.alter(c.Table, "add constraint %s %s using index %s", name, c.Constraint.Kind, name)
		return
	}
	w.alter(c.Table, "add constraint %s %s%s", name, oneLine(constraintDoc(c.Constraint)), notValid(c.NotValid))
}

// clearCode makes schema functions anew, as the platform does at first.
func (w *planWriter) clearCode() {
	w.add("drop schema functions cascade;")
	w.add("create schema functions;")
	w.add("comment on schema functions is 'Custom code of the project.';")
	w.add("grant usage on schema functions to sternpost_code;")
}

// finish adds the statements that follow from several steps.
func (w *planWriter) finish() {
	w.current = nil
	if w.viewsMade {
		w.add("%s", grantViews)
	}
	if w.created {
		for _, statement := range Ownership(w.plan.Result.Functions) {
			w.add("%s", statement)
		}
	}
	w.viewsMade, w.created = false, false
}
