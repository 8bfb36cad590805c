package diff

import "github.com/sternpost/sternpost/sqlgen/pg"

// Change is the action of a step. It is one of the types below. Tables are those of the new database, except where a
// change takes away.
type Change interface {
	isChange()
}

type (
	// DropPolicy, DropView and DropFunction drop objects that are gone or made anew below.
	DropPolicy struct {
		Table  *pg.Table // the old one
		Policy *pg.Policy
	}
	DropView struct{ View *pg.View }
	// RenameViewColumn follows a renamed column, so that what depends on the view need not be made again.
	RenameViewColumn struct {
		View     *pg.View
		Old, New string
	}
	DropFunction struct{ Function *pg.Function }

	// CreateTable makes a table with row security and some of its references, without indexes, triggers, policies and
	// grants.
	CreateTable struct {
		Table      *pg.Table
		References []*pg.Reference // that it has from the start
	}
	// DropTable drops a table with its rows.
	DropTable struct{ Table *pg.Table }
	// RenameTable and RenameColumn follow @renamed; Column is the new one.
	RenameTable  struct{ Old, New *pg.Table }
	RenameColumn struct {
		Table  *pg.Table
		Old    string
		Column *pg.Column
	}
	// AddColumn adds a column at the end of a table. With Optional it may be null for now,
	// until its rows have values.
	AddColumn struct {
		Table    *pg.Table
		Column   *pg.Column
		Optional bool
	}
	// DropColumn drops a column with its values.
	DropColumn struct {
		Table  *pg.Table // the new one
		Column *pg.Column
	}
	// AlterType changes the type of a column. Using is an expression over the column.
	AlterType struct {
		Table    *pg.Table
		Old, New *pg.Column
		Using    string
	}
	// DropExpression makes a generated column an ordinary one, which keeps its values.
	DropExpression struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// AlterDefault sets or drops the default of a column.
	AlterDefault struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// SetNotNull and DropNotNull set whether a column may be null.
	SetNotNull struct {
		Table  *pg.Table
		Column *pg.Column
	}
	DropNotNull struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// DropKeepers and CreateKeepers are about the functions that keep computed columns of a table, or that its triggers
	// call to keep others.
	DropKeepers   struct{ Table *pg.Table }
	CreateKeepers struct{ Table *pg.Table }
	// DropTester and CreateTester are about the function that tests rules of a table when all rows are written.
	DropTester   struct{ Table *pg.Table }
	CreateTester struct{ Table *pg.Table }
	// TestRows checks whether existing rows satisfy such a rule.
	TestRows struct {
		Table *pg.Table
		Rule  *pg.Constraint
	}
	// CountRows ends the plan if rows break what it adds; a refusal says which rows.
	CountRows struct{ Refusal *Refusal }
	// FillColumn computes a column for all rows.
	FillColumn struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// CreateSequence makes the sequence of an existing column. DropSequence drops it, with the default that takes
	// numbers from it; the table and column are then the old ones. RenameSequence makes one follow its column.
	CreateSequence struct {
		Table  *pg.Table
		Column *pg.Column
	}
	DropSequence struct {
		Table  *pg.Table
		Column *pg.Column
	}
	RenameSequence struct {
		Old, New  string
		IsCounter bool // whether it counts per row
	}
	// RestartSequence sets the first number of a sequence; it does not give a number twice. AdvanceSequence moves a
	// sequence to its first number and beyond the numbers that rows have, if it is behind.
	RestartSequence struct {
		Table  *pg.Table
		Column *pg.Column
	}
	AdvanceSequence struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// CountFiles counts anew the fields that name each file: triggers do so when rows are written, and do not see that
	// a column or table is dropped.
	CountFiles struct{}
	// NumberRows gives rows without a value the next numbers of a column's sequence, in the order in which the rows
	// were made.
	NumberRows struct {
		Table  *pg.Table
		Column *pg.Column
	}
	// UpdateRows gives a column of some rows a value. An empty condition means all.
	UpdateRows struct {
		Table  *pg.Table
		Column *pg.Column
		Value  string
		Where  string
	}
	// CommentTable and CommentColumn set a comment; an empty one removes it.
	CommentTable  struct{ Table *pg.Table }
	CommentColumn struct {
		Table  *pg.Table
		Column *pg.Column
	}

	// DropConstraint drops a key, a check or a reference of the old table.
	DropConstraint struct {
		Table *pg.Table
		Name  string
	}
	// AddConstraint adds a key or a check. With NotValid it does not look at existing rows; with FromIndex a key takes
	// the index of its name.
	AddConstraint struct {
		Table      *pg.Table
		Constraint *pg.Constraint
		NotValid   bool
		FromIndex  bool
	}
	// AddReference adds a foreign key, likewise.
	AddReference struct {
		Table     *pg.Table
		Reference *pg.Reference
		NotValid  bool
	}
	// Validate checks the rows that are older than a constraint.
	Validate struct {
		Table *pg.Table
		Name  string
	}
	// RenameConstraint renames a check or reference.
	RenameConstraint struct {
		Table    *pg.Table
		Old, New string
	}
	// RenameIndex renames an index, or a key, whose index has its name.
	RenameIndex struct{ Old, New string }

	// DropIndex and CreateIndex are about indexes that are not constraints. CreateUnique is about the index of a key
	// that binds some rows only, or that takes its index afterwards.
	DropIndex   struct{ Name string }
	CreateIndex struct {
		Table        *pg.Table
		Index        *pg.Index
		Concurrently bool
	}
	CreateUnique struct {
		Table        *pg.Table
		Constraint   *pg.Constraint
		Concurrently bool
	}

	// DropTrigger takes a trigger off, CreateTrigger makes one.
	DropTrigger struct {
		Table *pg.Table
		Name  string
	}
	CreateTrigger struct {
		Table   *pg.Table
		Trigger *pg.Trigger
	}

	// CreateView makes a view; with Replace it replaces one that shows less.
	CreateView struct {
		View    *pg.View
		Replace bool
	}
	CreatePolicy struct {
		Table  *pg.Table
		Policy *pg.Policy
	}
	// SetGrants revokes all privileges on a table from the roles that had any and grants those of the table. From are
	// the roles.
	SetGrants struct {
		Table *pg.Table
		From  []string
	}
	// CreateFunction makes a function; with Replace it replaces one with the same name and arguments.
	CreateFunction struct {
		Function *pg.Function
		Replace  bool
	}

	// ClearCode empties schema functions, and RunCode runs the project's own SQL,
	// which fills it.
	ClearCode struct{}
	RunCode   struct{ Files []*pg.CodeFile }
)

