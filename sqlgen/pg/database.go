package pg

import "strings"

// Database is all objects of one schema, in the order in which they are printed and installed.
//
// A release keeps its JSON as the description of the objects that it installed, and the next change is planned from it.
// It has objects that are altered in place in full. For an object that is replaced, it has the identity, the
// dependencies and a digest of the text. It leaves out expressions, texts and facts that only a compilation needs.
// Description and ReadDescription write and read that form.
type Database struct {
	Source    string          `json:"-"`        // the names of the schema files, for the first line
	Platform  string          `json:"platform"` // digest of the hand-written functions that it was installed over
	Tables    []*Table        `json:"tables"`
	Derived   []DerivedColumn `json:"-"` // the columns that triggers keep, each behind those that it is made of
	Views     []*View         `json:"views,omitempty"`
	Code      []*CodeFile     `json:"code,omitempty"` // the project's own SQL, in the order in which it runs
	Expected  []*Signature    `json:"-"`              // the functions that Code has to define
	Functions []*Function     `json:"functions,omitempty"`
}

// DerivedColumn names a column that triggers keep.
type DerivedColumn struct {
	Table, Column string
}

// Origin is the part of a schema that asks for an object.
type Origin struct {
	Of    string `json:"of,omitempty"`    // model Post; empty means that of the table
	Field string `json:"field,omitempty"` // subtitle; empty means all of it
	Rule  string `json:"-"`               // @maxLength(3); empty means the declaration itself
	Place string `json:"-"`               // blog.stern:12:5; empty if it was read back or is not written anywhere
	Line  string `json:"-"`               // how the schema declares it: subtitle Text?
}

// String writes the origin with its place: model Post, field subtitle, blog.stern:12:5.
func (o Origin) String() string {
	text := o.Of
	if o.Field != "" {
		text += ", field " + o.Field
	}
	if o.Rule != "" {
		text += ", " + o.Rule
	}
	if o.Place != "" {
		text += ", " + o.Place
	}
	return text
}

// CodeFile is a file of the project's own SQL, which is run as it is.
type CodeFile struct {
	Name     string   `json:"name"` // functions/closeVisit.sql
	Text     string   `json:"-"`
	Digest   string   `json:"digest"`
	Mentions []string `json:"mentions,omitempty"` // the tables whose names are in it
}

// Signature is a function as its caller needs it. Further parameters must have defaults.
type Signature struct {
	Schema, Name string
	Arguments    []Argument
	Returns      string
	Or           string // what it may return instead; empty means nothing else
	ReturnsSet   bool
	Origin       Origin // the action that calls it
	File         string // the file that should define it
}

// String writes the signature as the head of a create function.
func (s *Signature) String() string {
	arguments := make([]string, len(s.Arguments))
	for i, a := range s.Arguments {
		arguments[i] = ParamIdent(a.Name) + " " + a.Type
	}
	return Qualified(s.Schema, s.Name) + "(" + strings.Join(arguments, ", ") + ") returns " + s.Result()
}

// Result writes what the function returns.
func (s *Signature) Result() string {
	if s.ReturnsSet {
		return "setof " + s.Returns
	}
	if s.Or != "" {
		return s.Returns + " or " + s.Or
	}
	return s.Returns
}

// Table is a table with all objects that belong to it.
type Table struct {
	Schema      string        `json:"schema"`
	Name        string        `json:"name"`
	RenamedFrom string        `json:"-"` // its name before; empty means none
	RenamedAt   string        `json:"-"` // the place that declares it
	Origin      Origin        `json:"origin"`
	Comment     string        `json:"comment,omitempty"` // empty means none
	Columns     []*Column     `json:"columns"`
	Constraints []*Constraint `json:"constraints"` // primary key, unique, check; in this order
	References  []*Reference  `json:"references,omitempty"`
	Indexes     []*Index      `json:"indexes,omitempty"`
	Functions   []*Function   `json:"functions,omitempty"` // of triggers that keep columns
	Guard       *Function     `json:"guard,omitempty"`     // such functions of older releases
	Keepers     []*Function   `json:"keepers,omitempty"`
	Tester      *Tester       `json:"tester,omitempty"` // nil if every rule is tested at each statement
	Triggers    []*Trigger    `json:"triggers,omitempty"`
	Policies    []*Policy     `json:"policies,omitempty"`
	Grants      []*Grant      `json:"grants,omitempty"`
	History     bool          `json:"history,omitempty"` // whether every version of its rows is kept
}

