package diff

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// alter changes the columns of the tables that stay.
func (p *planner) alter() {
	for _, pr := range p.pairs {
		if pr.old != nil && pr.new != nil {
			p.addColumns(pr)
		}
	}
	for _, pr := range p.pairs {
		if pr.old == nil || pr.new == nil {
			continue
		}
		if pr.old.Comment != pr.new.Comment {
			p.step(CommentTable{pr.new}, pr.new, pr.new.Origin.String(), ShareUpdateExclusive)
		}
		for _, n := range pr.new.Columns {
			if o := pr.was(n.Name); o != nil {
				p.alterColumn(pr, o, n)
			}
		}
		for _, n := range pr.new.Columns { // when it is known whose numbers they are
			if n.Sequence == nil || n.Sequence.Per == "" {
				continue
			}
			if o := pr.was(n.Name); o != nil {
				p.number(pr, o, n, originOf(pr.new, n).String())
			} else {
				p.addNumbered(pr, n, originOf(pr.new, n).String())
			}
		}
		p.dropColumns(pr)
	}
}

// addColumns adds columns. A required column without default needs a value in existing rows; if there are any, the user
// has to give it.
func (p *planner) addColumns(pr *pair) {
	for _, n := range pr.new.Columns {
		if pr.was(n.Name) != nil || n.Generated != "" || n.Sequence != nil && n.Sequence.Per != "" {
			continue
		}
		reason := originOf(pr.new, n).String()
		if n.Sequence != nil {
			p.addNumbered(pr, n, reason)
			continue
		}
		given := p.backfill(pr.new.Name, n.Name)
		needed := n.NotNull && n.Default == ""
		if given == nil && needed {
			if rows := p.rows(pr.old.Name, ""); rows != 0 {
				p.refuse(&Refusal{
					Object: "column app." + pr.new.Name + "." + n.Name, Change: "would be required, and the rows that are there have no value for it",
					Reason: reason, Backfill: pr.new.Name + "." + n.Name, Default: pr.mayDefault(n), Table: pr.old.Name, Rows: rows,
				})
				continue
			}
		}
		var hazards []Hazard
		if isVolatile(n.Default) {
			hazards = []Hazard{Rewrites, LocksReads, LocksWrites, Long}
		}
		p.step(AddColumn{pr.new, n, given != nil && n.NotNull}, pr.new, reason, AccessExclusive, hazards...)
		if n.Comment != "" {
			p.step(CommentColumn{pr.new, n}, pr.new, reason, ShareUpdateExclusive)
		}
		if given != nil {
			p.step(UpdateRows{pr.new, n, given.Expression(), ""}, pr.new, reason+": backfill", RowExclusive, MayFail, Long).Given = given
			if n.NotNull {
				p.require(pr, n, reason, MayFail)
			}
		}
	}
}

// mayDefault returns the declaration of a field that may have a @default: not that of a relation or a file.
func (pr *pair) mayDefault(n *pg.Column) string {
	isRelation := slices.ContainsFunc(pr.new.References, func(r *pg.Reference) bool { return r.Column == n.Name })
	if isRelation || strings.HasPrefix(n.Type, "jsonb") {
		return ""
	}
	return n.Origin.Line
}

// isVolatile tells whether a default has another value for each row, so that adding a
// column with it writes the whole table.
func isVolatile(expression string) bool { return strings.Contains(expression, "platform.new_id") }

