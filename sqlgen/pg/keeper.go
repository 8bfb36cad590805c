package pg

// Keeper is a trigger function that keeps columns which are made of rows of other tables,
// after a statement on its table.
type Keeper struct {
	Name    string       `json:"name"` // in the schema of its table
	Event   string       `json:"-"`    // insert, update, delete or truncate
	Columns []string     `json:"-"`    // what it keeps, for its comment: net of Invoice
	Steps   []KeeperStep `json:"-"`
	Text    string       `json:"-"` // the statement that makes it
	Digest  string       `json:"digest"`
}

// KeeperStep is a *Keep or *Restart.
type KeeperStep interface {
	isKeeperStep()
}

// Keep keeps columns of the rows of a table that changed rows of the keeper's table have to
// do with.
type Keep struct {
	Table    string       // whose rows have the columns
	Match    string       // the column of it by which they are found
	Key      string       // the column of the changed rows that has the same value
	Watched  []string     // the columns of the changed rows without whose change nothing happens
	Source   string       // the table that is read, if its rows have to stay as they are meanwhile; empty means none
	Link     string       // the column of Table by which those are found
	Through  string       // the table whose rows have the keys as ids, if others are found by the same; empty means Table itself or none
	IsBack   bool         // whether what this writes leads back to Source, whose rows are then written in turn
	Moved    []Moved      // sums and counts, which move by what rows add that are new, and by what those added that are gone
	Extremes []Extreme    // least and greatest values
	Read     []Assignment // what is read anew
}

// Moved is a column that moves by the difference.
type Moved struct {
	Column   string
	By       Expr // what a row adds, over the name of the keeper's table
	IsNumber bool // whether the column holds integers
}

// Extreme is a column that has the least or greatest value of rows. A row that is new is
// compared with it; it is read anew only when a row that had the value has it no more.
type Extreme struct {
	Column     string
	Of         Expr // the value of a row, over the name of the keeper's table; null counts for nothing
	IsGreatest bool
	Whole      Expr // the value of all rows, over the name of Table
}

// Restart makes columns of all rows of a table what they are without any other row.
type Restart struct {
	Table   string
	Columns []Assignment
}

func (*Keep) isKeeperStep()    {}
func (*Restart) isKeeperStep() {}

// Guard is a trigger function that lets nobody but keepers write the columns of its table
// that are kept: a row that is new, or has a new id, begins without other rows.
type Guard struct {
	Name    string       `json:"name"`
	Columns []Assignment `json:"-"` // with what they begin
	Text    string       `json:"-"`
	Digest  string       `json:"digest"`
}

// TestTrigger is the name of the trigger that calls a tester.
const TestTrigger = "_500_validate"

// Tester is a trigger function that tests rules of a table's rows when all rows of a
// transaction are written: those that mention what keepers keep, which is not right before.
type Tester struct {
	Name   string        `json:"name"`  // in the schema of its table
	Rules  []*Constraint `json:"rules"` // checks, in the order in which they are tested
	Text   string        `json:"-"`     // the statement that makes it
	Digest string        `json:"digest"`
}
