package diff

import (
	"slices"
	"strings"
)

// Plan is the way from one database to another.
type Plan struct {
	Steps   []Step
	Refused []Refusal
}

// IsEmpty tells whether both databases are the same.
func (p *Plan) IsEmpty() bool { return len(p.Steps) == 0 && len(p.Refused) == 0 }

// Holds tells whether a table holds rows, or with a column, values that are not
// null. What holds nothing can be dropped: nothing is lost.
type Holds func(table, column string) bool

// Refusal is a change that the plan does not make, because rows or their values
// would be lost.
type Refusal struct {
	Object string // table app.post, column app.post.title
	Change string // would be dropped, would change its type from text to bigint
}

// Step is one change. It is one of the types below.
type Step interface {
	isStep()
}

type (
	// DropPolicy, DropView and DropFunction take off what is made anew below.
	DropPolicy   struct{ Policy *Policy }
	DropView     struct{ View *View }
	DropFunction struct{ Function *Function }

	// CreateTable makes a table with row security, without references.
	CreateTable struct{ Table *Table }
	// AddColumn adds a column at the end of a table.
	AddColumn struct {
		Table  string
		Column *Column
	}
	// DropTable and DropColumn drop what holds nothing.
	DropTable  struct{ Table string }
	DropColumn struct{ Table, Column string }
	// AlterType changes the type of a column that holds nothing, or whose values all
	// stay what they are.
	AlterType struct {
		Table    string
		Old, New *Column
		Keep     bool // whether there may be values
	}
	// AlterColumn changes whether a column may be null, its default or its comment.
	AlterColumn struct {
		Table    string
		Old, New *Column
	}
	// CommentTable sets the comment of a table; an empty one takes it off.
	CommentTable struct{ Table, Comment string }
	// DropConstraint and AddConstraint are about checks, keys and references.
	DropConstraint struct {
		Table      string
		Constraint *Constraint
	}
	AddConstraint struct {
		Table      string
		Constraint *Constraint
	}
	// RenameConstraint is about primary keys, which references hold in place.
	RenameConstraint struct{ Table, Old, New string }
	// DropIndex and CreateIndex are about indexes that are no constraint.
	DropIndex   struct{ Index *Index }
	CreateIndex struct {
		Table string
		Index *Index
	}
	// DropTrigger takes off a trigger that is gone.
	DropTrigger struct {
		Table   string
		Trigger *Trigger
	}
	// CreateTrigger makes a trigger; a changed one is replaced.
	CreateTrigger struct {
		Table   string
		Trigger *Trigger
		Replace bool
	}

	CreateView   struct{ View *View }
	CreatePolicy struct{ Policy *Policy }
	// SetGrants takes all privileges on a table from the caller role and gives it those.
	SetGrants      struct{ Grants *Grants }
	CreateFunction struct{ Function *Function }

	// ClearCode empties schema functions, and RunCode runs the project's own SQL,
	// which fills it.
	ClearCode struct{}
	RunCode   struct{ Files []*CodeFile }
)

func (DropPolicy) isStep()       {}
func (DropView) isStep()         {}
func (DropFunction) isStep()     {}
func (CreateTable) isStep()      {}
func (AddColumn) isStep()        {}
func (DropTable) isStep()        {}
func (DropColumn) isStep()       {}
func (AlterType) isStep()        {}
func (AlterColumn) isStep()      {}
func (CommentTable) isStep()     {}
func (DropConstraint) isStep()   {}
func (AddConstraint) isStep()    {}
func (RenameConstraint) isStep() {}
func (DropIndex) isStep()        {}
func (CreateIndex) isStep()      {}
func (DropTrigger) isStep()      {}
func (CreateTrigger) isStep()    {}
func (CreateView) isStep()       {}
func (CreatePolicy) isStep()     {}
func (SetGrants) isStep()        {}
func (CreateFunction) isStep()   {}
func (ClearCode) isStep()        {}
func (RunCode) isStep()          {}

// Between plans the way from old to new.
//
// The order is a law. Policies stand on views and views on columns, so both come
// off first and go back on last: policies before views, views before policies.
// In between, what takes away from any table comes before all that adds, since a
// new table or constraint may bear the name of an old constraint; tables come
// before what they are made of, keys before the references to them, and references
// after all tables. Functions come at the end, for nothing depends on them.
//
// The project's own functions may depend on anything: on the type of a table's rows,
// on columns, on views. So before any change they come off, and they go back on when
// all has been made.
//
// holds is asked about what the new database has no place for.
func Between(old, new *Database, holds Holds) *Plan {
	p := &planner{old: old, new: new, holds: holds, plan: &Plan{}}
	p.viewsChange = p.anyViewChanges()
	p.takeOff()
	p.alterTables()
	p.putBack()
	p.functions()
	p.code()
	return p.plan
}

