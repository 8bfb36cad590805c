package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// plainTable lowers a model to its table without indexes, triggers, and what other rows make of it. late are the rules
// over what they make.
func (l *lowering) plainTable(m *model.Model) (t *pg.Table, late []*pg.Constraint) {
	t = &pg.Table{Schema: appSchema, Name: m.Table, Origin: originOf(m), Comment: m.Doc}
	if m.RenamedFrom != "" {
		t.RenamedFrom, t.RenamedAt = model.SnakeForm(m.RenamedFrom), placeOf(m.RenamedAt)
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
	checks, late := l.validations(m)
	t.Constraints = append(t.Constraints, checks...)
	t.References = l.references(m)
	return t, late
}

// leadingColumns are the columns that the indexes of a table begin with.
func leadingColumns(t *pg.Table) map[string]bool {
	leading := map[string]bool{}
	for _, c := range t.Constraints {
		if c.Kind != pg.Check {
			leading[c.Columns[0]] = true
		}
	}
	for _, i := range t.Indexes {
		leading[i.Keys[0].Column] = leading[i.Keys[0].Column] || i.Keys[0].Function == ""
	}
	return leading
}

// view lowers a model to the view through which generated SQL walks relations. It shows only whether a Password or
// Secret is set: rules need no more.
func (l *lowering) view(m *model.Model) *pg.View {
	v := &pg.View{Schema: relatedSchema, Name: m.Table, Table: m.Table}
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
	c := &pg.Column{Name: f.Column, Origin: originOfField(f), Type: columnType(f.Type), NotNull: !f.Optional, Comment: f.Doc}
	c.Origin.Of = "" // its table names it
	c.RenamedFrom, c.RenamedAt = renamedFrom(f)
	if f.FKOf != nil {
		c.Comment = f.FKOf.Doc
	}
	if f.Type.Kind.IsWriteOnly() {
		c.Opaque = f.Type.Kind.String()
	}
	if d := columnDefault(f); d != nil {
		c.Default = emit.Expr(d)
	}
	if f.Enum != nil {
		for _, v := range f.Enum.Values {
			c.Values = append(c.Values, v.Name)
			if v.RenamedFrom != "" {
				c.Renames = append(c.Renames, pg.ValueRename{Old: v.RenamedFrom, New: v.Name, At: placeOf(v.RenamedAt)})
			}
		}
	}
	return c
}

func columnDefault(f *model.Field) pg.Expr {
	if f.BuiltIn {
		switch f.Name {
		case "id":
			return pg.Fn("platform.new_id")
		default:
			return pg.Fn("now")
		}
	}
	if f.Default == nil {
		return nil
	}
	if !f.Default.Bare {
		return constant(f.Default.Value, f.Type)
	}
	if f.Type.Array {
		return pg.Str("{}")
	}
	return sqlOf(f.Type.Kind).bare()
}

// constant lowers the value of a @default.
func constant(value expr.Node, target expr.Type) pg.Expr {
	switch v := value.(type) {
	case *expr.Path: // ctx.now is the only one
		return sqlOf(target.Kind).bare() // the present for all kinds with a bare default
	case *expr.Literal:
		return literal(v)
	case *expr.List:
		elements := make([]pg.Expr, len(v.Elements))
		for i, e := range v.Elements {
			elements[i] = literal(e.(*expr.Literal))
		}
		if len(elements) == 0 {
			return pg.Str("{}")
		}
		return pg.As(&pg.Array{Elements: elements}, castType(target.Kind)+"[]")
	}
	panic("lower: a @default is neither literal, list nor ctx.now")
}

// keys lowers the primary key and the unique constraints.
func (l *lowering) keys(m *model.Model) []*pg.Constraint {
	primary := &pg.Constraint{Name: l.names.Take(m.Table + "_pkey"), Kind: pg.PrimaryKey, Origin: originOf(m), Columns: []string{"id"}}
	l.constraint(primary.Name, release.Constraint{Kind: release.Unique, Table: m.Table, Fields: []string{"id"}})

	keys := []*pg.Constraint{primary}
	add := func(origin pg.Origin, fields []*model.Field, where string) {
		stored := make([]*model.Field, len(fields))
		var computed []pg.Expr
		for i, f := range fields {
			if stored[i] = storedAs(f); stored[i].Computed != nil {
				computed = append(computed, pg.IsNotNull(pg.Lit(pg.Ident(stored[i].Column))))
			}
		}
		if computed != nil {
			// So it binds the same rows, but is not a key that others could refer to. A write of it does not wait for
			// inserts of such others. Where a table has BEFORE triggers, any update counts as a write of its generated
			// columns.
			where = emit.Expr(pg.AllOf(computed...))
		}
		c := &pg.Constraint{Kind: pg.Unique, Origin: origin, Columns: columnsOf(stored), Where: where}
		c.Name = l.names.Take(m.Table + "_" + strings.Join(c.Columns, "_") + "_key")
		c.Origin.Rule = "@unique"
		keys = append(keys, c)
		l.constraint(c.Name, release.Constraint{Kind: release.Unique, Table: m.Table, Fields: namesOf(stored)})
	}
	for _, f := range m.Stored() {
		if f.Unique && f.Name != "id" {
			add(originOfField(f), []*model.Field{f}, "")
		}
	}
	for _, u := range m.Uniques {
		add(originAt(m, u.Span), u.Fields, "")
	}
	if m.IsIdentity {
		// The e-mail is the name that a password belongs to.
		add(originOf(m), []*model.Field{m.Field("email")}, emit.Expr(pg.IsNotNull(pg.Lit("password"))))
	}
	return keys
}

// storedAs returns the field whose column stores f: for a to-one its FK field.
func storedAs(f *model.Field) *model.Field {
	if f.FK != nil {
		return f.FK
	}
	return f
}

func columnsOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Column
	}
	return names
}