// require makes a column required.
func (p *planner) require(pr *pair, n *pg.Column, reason string, hazards ...Hazard) {
	if !p.options.Concurrent {
		p.step(SetNotNull{pr.new, n}, pr.new, reason, AccessExclusive, append(hazards, LocksReads, LocksWrites, Long)...)
		return
	}
	check := &pg.Constraint{
		Name:      pg.Shorten(pr.new.Name+"_"+n.Name, pg.MaxIdent-len("_not_null")) + "_not_null",
		Kind:      pg.Check,
		Columns:   []string{n.Name},
		Condition: pg.Ident(n.Name) + " is not null",
	}
	p.step(AddConstraint{Table: pr.new, Constraint: check, NotValid: true}, pr.new, reason, AccessExclusive)
	p.afterwards(Validate{pr.new, check.Name}, pr.new, reason, ShareUpdateExclusive, append(hazards, Long)...)
	p.afterwards(SetNotNull{pr.new, n}, pr.new, reason, AccessExclusive)
	p.afterwards(DropConstraint{pr.new, check.Name}, pr.new, reason, AccessExclusive)
}

// dropColumns drops columns that hold nothing, or that may be dropped.
func (p *planner) dropColumns(pr *pair) {
	for _, o := range pr.old.Columns {
		if _, ok := pr.columns[o.Name]; ok || pr.remade[o.Name] || isComputed(o) {
			continue
		}
		p.dropColumn(pr, pr.new, o)
	}
}

// dropColumn drops a column of a table, under its name at that time, if it holds no written values, or if it may be
// dropped.
func (p *planner) dropColumn(pr *pair, at *pg.Table, o *pg.Column) {
	reason := pr.gone("field " + fieldOf(o))
	if n := pr.new.Column(o.Name); n != nil && isComputed(n) {
		reason = originOf(pr.new, n).String() + ": it is computed now"
		if isComputed(o) {
			reason = originOf(pr.new, n).String() + ": it is computed anew"
		}
	}
	allow := "drop:" + pr.old.Name + "." + o.Name
	condition := pg.Ident(o.Name) + " is not null"
	if isComputed(o) {
		p.step(DropColumn{at, o}, at, reason, AccessExclusive)
		return
	}
	rows := p.rows(pr.old.Name, condition)
	if rows != 0 && !p.allows(allow) {
		p.refuse(&Refusal{
			Object: "column app." + pr.old.Name + "." + o.Name, Change: "would be dropped with its values", Reason: reason,
			Allow: allow, Renames: pr.columnRenames(o),
			Table: pr.old.Name, Column: o.Name, Condition: condition, Rows: rows, Sealed: o.Opaque != "",
		})
		return
	}
	s := p.step(DropColumn{at, o}, at, reason, AccessExclusive)
	if s.Rows = rows; rows != 0 {
		s.Hazards = []Hazard{LosesData}
		p.dropsFiles = p.dropsFiles || countsFiles(pr.old) && strings.HasPrefix(o.Type, "jsonb")
	}
}

// fieldOf is the name of the field that a column was made from.
func fieldOf(c *pg.Column) string {
	if c.Origin.Field != "" {
		return c.Origin.Field
	}
	return c.Name
}

// columnRenames returns the renames that would keep the values of a column: each new field of its type.
func (pr *pair) columnRenames(o *pg.Column) []Rename {
	var list []Rename
	for _, n := range pr.new.Columns {
		if pr.was(n.Name) == nil && !isComputed(n) && n.Type == o.Type && n.Opaque == o.Opaque && n.RenamedFrom == "" && (len(n.Values) > 0) == (len(o.Values) > 0) {
			list = append(list, Rename{n.Origin.Line, fieldOf(o), n.Origin.Place, pr.new.Name, n.Name})
		}
	}
	return list
}

// alterColumn changes a column that stays. Its values come first: the names of an enum's values, then the type, then
// whether a value is required.
func (p *planner) alterColumn(pr *pair, o, n *pg.Column) {
	reason := originOf(pr.new, n).String()
	had := pr.defaultLeft(o, n)
	if n.Sequence != nil && !pr.keepsSequence(o, n) {
		p.becomeNumbered(pr, o, n, reason)
	}
	if o.Type == n.Type && o.Opaque == n.Opaque {
		p.alterValues(pr, o, n, reason)
	} else if p.alterType(pr, o, n, reason) {
		had = "" // it was dropped with the old type
	}
	if had != n.Default {
		p.step(AlterDefault{pr.new, n}, pr.new, reason, AccessExclusive)
	}
	if o.NotNull && !n.NotNull {
		p.step(DropNotNull{pr.new, n}, pr.new, reason, AccessExclusive)
	}
	switch {
	case n.Sequence != nil && n.Sequence.Per != "": // see alter
	case n.Sequence != nil:
		p.number(pr, o, n, reason)
	case n.NotNull && !o.NotNull:
		p.fill(pr, o, n, reason)
	}
	if o.Comment != n.Comment {
		p.step(CommentColumn{pr.new, n}, pr.new, reason, ShareUpdateExclusive)
	}
}

