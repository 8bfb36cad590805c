package pg

// Select is a query. In PL/pgSQL it may have a target.
type Select struct {
	Columns []Output // none is select without columns, for exists
	Into    []Target // none outside of PL/pgSQL
	From    From     // nil means none
	Joins   []Join
	Where   Expr // nil means none

	GroupBy []Expr // none means none
	Having  Expr   // nil means none

	UnionAll []*Select // queries whose rows follow, before the order

	OrderBy []Order
	Limit   Expr   // nil means none
	Offset  Expr   // nil means none
	Lock    string // share, no key update or update; empty means that no row is locked
}

// Target takes a column of a query: a *Variable, or a field of the row in one.
type Target interface {
	Expr
	isTarget()
}

func (*Variable) isTarget()  {}
func (*ColumnRef) isTarget() {}

// Output is one column of a query's result.
type Output struct {
	Value Expr
	As    string // nil string means no alias; printed as an identifier
	Quote bool   // whether the alias is always quoted: a name of the wire
}

// From is a *TableRef, *SubqueryRef, *UnionRef or *CallRef.
type From interface {
	isFrom()
}

// TableRef is a table or view, or, without schema, rows that the statement names.
type TableRef struct {
	Schema, Name string
	Alias        string // empty means its own name
}

// SubqueryRef is a query in a from clause.
type SubqueryRef struct {
	Query *Select
	Alias string
}

// UnionRef is the rows of several queries, each with an order and limit of its own, in a from clause. Equal rows come
// once.
type UnionRef struct {
	Queries []*Select
	Alias   string
}

// CallRef is a set-returning function in a from clause.
type CallRef struct {
	Call       Expr
	Ordinality bool
	Alias      string   // "" if nothing names its columns
	Columns    []string // none means the function's own
}

func (*TableRef) isFrom()    {}
func (*SubqueryRef) isFrom() {}
func (*UnionRef) isFrom()    {}
func (*CallRef) isFrom()     {}

// Join is a join.
type Join struct {
	Kind string // join, left join, cross join, cross join lateral
	With From
	On   Expr // nil for a cross join
}

// Order is one key of an order.
type Order struct {
	Value      Expr
	Descending bool
}

// Ref returns a reference to schema.name.
func Ref(schema, name string) *TableRef { return &TableRef{Schema: schema, Name: name} }

// Statement is a PL/pgSQL statement.
type Statement interface {
	isStatement()
}

// Perform evaluates an expression for its effect.
type Perform struct {
	Value Expr
}

// Assign gives a variable a value.
type Assign struct {
	Variable *Variable
	Value    Expr
}

// Query is a select with a target, or one that only locks rows.
type Query struct {
	Select *Select
}

// Insert is an insert of one row, or of the rows of a query.
type Insert struct {
	With          []Named // parts that run in the same statement
	Schema, Table string
	Columns       []string
	Values        []Expr  // for one row
	Query         *Select // rows; nil means Values
	Returning     []Expr  // none means none
	Into          *Variable
}

// Named is a part of a statement under a name: rows that the other parts read, or
// an insert of its own.
type Named struct {
	Name   string
	Query  *Select // nil means Insert
	Insert *Insert
}

// Update is an update of the rows that satisfy a condition.
type Update struct {
	Schema, Table string
	Set           []Assignment
	From          From // other rows, which Set and Where may read; nil means none
	Where         Expr
	Returning     []Expr // none means none
	Into          *Variable
}

// Assignment gives a column a value.
type Assignment struct {
	Column string
	Value  Expr
}

// Delete is a delete of the rows that satisfy a condition.
type Delete struct {
	Schema, Table string
	Using         From // other rows, which Where may read; nil means none
	Where         Expr
	Returning     []Expr // none means none
	Into          *Variable
}

// If runs one of its branches.
type If struct {
	Branches []IfBranch
	Else     []Statement // none means nothing
}

// IfBranch is a condition and its statements.
type IfBranch struct {
	Condition Expr
	Then      []Statement
}

// Choose runs the branch for the value of an expression. The branch must exist.
type Choose struct {
	Value    Expr
	Branches []ChooseBranch
}

// ChooseBranch is the statements for a value.
type ChooseBranch struct {
	Value Expr
	Then  []Statement
}

// Return ends a function with a value.
type Return struct {
	Value Expr // nil in a function that answers a set
}

// ReturnQuery adds the rows of a query to the answer of a function.
type ReturnQuery struct {
	Query *Select
}

// ReturnWritten adds the rows that a write returns to the answer of a function.
type ReturnWritten struct {
	Write Statement // with Returning, and without Into
}

// ReturnNext is return next: it adds a row to the answer.
type ReturnNext struct {
	Row Expr // nil means the variables that are the columns of the answer
}

// ReturnExecute adds the rows of a query, which is text, to the answer of a function.
type ReturnExecute struct {
	Text  Expr
	Using []Expr
}

// Execute runs text as a statement.
type Execute struct {
	Text  Expr
	Into  *Variable // nil means no result
	Using []Expr
}

// ForEach runs statements for each row of a query.
type ForEach struct {
	Variables []*Variable
	Query     *Select
	Body      []Statement
}

// ForElement runs statements for each element of an array.
type ForElement struct {
	Variable *Variable
	Array    Expr
	Body     []Statement
}

// TestNow runs triggers that wait for the end of the transaction, and makes those of later statements wait again.
type TestNow struct {
	Schema, Trigger string // of every table that has a trigger of that name
}

// CountRows counts the rows of the statement before it.
type CountRows struct {
	Into *Variable
}

// Note is a comment between statements.
type Note struct {
	Text string
}

func (*Perform) isStatement()       {}
func (*Assign) isStatement()        {}
func (*Query) isStatement()         {}
func (*Insert) isStatement()        {}
func (*Update) isStatement()        {}
func (*Delete) isStatement()        {}
func (*If) isStatement()            {}
func (*Choose) isStatement()        {}
func (*Return) isStatement()        {}
func (*ReturnQuery) isStatement()   {}
func (*ReturnWritten) isStatement() {}
func (*Execute) isStatement()       {}
func (*ReturnExecute) isStatement() {}
func (*ReturnNext) isStatement()    {}
func (*ForEach) isStatement()       {}
func (*ForElement) isStatement()    {}
func (*TestNow) isStatement()       {}
func (*CountRows) isStatement()     {}
func (*Note) isStatement()          {}

// IfThen returns an if with one branch.
func IfThen(condition Expr, then ...Statement) *If {
	return &If{Branches: []IfBranch{{Condition: condition, Then: then}}}
}