type planner struct {
	old, new    *Database
	holds       Holds
	plan        *Plan
	viewsChange bool
}

func (p *planner) add(steps ...Step) { p.plan.Steps = append(p.plan.Steps, steps...) }

func (p *planner) refuse(object, change string) {
	p.plan.Refused = append(p.plan.Refused, Refusal{object, change})
}

// find returns the item of that name, or the zero value.
func find[T any](list []*T, name string, nameOf func(*T) string) *T {
	for _, item := range list {
		if nameOf(item) == name {
			return item
		}
	}
	return nil
}

func tableName(t *Table) string           { return t.Name }
func columnName(c *Column) string         { return c.Name }
func constraintName(c *Constraint) string { return c.Name }
func indexName(i *Index) string           { return i.Name }
func triggerName(t *Trigger) string       { return t.Name }
func viewName(v *View) string             { return v.Name }
func policyName(p *Policy) string         { return p.Table + " " + p.Name }
func grantsTable(g *Grants) string        { return g.Table }
func functionName(f *Function) string     { return f.Name + "(" + f.Arguments + ")" }

// primaryKey names a primary key by its definition, of which a table has one, and
// no other constraint.
func primaryKey(c *Constraint) string {
	if strings.HasPrefix(c.Definition, "primary key ") {
		return c.Definition
	}
	return ""
}

func (p *planner) anyViewChanges() bool {
	for _, v := range p.old.Views {
		if n := find(p.new.Views, v.Name, viewName); n == nil || n.Digest != v.Digest {
			return true
		}
	}
	for _, t := range p.old.Tables {
		n := find(p.new.Tables, t.Name, tableName)
		if n == nil {
			continue // its view is gone too
		}
		for _, c := range t.Columns {
			if is := find(n.Columns, c.Name, columnName); is != nil && is.Type != c.Type {
				return true
			}
		}
	}
	return false
}

// takeOff removes policies and views that cannot stay: where any view changes,
// all of both, since a policy may walk any view.
func (p *planner) takeOff() {
	for _, o := range p.old.Policies {
		n := find(p.new.Policies, policyName(o), policyName)
		if p.viewsChange || n == nil || n.Digest != o.Digest {
			p.add(DropPolicy{o})
		}
	}
	if p.viewsChange {
		for _, o := range p.old.Views {
			p.add(DropView{o})
		}
	}
}

func (p *planner) alterTables() {
	for _, n := range p.new.Tables {
		if o := find(p.old.Tables, n.Name, tableName); o != nil {
			p.dropFrom(o, n)
		}
	}
	p.dropTables()
	var adds []Step // that must wait until every table is there
	for _, n := range p.new.Tables {
		o := find(p.old.Tables, n.Name, tableName)
		if o == nil {
			p.add(CreateTable{n})
			for _, i := range n.Indexes {
				adds = append(adds, CreateIndex{n.Name, i})
			}
			for _, r := range n.References {
				adds = append(adds, AddConstraint{n.Name, r})
			}
			for _, t := range n.Triggers {
				adds = append(adds, CreateTrigger{Table: n.Name, Trigger: t})
			}
			continue
		}
		p.columns(o, n)
		adds = append(adds, additions(o, n)...)
	}
	p.add(adds...)
}

// dropTables drops the tables that are gone, if they hold nothing: first the
// references between them, then the tables.
func (p *planner) dropTables() {
	var gone []*Table
	for _, o := range p.old.Tables {
		switch {
		case find(p.new.Tables, o.Name, tableName) != nil:
		case p.holds(o.Name, ""):
			p.refuse("table app."+o.Name, "would be dropped with all its rows")
		default:
			gone = append(gone, o)
		}
	}
	for _, o := range gone {
		for _, r := range o.References {
			p.add(DropConstraint{o.Name, r})
		}
	}
	for _, o := range gone {
		p.add(DropTable{o.Name})
	}
}

// dropFrom takes off triggers that are gone, and constraints and indexes that are
// gone or changed. A primary key stays: it can only have lost its name to something
// else.
func (p *planner) dropFrom(o, n *Table) {
	for _, t := range o.Triggers {
		if find(n.Triggers, t.Name, triggerName) == nil {
			p.add(DropTrigger{o.Name, t})
		}
	}
	for _, c := range append(append([]*Constraint{}, o.References...), o.Constraints...) {
		kept := find(append(append([]*Constraint{}, n.References...), n.Constraints...), c.Name, constraintName)
		switch key := find(n.Constraints, c.Definition, primaryKey); {
		case kept != nil && kept.Definition == c.Definition:
		case key != nil:
			p.add(RenameConstraint{o.Name, c.Name, key.Name})
		default:
			p.add(DropConstraint{o.Name, c})
		}
	}
	for _, i := range o.Indexes {
		if kept := find(n.Indexes, i.Name, indexName); kept == nil || !sameIndex(kept, i) {
			p.add(DropIndex{i})
		}
	}
}