// fill makes a column required whose rows may lack it.
func (p *planner) fill(pr *pair, o, n *pg.Column, reason string) {
	missing := pg.Ident(o.Name) + " is null"
	switch given := p.backfill(pr.new.Name, n.Name); {
	case given != nil && (o.Type != n.Type || o.Opaque != n.Opaque): // the change of type has written it
		p.require(pr, n, reason, MayFail)
		return
	case given != nil:
		p.step(UpdateRows{pr.new, n, given.Expression(), pg.Ident(n.Name) + " is null"}, pr.new, reason+": backfill", RowExclusive, MayFail, Long).Given = given
		p.require(pr, n, reason, MayFail)
		return
	}
	r := &Refusal{
		Object: "column app." + pr.new.Name + "." + n.Name, Change: "would be required, and rows have no value for it",
		Reason: reason, Allow: "require:" + pr.new.Name + "." + n.Name, Backfill: pr.new.Name + "." + n.Name,
		Table: pr.old.Name, Condition: missing,
	}
	switch r.Rows = p.rows(pr.old.Name, missing); {
	case r.Rows == 0:
		p.require(pr, n, reason)
	case r.Rows > 0:
		r.Allow = "" // Postgres would not allow it
		p.refuse(r)
	case p.allows(r.Allow):
		p.count(r)
		p.require(pr, n, reason, MayFail)
	default:
		r.Change = "would be required, and rows may have no value for it"
		p.refuse(r)
	}
}

// alterType changes the type of a column, or whether the server seals its values. It tells whether a step does.
func (p *planner) alterType(pr *pair, o, n *pg.Column, reason string) bool {
	c := ConversionOf(o, n)
	column := pg.Ident(o.Name)
	alter := func(using string, hazards ...Hazard) *Step {
		if !c.InPlace {
			hazards = append(hazards, Rewrites, LocksReads, LocksWrites, Long)
		}
		return p.step(AlterType{pr.new, o, n, using}, pr.new, reason, AccessExclusive, hazards...)
	}
	using := c.using(pg.Ident(n.Name))
	if len(o.Values) > 0 {
		p.renameValues(pr, o, n)
	}
	if given := p.backfill(pr.new.Name, n.Name); given != nil {
		alter(given.Expression(), MayFail).Given = given
		return true
	}
	if c.Keeps == Exactly {
		alter(using)
		return true
	}
	r := &Refusal{
		Object: "column app." + pr.new.Name + "." + n.Name, Change: "would change its type from " + typeOf(o) + " to " + typeOf(n) + ", and " + c.consequence(),
		Reason: reason, Allow: "type:" + pr.new.Name + "." + n.Name, Backfill: pr.new.Name + "." + n.Name,
		Table: pr.old.Name, Column: o.Name, Condition: c.unfit(column), Sealed: o.Opaque != "",
	}
	for _, was := range pr.old.Columns {
		if !pr.remade[was.Name] && !isComputed(was) {
			r.Names = append(r.Names, pr.renamed([]string{was.Name})[0])
		}
	}
	r.Rows = p.rows(pr.old.Name, r.Condition)
	switch {
	case r.Rows == 0 && o.Type == n.Type:
		return false // only the server's handling of it changes
	case r.Rows == 0:
		alter(using)
		return true
	}
	left := "null" // the value for values with no place in the new type
	if n.NotNull {
		left = n.Default
	}
	if left == "" && c.Keeps != Rounded && r.Rows > 0 {
		r.Allow = "" // the column needs values
		p.refuse(r)
		return true
	}
	if !p.allows(r.Allow) {
		p.refuse(r)
		return true
	}
	hazards := []Hazard{LosesData}
	switch c.Keeps {
	case Rounded:
		hazards = append(hazards, MayFail)
	case Readable:
		if left != "" && strings.Contains(c.Unfit, "(select") {
			p.emptyArrays(pr, o, n, c, using, left, r)
			return true
		}
		if left != "" {
			using = "case when " + c.unfit(pg.Ident(n.Name)) + " then " + left + " else " + using + " end"
		}
		hazards = append(hazards, MayFail)
	case Nothing:
		if using = left; left == "" {
			using = "null"
			hazards = append(hazards, MayFail)
		}
	}
	s := alter(using, hazards...)
	s.Rows = r.Rows
	return true
}

