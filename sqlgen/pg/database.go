package pg

import "strings"

// Database is everything that one schema becomes, in the order in which it is
// printed and installed.
type Database struct {
	Source    string // the names of the schema files, for the first line
	Tables    []*Table
	Views     []*View
	Code      []*CodeFile  // the project's own SQL, in the order in which it runs
	Expected  []*Signature // the functions that Code has to define
	Functions []*Function
	Manifest  []byte // JSON: what a server reads of the release
}

// CodeFile is a file of the project's own SQL, which is run as it is.
type CodeFile struct {
	Name string // functions/closeVisit.sql
	Text string
}

// Signature is a function as a caller needs it. Further parameters must have
// defaults.
type Signature struct {
	Schema, Name string
	Arguments    []Argument
	Returns      string
	ReturnsSet   bool
	Action       string // that calls it
	File         string // in which it is looked for
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
	return s.Returns
}

// Table is a table with all that hangs on it.
type Table struct {
	Schema, Name string
	Origin       string // what it was made from: model Patient
	Comment      string // empty means none
	Columns      []*Column
	Constraints  []*Constraint // primary key, unique, check; in this order
	References   []*Reference
	Indexes      []*Index
	Triggers     []*Trigger
	Policies     []*Policy
	Grants       []*Grant
}

// Column is a column of a table.
type Column struct {
	Name    string
	Type    string // as Postgres spells it, collation included
	NotNull bool
	Default Expr   // nil means none
	Comment string // empty means none
	Sealed  string // "Password" or "Secret" if the server hashes or encrypts what it holds
}

// ConstraintKind is the kind of a table constraint.
type ConstraintKind string

// The kinds of table constraints. References stand apart.
const (
	PrimaryKey ConstraintKind = "primary key"
	Unique     ConstraintKind = "unique"
	Check      ConstraintKind = "check"
)

// Constraint is a primary key, a unique constraint or a check.
type Constraint struct {
	Name      string
	Kind      ConstraintKind
	Columns   []string // of a key
	Condition Expr     // of a check
	Where     Expr     // of a unique that binds some rows only, which makes it an index; nil means all
}

// Reference is a foreign key.
type Reference struct {
	Name     string
	Column   string
	Schema   string // of the table pointed to, whose primary key is meant
	Table    string
	OnDelete string // cascade, restrict or set null
}

// Index is an index that is no constraint.
type Index struct {
	Name    string
	Keys    []IndexKey
	Comment string // why it is there; empty means the reference of its column
}

// IndexKey is one column of an index, or what a function makes of it.
type IndexKey struct {
	Column     string
	Function   string // qualified, of text, which is then ordered by code point; empty means the column as it is
	Descending bool
}

// Trigger is a row trigger.
type Trigger struct {
	Name      string
	Timing    string // before update
	When      Expr   // nil means always
	Function  string // qualified
	Arguments []string
}

// Command is a command that a policy governs.
type Command string

// The commands that policies govern.
const (
	ForSelect Command = "select"
	ForInsert Command = "insert"
	ForUpdate Command = "update"
	ForDelete Command = "delete"
)

// Policy is a permissive row-security policy. Branches are its conditions by
// action; an action without branch is refused.
type Policy struct {
	Name     string
	Command  Command
	Role     string
	Branches []*Branch
	Check    []*Branch // of an update: what the new row must satisfy; an action without branch is free
}

// Branch is what a policy demands during some actions.
type Branch struct {
	Actions   []string
	Comment   string // the rule in the schema's words; empty means none
	Condition Expr
}

// Grant is what a role may do with a table.
type Grant struct {
	Privilege string   // select, insert, update, delete
	Columns   []string // empty means the whole table
	Role      string
}

// View is a view over one table, row for row.
type View struct {
	Schema, Name string
	Table        string // qualified
	Columns      []Output
}

// Volatility is what a function promises the planner.
type Volatility string

// The volatilities.
const (
	Immutable Volatility = "immutable"
	Stable    Volatility = "stable"
	Volatile  Volatility = "volatile"
)

// Function is a PL/pgSQL function.
type Function struct {
	Schema, Name string
	Title        string // the line above it: action getPatient
	Comment      string
	Arguments    []Argument
	Returns      string
	Volatility   Volatility
	Settings     []Setting // beyond the pinned search_path
	UseVariable  bool      // where a column has the name of a variable, the variable is meant
	Variables    []Variable
	Body         []Paragraph
}

// Argument is a parameter of a function.
type Argument struct {
	Name, Type string
}

// Setting is a configuration parameter that a function sets while it runs.
type Setting struct {
	Name, Value string
}

// Variable is a local variable of a function.
type Variable struct {
	Name    string
	Type    string
	Initial Expr // nil means null
	Comment string
}

// Paragraph is a group of statements, set off by blank lines.
type Paragraph struct {
	Comment    string
	Statements []Statement
}