func (DropPolicy) isChange()       {}
func (DropView) isChange()         {}
func (DropFunction) isChange()     {}
func (RenameViewColumn) isChange() {}
func (CreateTable) isChange()      {}
func (DropTable) isChange()        {}
func (RenameTable) isChange()      {}
func (RenameColumn) isChange()     {}
func (AddColumn) isChange()        {}
func (DropColumn) isChange()       {}
func (AlterType) isChange()        {}
func (DropExpression) isChange()   {}
func (AlterDefault) isChange()     {}
func (SetNotNull) isChange()       {}
func (DropNotNull) isChange()      {}
func (DropKeepers) isChange()      {}
func (CreateKeepers) isChange()    {}
func (DropTester) isChange()       {}
func (CreateTester) isChange()     {}
func (TestRows) isChange()         {}
func (CountRows) isChange()        {}
func (FillColumn) isChange()       {}
func (CreateSequence) isChange()   {}
func (DropSequence) isChange()     {}
func (RenameSequence) isChange()   {}
func (RestartSequence) isChange()  {}
func (AdvanceSequence) isChange()  {}
func (NumberRows) isChange()       {}
func (CountFiles) isChange()       {}
func (UpdateRows) isChange()       {}
func (CommentTable) isChange()     {}
func (CommentColumn) isChange()    {}
func (DropConstraint) isChange()   {}
func (AddConstraint) isChange()    {}
func (AddReference) isChange()     {}
func (Validate) isChange()         {}
func (RenameConstraint) isChange() {}
func (RenameIndex) isChange()      {}
func (DropIndex) isChange()        {}
func (CreateIndex) isChange()      {}
func (CreateUnique) isChange()     {}
func (DropTrigger) isChange()      {}
func (CreateTrigger) isChange()    {}
func (CreateView) isChange()       {}
func (CreatePolicy) isChange()     {}
func (SetGrants) isChange()        {}
func (CreateFunction) isChange()   {}
func (ClearCode) isChange()        {}
func (RunCode) isChange()          {}