// Column is a column of a table.
type Column struct {
	Name        string    `json:"name"`
	RenamedFrom string    `json:"-"` // its name before; empty means none
	RenamedAt   string    `json:"-"` // the place that declares it
	Origin      Origin    `json:"origin"`
	Type        string    `json:"type"` // as Postgres spells it, collation included
	NotNull     bool      `json:"notNull,omitempty"`
	Default     string    `json:"default,omitempty"`   // an SQL expression; empty means none
	Generated   string    `json:"generated,omitempty"` // the expression that Postgres computes its value from; empty means none
	Sequence    *Sequence `json:"sequence,omitempty"`  // the source of its default's numbers; nil means none
	Derived     string    `json:"kept,omitempty"`      // the expression that triggers keep it equal to, for a row of the table; empty means none
	Comment     string    `json:"comment,omitempty"`   // empty means none
	Opaque      string    `json:"sealed,omitempty"`    // names the form of its contents, never shown, if SQL cannot read it; empty means that SQL can

	Values  []string      `json:"values,omitempty"` // of an enum: its values; a constraint says the same
	Renames []ValueRename `json:"-"`                // of an enum: values that had another name before
}

// ValueRename says that rows hold the old name of a value until they are changed.
type ValueRename struct {
	Old, New string
	At       string // the place that declares it
}

// ConstraintKind is the kind of a table constraint.
type ConstraintKind string

// The kinds of table constraints. References are apart.
const (
	PrimaryKey ConstraintKind = "primary key"
	Unique     ConstraintKind = "unique"
	Check      ConstraintKind = "check"
)

// Constraint is a primary key, a unique constraint or a check.
type Constraint struct {
	Name      string         `json:"name"`
	Kind      ConstraintKind `json:"kind"`
	Origin    Origin         `json:"-"`
	Columns   []string       `json:"columns,omitempty"`   // columns of a key, or those that a check mentions
	Condition string         `json:"condition,omitempty"` // of a check
	Where     string         `json:"where,omitempty"`     // of a unique that binds some rows only, which makes it an index; empty means all
	OfType    bool           `json:"-"`                   // whether a check says something that its column's type does not say by itself
	Layout    Expr           `json:"-"`                   // Condition before it became text; nil if it was read back
}

// Reference is a foreign key.
type Reference struct {
	Name     string `json:"name"`
	Origin   Origin `json:"-"`
	Column   string `json:"column"`
	Schema   string `json:"schema"` // the referenced table, by its primary key
	Table    string `json:"table"`
	OnDelete string `json:"onDelete"` // cascade, restrict or set null
}

// Index is an index that is not a constraint.
type Index struct {
	Name    string     `json:"name"`
	Origin  Origin     `json:"-"`
	Keys    []IndexKey `json:"keys"`
	Comment string     `json:"comment,omitempty"` // why it is there; empty means the reference of its column
}

// IndexKey is one column of an index, or a function of it.
type IndexKey struct {
	Column     string `json:"column"`
	Function   string `json:"function,omitempty"` // qualified, of text, which is then ordered by code point; empty means the column as it is
	Descending bool   `json:"descending,omitempty"`
}

// FileTrigger is the name of the trigger that counts the fields that hold files, on each table with such fields.
const FileTrigger = "_200_files"

// HistoryTrigger is what the name of a trigger ends with that keeps every version of the rows.
const HistoryTrigger = "_history"

// Trigger is a trigger, of each row or of each statement.
type Trigger struct {
	Name      string   `json:"name"`
	Timing    string   `json:"-"` // before update
	Columns   []string `json:"-"` // of an update: those that it sets, even to the same value; none means any
	When      Expr     `json:"-"` // nil means always
	Function  string   `json:"-"` // qualified
	Arguments []string `json:"-"`

	PerStatement bool   `json:"-"`
	IsDeferred   bool   `json:"-"` // whether it waits for the end of the transaction, or until it is asked for
	Rows         string `json:"-"` // a statement trigger's name for its rows; empty means none

	Text   string `json:"-"` // the statement that makes it
	Digest string `json:"digest"`
}

// What the names of triggers begin with that keep columns, that start them, that guard them, and that take turns for
// statements on them.
const (
	KeeperTriggers = "_400_keep_"
	StartTriggers  = "_060_start_"
	GuardTriggers  = "_050_guard_"
	TurnTriggers   = "_010_turns_"
)

// IsKeeping tells whether a trigger keeps columns, or helps with that.
func (t *Trigger) IsKeeping() bool {
	for _, begins := range []string{KeeperTriggers, StartTriggers, GuardTriggers, TurnTriggers, "_060_copy"} { // the last one in older releases
		if strings.HasPrefix(t.Name, begins) {
			return true
		}
	}
	return false
}

// TestTrigger is the name of the trigger that calls a tester.
const TestTrigger = "_500_validate"

