package table

import (
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/pattern"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// PlainTable lowers a model to its table without indexes, triggers, and what other rows make of it. late are the rules
// over what they make.
func (l *Lowering) PlainTable(m *model.Model, over Over) (t *pg.Table, late []*pg.Constraint) {
	t = &pg.Table{Schema: value.AppSchema, Name: m.Table, Origin: OriginOf(m), Comment: m.Doc}
	if m.RenamedFrom != "" {
		t.RenamedFrom, t.RenamedAt = model.SnakeForm(m.RenamedFrom), PlaceOf(m.RenamedAt)
	}
	for _, f := range m.Stored() {
		c := column(f)
		if f.Sequence != nil {
			l.number(c, f)
		}
		t.Columns = append(t.Columns, c)
		if !f.Optional {
			l.constraint(m.Table+"."+f.Column, release.Constraint{Kind: release.Required, Table: m.Table, Fields: []string{f.Name}})
		}
	}
	t.Constraints = l.keys(m)
	t.Constraints = append(t.Constraints, l.checks(m)...)
	t.Constraints = append(t.Constraints, l.limits(m)...)
	checks, late := l.validations(m, over)
	t.Constraints = append(t.Constraints, checks...)
	t.References = l.references(m)
	return t, late
}

// View lowers a model to the view through which generated SQL walks relations. It shows only whether a Password or
// Secret is set: rules need no more.
func (l *Lowering) View(m *model.Model) *pg.View {
	v := &pg.View{Schema: value.RelatedSchema, Name: m.Table, Table: m.Table}
	for _, f := range m.Stored() {
		c := pg.ViewColumn{Name: f.Column}
		if f.StepWriteOnly() {
			isThere := pg.IsNotNull(pg.Lit(pg.Ident(f.Column)))
			c.Value = emit.Expr(&pg.Case{Whens: []pg.When{{Condition: isThere, Result: pg.Str("")}}})
		}
		v.Columns = append(v.Columns, c)
	}
	return v
}

func column(f *model.Field) *pg.Column {
	c := &pg.Column{Name: f.Column, Origin: OriginOfField(f), Type: value.ColumnType(f.Type), NotNull: !f.Optional, Comment: f.Doc}
	c.Origin.Of = "" // its table names it
	c.RenamedFrom, c.RenamedAt = RenamedFrom(f)
	if f.FKOf != nil {
		c.Comment = f.FKOf.Doc
	}
	if f.Type.Kind.IsWriteOnly() {
		c.Opaque = f.Type.Kind.String()
	}
	if d := value.ColumnDefault(f); d != nil {
		c.Default = emit.Expr(d)
	}
	if f.Enum != nil {
		for _, v := range f.Enum.Values {
			c.Values = append(c.Values, v.Name)
			if v.RenamedFrom != "" {
				c.Renames = append(c.Renames, pg.ValueRename{Old: v.RenamedFrom, New: v.Name, At: PlaceOf(v.RenamedAt)})
			}
		}
	}
	return c
}

// keys lowers the primary key and the unique constraints.
func (l *Lowering) keys(m *model.Model) []*pg.Constraint {
	primary := &pg.Constraint{Name: l.Names.Take(m.Table + "_pkey"), Kind: pg.PrimaryKey, Origin: OriginOf(m), Columns: []string{"id"}}
	l.constraint(primary.Name, release.Constraint{Kind: release.Unique, Table: m.Table, Fields: []string{"id"}})

	keys := []*pg.Constraint{primary}
	add := func(origin pg.Origin, fields []*model.Field, where string) {
		stored := make([]*model.Field, len(fields))
		var computed []pg.Expr
		for i, f := range fields {
			if stored[i] = value.StoredAs(f); stored[i].Computed != nil {
				computed = append(computed, pg.IsNotNull(pg.Lit(pg.Ident(stored[i].Column))))
			}
		}
		if computed != nil {
			// So it binds the same rows, but is not a key that others could refer to. A write of it does not wait for
			// inserts of such others. Where a table has BEFORE triggers, any update counts as a write of its generated
			// columns.
			where = emit.Expr(pg.AllOf(computed...))
		}
		c := &pg.Constraint{Kind: pg.Unique, Origin: origin, Columns: value.ColumnsOf(stored), Where: where}
		c.Name = l.Names.Take(m.Table + "_" + strings.Join(c.Columns, "_") + "_key")
		c.Origin.Rule = "@unique"
		keys = append(keys, c)
		l.constraint(c.Name, release.Constraint{Kind: release.Unique, Table: m.Table, Fields: value.NamesOf(stored)})
	}
	for _, f := range m.Stored() {
		if f.Unique && f.Name != "id" {
			add(OriginOfField(f), []*model.Field{f}, "")
		}
	}
	for _, u := range m.Uniques {
		add(originAt(m, u.Span), u.Fields, "")
	}
	if m.IsIdentity {
		// The e-mail is the name that a password belongs to.
		add(OriginOf(m), []*model.Field{m.Field("email")}, emit.Expr(pg.IsNotNull(pg.Lit("password"))))
	}
	return keys
}

// checks lowers the constraints that a column's type does not imply, one check per column.
func (l *Lowering) checks(m *model.Model) []*pg.Constraint {
	var checks []*pg.Constraint
	for _, f := range m.Stored() {
		condition := columnCheck(f)
		if l.calculated[f] && condition == nil {
			condition = value.SQLOf(f.Type.Kind).InRange(f.Column)
		}
		if condition != nil {
			c := newCheck(l.Names.Take(m.Table+"_"+f.Column+"_check"), OriginOfField(f), []string{f.Column}, condition)
			c.OfType = true
			checks = append(checks, c)
			if l.calculated[f] {
				l.constraint(c.Name, release.Constraint{Kind: release.Range, Table: m.Table, Fields: []string{f.Name}})
			}
		}
	}
	return checks
}

// newCheck returns a check that mentions some columns.
func newCheck(name string, origin pg.Origin, columns []string, condition pg.Expr) *pg.Constraint {
	return &pg.Constraint{
		Name:      name,
		Kind:      pg.Check,
		Origin:    origin,
		Columns:   columns,
		Condition: emit.Expr(condition),
		Layout:    condition,
	}
}

func columnCheck(f *model.Field) pg.Expr {
	column := pg.Lit(pg.Ident(f.Column))
	var whole, element pg.Expr
	if value.IsList(f.Type) {
		whole = pg.IsNull(pg.Fn("array_position", column, pg.Null())) // it refuses further dimensions by itself
	}
	if holds := value.SQLOf(f.Type.Kind).Check; holds != nil {
		element = holds(column, f.Type.Array)
	}
	if f.Enum != nil {
		element = isValueOf(f.Enum, column, f.Type.Array)
	}
	if whole == nil && element == nil {
		return nil
	}
	return pg.AllOf(whole, element)
}

// isValueOf is the condition on a column of an enum.
func isValueOf(e *model.Enum, column pg.Expr, isArray bool) pg.Expr {
	values := make([]pg.Expr, len(e.Values))
	for i, v := range e.Values {
		values[i] = pg.Str(v.Name)
	}
	if isArray {
		return pg.Op(column, "<@", &pg.Array{Elements: values})
	}
	return &pg.In{Value: column, List: values}
}

// limits lowers the limits of fields, such as @maxLength. Each is a check of its own, whose name tells the server what to answer.
func (l *Lowering) limits(m *model.Model) []*pg.Constraint {
	var checks []*pg.Constraint
	add := func(f *model.Field, kind release.ConstraintKind, condition pg.Expr, rule string, c release.Constraint) {
		check := newCheck(l.Names.Take(m.Table+"_"+f.Column+"_"+model.SnakeForm(string(kind))+"_check"), OriginOfField(f), []string{f.Column}, condition)
		check.Origin.Rule = "@" + string(kind) + rule
		checks = append(checks, check)
		c.Kind, c.Table, c.Fields = kind, m.Table, []string{f.Name}
		l.constraint(check.Name, c)
	}
	bound := func(f *model.Field, kind release.ConstraintKind, size pg.Expr, operator string, limit int64) {
		if number := strconv.FormatInt(limit, 10); limit > 0 {
			add(f, kind, pg.Op(size, operator, pg.Lit(number)), "("+number+")", release.Constraint{Limit: limit})
		}
	}
	for _, f := range m.Stored() {
		column := pg.Lit(pg.Ident(f.Column))
		shortest, longest := pg.Fn("char_length", column), pg.Fn("char_length", column)
		matches := func(pattern string) pg.Expr { return pg.Op(column, "~", pg.Str(pattern)) }
		if f.Type.Array {
			shortest, longest = pg.Fn("platform.shortest", column), pg.Fn("platform.longest", column)
			matches = func(pattern string) pg.Expr { return pg.Fn("platform.each_matches", column, pg.Str(pattern)) }
		}
		bound(f, release.MinLength, shortest, ">=", f.MinLength)
		bound(f, release.MaxLength, longest, "<=", f.MaxLength)
		bound(f, release.MinItems, pg.Fn("cardinality", column), ">=", f.MinItems)
		bound(f, release.MaxItems, pg.Fn("cardinality", column), "<=", f.MaxItems)
		if f.NotBlank {
			add(f, release.NotBlank, matches(pattern.NotBlank), "", release.Constraint{})
		}
		if f.Pattern != nil {
			add(f, release.Pattern, matches(f.Pattern.Written), "("+strconv.Quote(f.Pattern.Source)+")", release.Constraint{Message: f.Pattern.Message})
		}
		if f.Format != nil {
			add(f, release.HasFormat, matches(f.Format.Pattern), "("+f.Format.Name+")", release.Constraint{Format: f.Format.Published})
		}
	}
	return checks
}

// references lowers the to-ones that have a column to foreign keys, except computed ones: they follow a row that has
// one.
func (l *Lowering) references(m *model.Model) []*pg.Reference {
	var references []*pg.Reference
	for _, f := range m.Fields {
		if f.FK == nil || f.Computed != nil {
			continue
		}
		r := &pg.Reference{
			Name:     l.Names.Take(m.Table + "_" + f.FK.Column + "_fkey"),
			Origin:   OriginOfField(f),
			Column:   f.FK.Column,
			Schema:   value.AppSchema,
			Table:    f.Target.Table,
			OnDelete: onDelete(f.OnDelete),
		}
		references = append(references, r)
		l.constraint(r.Name, release.Constraint{Kind: release.Reference, Table: m.Table, Fields: []string{f.FK.Name}})
	}
	return references
}

func onDelete(how model.OnDelete) string {
	switch how {
	case model.Cascade:
		return "cascade"
	case model.Restrict:
		return "restrict"
	case model.SetNull:
		return "set null"
	}
	panic("lower: a to-one with a column has no @onDelete")
}

// namedConstraint is a constraint under its name in the database.
type namedConstraint struct {
	Name       string
	Constraint release.Constraint
}

// constraint notes what the server must know to explain a failed constraint.
func (l *Lowering) constraint(name string, c release.Constraint) {
	l.Constraints = append(l.Constraints, namedConstraint{name, c})
}