func sameIndex(a, b *Index) bool {
	return a.Unique == b.Unique && a.Keys == b.Keys && a.Where == b.Where
}

func (p *planner) columns(o, n *Table) {
	if o.Comment != n.Comment {
		p.add(CommentTable{n.Name, n.Comment})
	}
	for _, c := range o.Columns {
		switch {
		case find(n.Columns, c.Name, columnName) != nil:
		case p.holds(o.Name, c.Name):
			p.refuse("column app."+o.Name+"."+c.Name, "would be dropped with its values")
		default:
			p.add(DropColumn{o.Name, c.Name})
		}
	}
	for _, c := range n.Columns {
		was := find(o.Columns, c.Name, columnName)
		switch {
		case was == nil:
			p.add(AddColumn{n.Name, c})
		case was.Type+" "+c.Type == "bigint numeric", was.Type+" "+c.Type == "bigint[] numeric[]":
			p.add(AlterType{Table: n.Name, Old: was, New: c, Keep: true})
		case was.Type != c.Type && !p.holds(n.Name, c.Name):
			p.add(AlterType{Table: n.Name, Old: was, New: c})
		case was.Type != c.Type:
			p.refuse("column app."+n.Name+"."+c.Name, "would change its type from "+was.Type+" to "+c.Type)
		case was.Sealed != "" && was.Sealed != c.Sealed && p.holds(n.Name, c.Name):
			// Records would show what is stored, or it would be read as what it is not.
			p.refuse("column app."+n.Name+"."+c.Name, "would no longer be a "+was.Sealed)
		case *was != *c:
			p.add(AlterColumn{Table: n.Name, Old: was, New: c})
		}
	}
}

// additions are the constraints, indexes and triggers that are new or changed;
// keys come before the references that may need them.
func additions(o, n *Table) []Step {
	var steps []Step
	for _, c := range n.Constraints {
		if find(o.Constraints, c.Definition, primaryKey) != nil {
			continue
		}
		if was := find(o.Constraints, c.Name, constraintName); was == nil || was.Definition != c.Definition {
			steps = append(steps, AddConstraint{n.Name, c})
		}
	}
	for _, i := range n.Indexes {
		if was := find(o.Indexes, i.Name, indexName); was == nil || !sameIndex(was, i) {
			steps = append(steps, CreateIndex{n.Name, i})
		}
	}
	for _, c := range n.References {
		if was := find(o.References, c.Name, constraintName); was == nil || was.Definition != c.Definition {
			steps = append(steps, AddConstraint{n.Name, c})
		}
	}
	for _, t := range n.Triggers {
		if was := find(o.Triggers, t.Name, triggerName); was == nil || was.Text != t.Text {
			steps = append(steps, CreateTrigger{Table: n.Name, Trigger: t, Replace: was != nil})
		}
	}
	return steps
}

func (p *planner) putBack() {
	for _, n := range p.new.Views {
		if p.viewsChange || find(p.old.Views, n.Name, viewName) == nil {
			p.add(CreateView{n})
		}
	}
	for _, n := range p.new.Policies {
		o := find(p.old.Policies, policyName(n), policyName)
		if p.viewsChange || o == nil || o.Digest != n.Digest {
			p.add(CreatePolicy{n})
		}
	}
	for _, o := range p.old.Grants {
		if find(p.new.Grants, o.Table, grantsTable) == nil && find(p.new.Tables, o.Table, tableName) != nil {
			p.add(SetGrants{&Grants{Table: o.Table}})
		}
	}
	for _, n := range p.new.Grants {
		if o := find(p.old.Grants, n.Table, grantsTable); o == nil || o.Digest != n.Digest {
			p.add(SetGrants{n})
		}
	}
}

func (p *planner) functions() {
	for _, o := range p.old.Functions {
		if n := find(p.new.Functions, functionName(o), functionName); n == nil || n.Digest != o.Digest {
			p.add(DropFunction{o})
		}
	}
	for _, n := range p.new.Functions {
		if o := find(p.old.Functions, functionName(n), functionName); o == nil || o.Digest != n.Digest {
			p.add(CreateFunction{n})
		}
	}
}

// code takes the project's own functions off around all other steps, and makes them
// anew. Without a change, theirs or another, they stay.
func (p *planner) code() {
	same := slices.EqualFunc(p.old.Code, p.new.Code, func(o, n *CodeFile) bool { return o.Name == n.Name && o.Digest == n.Digest })
	if same && (len(p.plan.Steps) == 0 || len(p.old.Code) == 0) {
		return
	}
	p.plan.Steps = slices.Insert(p.plan.Steps, 0, Step(ClearCode{}))
	if len(p.new.Code) > 0 {
		p.add(RunCode{p.new.Code})
	}
}