// emptyArrays changes the type of arrays, some with elements that have no place in the new type. Postgres takes no
// query in the expression that converts them. So a value that no array of the project holds marks those arrays before,
// and identifies them afterwards.
func (p *planner) emptyArrays(pr *pair, o, n *pg.Column, c Conversion, using, left string, r *Refusal) {
	column := pg.Ident(n.Name)
	p.step(UpdateRows{pr.new, n, "array[null]", c.unfit(column)}, pr.new, r.Reason+": what has no place in the new type", RowExclusive, LosesData, Long).Rows = r.Rows
	p.step(AlterType{pr.new, o, n, using}, pr.new, r.Reason, AccessExclusive, MayFail, Rewrites, LocksReads, LocksWrites, Long)
	p.step(UpdateRows{pr.new, n, left, "array_position(" + column + ", null) is not null"}, pr.new, r.Reason, RowExclusive, Long)
}

// typeOf names a type as a reader of the schema's tables knows it.
func typeOf(c *pg.Column) string {
	if c.Opaque != "" {
		return c.Opaque
	}
	return c.Type
}

// renames returns the values of an enum that rows hold under another name.
func renames(o, n *pg.Column) []pg.ValueRename {
	var list []pg.ValueRename
	for _, r := range n.Renames {
		if slices.Contains(o.Values, r.Old) && !slices.Contains(o.Values, r.New) {
			list = append(list, r)
		}
	}
	return list
}

// alterValues renames the values of an enum in the rows, and handles rows with values that the enum no longer has.
func (p *planner) alterValues(pr *pair, o, n *pg.Column, reason string) {
	if len(n.Values) == 0 {
		return
	}
	isArray := strings.HasSuffix(n.Type, "[]")
	if len(o.Values) == 0 {
		p.narrow(pr, o, n, reason, isArray)
		return
	}
	renamed := p.renameValues(pr, o, n)
	for _, v := range o.Values {
		if !slices.Contains(n.Values, v) && !slices.ContainsFunc(renamed, func(r pg.ValueRename) bool { return r.Old == v }) {
			p.dropValue(pr, o, n, v, reason, isArray)
		}
	}
}

// renameValues gives rows the new names of values, while the column has its old type.
func (p *planner) renameValues(pr *pair, o, n *pg.Column) []pg.ValueRename {
	column := pg.Ident(n.Name)
	renamed := renames(o, n)
	for _, r := range n.Renames {
		if !slices.Contains(o.Values, r.Old) && !slices.Contains(o.Values, r.New) {
			p.warn(r.At, r.New+" was never called "+r.Old+" in the database: its @renamed has no effect")
		}
	}
	for _, r := range renamed {
		value, where := pg.Quote(r.New), column+" = "+pg.Quote(r.Old)
		if strings.HasSuffix(o.Type, "[]") {
			value = "array_replace(" + column + ", " + pg.Quote(r.Old) + ", " + pg.Quote(r.New) + ")"
			where = pg.Quote(r.Old) + " = any (" + column + ")"
		}
		p.step(UpdateRows{pr.new, n, value, where}, pr.new, "value "+r.New+", "+r.At+": @renamed", RowExclusive, Long)
	}
	return renamed
}