// storedColumnsOf returns the columns that store fields.
func storedColumnsOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = storedAs(f).Column
	}
	return names
}

func namesOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// checks lowers the constraints that a column's type does not imply, one check per column.
func (l *lowering) checks(m *model.Model) []*pg.Constraint {
	var checks []*pg.Constraint
	for _, f := range m.Stored() {
		condition := columnCheck(f)
		if l.calculated[f] && condition == nil {
			condition = sqlOf(f.Type.Kind).inRange(f.Column)
		}
		if condition != nil {
			c := newCheck(l.names.Take(m.Table+"_"+f.Column+"_check"), originOfField(f), []string{f.Column}, condition)
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
	if isList(f.Type) {
		whole = pg.IsNull(pg.Fn("array_position", column, pg.Null())) // it refuses further dimensions by itself
	}
	if holds := sqlOf(f.Type.Kind).check; holds != nil {
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

// limits lowers @maxLength and @maxItems. Each is a check of its own, whose name tells the server what to answer.
func (l *lowering) limits(m *model.Model) []*pg.Constraint {
	var checks []*pg.Constraint
	add := func(f *model.Field, kind release.ConstraintKind, suffix string, size pg.Expr, limit int64) {
		if limit == 0 {
			return
		}
		c := newCheck(l.names.Take(m.Table+"_"+f.Column+suffix), originOfField(f), []string{f.Column},
			pg.Op(size, "<=", pg.Lit(strconv.FormatInt(limit, 10))))
		c.Origin.Rule = "@" + string(kind) + "(" + strconv.FormatInt(limit, 10) + ")"
		checks = append(checks, c)
		l.constraint(c.Name, release.Constraint{Kind: kind, Table: m.Table, Fields: []string{f.Name}, Limit: limit})
	}
	for _, f := range m.Stored() {
		column := pg.Lit(pg.Ident(f.Column))
		length := pg.Fn("char_length", column)
		if f.Type.Array {
			length = pg.Fn("platform.longest", column)
		}
		add(f, release.MaxLength, "_max_length_check", length, f.MaxLength)
		add(f, release.MaxItems, "_max_items_check", pg.Fn("cardinality", column), f.MaxItems)
	}
	return checks
}

// references lowers the to-ones that have a column to foreign keys, except computed ones: they follow a row that has
// one.
func (l *lowering) references(m *model.Model) []*pg.Reference {
	var references []*pg.Reference
	for _, f := range m.Fields {
		if f.FK == nil || f.Computed != nil {
			continue
		}
		r := &pg.Reference{
			Name:     l.names.Take(m.Table + "_" + f.FK.Column + "_fkey"),
			Origin:   originOfField(f),
			Column:   f.FK.Column,
			Schema:   appSchema,
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

// giveIndexes gives a table its indexes, and notes what they begin with.
func (l *lowering) giveIndexes(t *pg.Table, m *model.Model) {
	t.Indexes = l.indexes(m, t.Constraints)
	l.indexed[m] = leadingColumns(t)
}

// indexes lowers the declared indexes, adds those that the orders of lists need, and gives each foreign key an index
// unless another one begins with it.
func (l *lowering) indexes(m *model.Model, keys []*pg.Constraint) []*pg.Index {
	leading := map[string]bool{}
	for _, k := range keys {
		if k.Kind != pg.Check && k.Where == "" {
			leading[k.Columns[0]] = true
		}
	}
	var further []*pg.Index
	for _, i := range m.Indexes {
		further = append(further, l.declaredIndex(m, i, keys))
	}
	for _, o := range l.orderIndexes(m) {
		i := o.index(m)
		if !slices.ContainsFunc(further, func(known *pg.Index) bool { return serves(known, i, len(o.behind)) }) {
			i.Name = l.names.Take(i.Name)
			further = append(further, i)
		}
	}
	for _, f := range foldedFields(l.schema, m) {
		further = append(further, &pg.Index{
			Name:    l.names.Take(m.Table + "_" + f.Column + "_fold_idx"),
			Origin:  originOfField(f),
			Keys:    []pg.IndexKey{{Column: f.Column, Function: "platform.fold"}},
			Comment: "startsWith of lists on " + f.Name,
		})
	}
	for _, i := range further {
		leading[i.Keys[0].Column] = true
	}

	var indexes []*pg.Index
	for _, f := range m.Fields {
		if f.FK != nil && !leading[f.FK.Column] {
			indexes = append(indexes, l.index(m, originOfField(f), []*model.Field{f.FK}, ""))
			leading[f.FK.Column] = true
		}
	}
	for _, column := range l.acrossColumns(m) {
		if !leading[column] {
			i := &pg.Index{Name: l.names.Take(m.Table + "_" + column + "_idx"), Origin: originOf(m), Keys: []pg.IndexKey{{Column: column}}}
			indexes = append(indexes, i)
		}
	}
	return append(indexes, further...)
}

// declaredIndex lowers an @index. If a list has its rows in the order of the index, as they are filtered by what leads
// it, the id that ends this order follows the declared fields, unless another index of the model has them and the id
// already. So Postgres need not sort them.
func (l *lowering) declaredIndex(m *model.Model, i *model.Index, keys []*pg.Constraint) *pg.Index {
	fields, comment := i.Fields, "@index("+strings.Join(namesOf(i.Fields), ", ")+")"
	id := m.Field("id")
	withID := append(slices.Clone(fields), id)
	if a := orderedBy(m, i); a != nil && !slices.Contains(fields, id) && len(fields) < maxKeys && !hasIndexOn(m, withID, keys) {
		fields = withID
		comment += ", then the id that ends the order of " + a.Name
	}
	return l.index(m, originOfIndex(m, i), fields, comment)
}

// hasIndexOn tells whether an @index, or a key that binds all rows, begins with the fields.
func hasIndexOn(m *model.Model, fields []*model.Field, keys []*pg.Constraint) bool {
	columns := storedColumnsOf(fields)
	begins := func(with []string) bool {
		return len(with) >= len(columns) && slices.Equal(with[:len(columns)], columns)
	}
	return slices.ContainsFunc(m.Indexes, func(i *model.Index) bool { return begins(storedColumnsOf(i.Fields)) }) ||
		slices.ContainsFunc(keys, func(k *pg.Constraint) bool { return k.Kind != pg.Check && k.Where == "" && begins(k.Columns) })
}

// index returns the index for the order of a list, under the name it should have.
func (o orderIndex) index(m *model.Model) *pg.Index {
	i := &pg.Index{Name: m.Table, Origin: pg.Origin{Of: "action " + o.action.Name + " of model " + m.Name, Place: placeOf(o.action.Span)}}
	add := func(f *model.Field, descending bool) {
		i.Keys = append(i.Keys, pg.IndexKey{Column: f.Column, Descending: descending})
		i.Name += "_" + f.Column
		if descending {
			i.Name += "_desc"
		}
	}
	var order []string
	for _, k := range o.keys {
		order = append(order, k.field.Name)
	}
	i.Comment = "the order of " + o.action.Name + " by " + strings.Join(order, ", ")
	if len(o.behind) > 0 {
		names := make([]string, len(o.behind))
		for n, f := range o.behind {
			add(f, false)
			if names[n] = f.Name; f.FKOf != nil {
				names[n] = f.FKOf.Name
			}
		}
		i.Comment += ", for rows of one " + strings.Join(names, " and ")
	}
	keys := o.keys
	if keys[0].descending {
		keys = reverse(keys) // Postgres reads an index in both directions
	}
	for _, k := range keys {
		if !slices.Contains(o.behind, k.field) {
			add(k.field, k.descending)
		}
	}
	i.Name += "_idx"
	return i
}

// serves tells whether an index can replace another one: it begins with the same columns, and has the order behind
// them, forwards or in reverse.
func serves(known, wanted *pg.Index, behind int) bool {
	if len(known.Keys) < len(wanted.Keys) {
		return false
	}
	for n, k := range wanted.Keys {
		if known.Keys[n].Column != k.Column || known.Keys[n].Function != "" {
			return false
		}
	}
	isReversed := func(n int) bool { return known.Keys[n].Descending != wanted.Keys[n].Descending }
	for n := behind; n < len(wanted.Keys); n++ {
		if isReversed(n) != isReversed(behind) {
			return false
		}
	}
	return true
}

func (l *lowering) index(m *model.Model, origin pg.Origin, fields []*model.Field, comment string) *pg.Index {
	i := &pg.Index{Origin: origin, Comment: comment}
	name := m.Table
	for _, f := range fields {
		c := storedAs(f).Column
		i.Keys = append(i.Keys, pg.IndexKey{Column: c})
		name += "_" + c
	}
	i.Name = l.names.Take(name + "_idx")
	return i
}

// namedConstraint is a constraint under its name in the database.
type namedConstraint struct {
	name       string
	constraint release.Constraint
}

// constraint notes what the server must know to explain a failed constraint.
func (l *lowering) constraint(name string, c release.Constraint) {
	l.constraints = append(l.constraints, namedConstraint{name, c})
}