// Tester is a trigger function that tests rules of a table's rows when all rows of a transaction are written. These
// rules mention columns that triggers keep, which are not right before.
type Tester struct {
	Name     string        `json:"name"`  // in the schema of its table
	Rules    []*Constraint `json:"rules"` // checks, in the order in which they are tested
	Function *Function     `json:"-"`
	Text     string        `json:"-"` // the statement that makes it
	Digest   string        `json:"digest"`
}

// BreakRule is the call that ends the transaction because a row of a table breaks a rule.
func BreakRule(t *Table, rule Expr) *Call { return Fn("platform.break_rule", Str(t.Name), rule) }

// Command is a command that a policy governs.
type Command string

// The commands that policies govern.
const (
	ForSelect Command = "select"
	ForInsert Command = "insert"
	ForUpdate Command = "update"
	ForDelete Command = "delete"
)

// Policy is a permissive row-security policy. Branches are its conditions by case, and a
// case without branch is refused. A single branch without a case holds always.
type Policy struct {
	Name     string    `json:"name"`
	Command  Command   `json:"command"`
	Role     string    `json:"role"`
	Branches []*Branch `json:"-"`
	Check    []*Branch `json:"-"`                 // of an update: what the new row must satisfy; a case without branch is free
	Columns  []string  `json:"columns,omitempty"` // columns of its own table that it mentions
	Views    []string  `json:"views,omitempty"`   // views that it reads
	Text     string    `json:"-"`                 // the statement that makes it
	Digest   string    `json:"digest"`
}

// Branch is the condition of a policy in some case.
type Branch struct {
	When      Expr   // the case; nil means always
	Comment   string // the rule in the schema's words; empty means none
	Condition Expr
}

// Grant is a privilege of a role on a table.
type Grant struct {
	Privilege string   `json:"privilege"`         // select, insert, update, delete
	Columns   []string `json:"columns,omitempty"` // empty means the whole table
	Role      string   `json:"role"`
}

// View is a view over one table, row for row, or over what a query of such views finds.
type View struct {
	Schema  string       `json:"schema"`
	Name    string       `json:"name"`
	Table   string       `json:"table,omitempty"`   // in schema app; empty for a view over a query
	Columns []ViewColumn `json:"columns,omitempty"` // of a view over a table

	Title  string   `json:"title,omitempty"` // of a view over a query, the line above it: the roles of the caller
	Query  *Select  `json:"-"`               // nil for a view over a table
	Reads  []string `json:"reads,omitempty"` // the views that the query reads, which come before this one
	Text   string   `json:"-"`               // the statement that makes a view over a query
	Digest string   `json:"digest,omitempty"`
}

// IsQuery tells whether the view shows what a query finds.
func (v *View) IsQuery() bool { return v.Table == "" }

// ViewColumn is a column of a view, and the value that it shows.
type ViewColumn struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // an SQL expression over the columns of the table; empty means the one of that name
}

// Volatility is a function's promise to the planner.
type Volatility string

// The volatilities.
const (
	Immutable Volatility = "immutable"
	Stable    Volatility = "stable"
	Volatile  Volatility = "volatile"
)

// Function is a PL/pgSQL function.
type Function struct {
	Schema      string      `json:"schema"`
	Name        string      `json:"name"`
	Title       string      `json:"title"`           // the line above it: action getPatient
	Owner       string      `json:"owner,omitempty"` // the role that it runs as; empty means sternpost_caller
	Origin      Origin      `json:"-"`
	Comment     string      `json:"-"`
	Arguments   []Argument  `json:"arguments"`
	Returns     string      `json:"returns"`
	Volatility  Volatility  `json:"-"`
	Settings    []Setting   `json:"-"` // beyond the pinned search_path
	UseVariable bool        `json:"-"` // a name that is both a column's and a variable's means the variable
	UseColumn   bool        `json:"-"` // it means the column: a table may be named as a trigger's row
	Variables   []*Variable `json:"-"`
	Body        []Paragraph `json:"-"`
	Text        string      `json:"-"` // the statement that makes it
	Digest      string      `json:"digest"`
}

// Argument is a parameter of a function.
type Argument struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Setting is a configuration parameter that a function sets while it runs.
type Setting struct {
	Name, Value string
}

// Variable is a local variable of a function. As an expression it is its value: a statement that reads or sets it holds
// the declaration, and so cannot misspell the name.
type Variable struct {
	Name    string
	Type    string
	Initial Expr // nil means null
	Comment string
}

// Field is a column of the row that a variable holds.
func (v *Variable) Field(column string) *ColumnRef { return Col(v.Name, column) }

// Paragraph is a group of statements, set off by blank lines.
type Paragraph struct {
	Comment    string
	Statements []Statement
}