// dropValue handles the rows that hold a value that an enum no longer has.
func (p *planner) dropValue(pr *pair, o, n *pg.Column, v, reason string, isArray bool) {
	holds := func(column string) string {
		if isArray {
			return pg.Quote(v) + " = any (" + column + ")"
		}
		return column + " = " + pg.Quote(v)
	}
	name := pr.new.Name + "." + n.Name
	r := &Refusal{
		Object: "value " + v + " of column app." + name, Change: "is gone from the enum, and rows hold it", Reason: reason,
		Allow: "enum:" + name + "." + v, Backfill: name,
		Table: pr.old.Name, Column: o.Name, Condition: holds(pg.Ident(o.Name)),
	}
	if r.Rows = p.rows(pr.old.Name, r.Condition); r.Rows == 0 {
		return
	}
	if r.Rows == Unknown {
		r.Change = "is gone from the enum, and rows may hold it"
	}
	for _, added := range n.Values {
		if !slices.Contains(o.Values, added) && !slices.ContainsFunc(n.Renames, func(r pg.ValueRename) bool { return r.New == added }) {
			r.Renames = append(r.Renames, Rename{Declaration: added, From: v, Table: pr.new.Name})
		}
	}
	given, instead := p.backfill(pr.new.Name, n.Name), ""
	switch {
	case given != nil:
		instead = given.Expression()
	case isArray:
		instead = "array_remove(" + pg.Ident(n.Name) + ", " + pg.Quote(v) + ")"
	case !n.NotNull:
		instead = "null"
	default:
		instead = n.Default
	}
	if instead == "" {
		r.Allow = "" // the rows need some value
	}
	if instead == "" || given == nil && !p.allows(r.Allow) {
		p.refuse(r)
		return
	}
	s := p.step(UpdateRows{pr.new, n, instead, holds(pg.Ident(n.Name))}, pr.new, reason+": value "+v+" is gone", RowExclusive, LosesData, Long)
	s.Rows, s.Given = r.Rows, given
}

// narrow handles a text that becomes an enum.
func (p *planner) narrow(pr *pair, o, n *pg.Column, reason string, isArray bool) {
	values := make([]string, len(n.Values))
	for i, v := range n.Values {
		values[i] = pg.Quote(v)
	}
	unfit := func(column string) string {
		if isArray {
			return "not " + column + " <@ array[" + strings.Join(values, ", ") + "]"
		}
		return column + " not in (" + strings.Join(values, ", ") + ")"
	}
	name := pr.new.Name + "." + n.Name
	if given := p.backfill(pr.new.Name, n.Name); given != nil {
		p.step(UpdateRows{pr.new, n, given.Expression(), unfit(pg.Ident(n.Name))}, pr.new, reason+": backfill", RowExclusive, LosesData, MayFail, Long).Given = given
		return
	}
	r := &Refusal{
		Object: "column app." + name, Change: "would be an enum, and rows hold what is not one of its values", Reason: reason,
		Allow: "type:" + name, Backfill: name, Table: pr.old.Name, Column: o.Name, Condition: unfit(pg.Ident(o.Name)),
	}
	if r.Rows = p.rows(pr.old.Name, r.Condition); r.Rows == 0 {
		return
	}
	instead := "null"
	if n.NotNull {
		instead = n.Default
	}
	if instead == "" && r.Rows > 0 {
		r.Allow = ""
	}
	if r.Allow == "" || !p.allows(r.Allow) {
		p.refuse(r)
		return
	}
	if instead != "" {
		s := p.step(UpdateRows{pr.new, n, instead, unfit(pg.Ident(n.Name))}, pr.new, reason, RowExclusive, LosesData, Long)
		s.Rows = r.Rows
	}
}
