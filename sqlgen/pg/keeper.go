package pg

// Keeper is a trigger function that keeps columns made of rows of other tables, after a statement on its table.
type Keeper struct {
	Name    string       `json:"name"` // in the schema of its table
	Event   string       `json:"-"`    // insert, update, delete or truncate
	Columns []string     `json:"-"`    // the columns that it keeps, for its comment: net of Invoice
	Steps   []KeeperStep `json:"-"`
	Text    string       `json:"-"` // the statement that makes it
	Digest  string       `json:"digest"`
}

// KeeperStep is a *Keep or *Restart.
type KeeperStep interface {
	isKeeperStep()
}

// Keep keeps columns of those rows of a table that depend on changed rows of the keeper's table.
type Keep struct {
	Table    string       // the table that has the columns
	Match    string       // its column that finds the rows
	Key      string       // the column of the changed rows that has the same value
	Watched  []string     // the columns of the changed rows whose changes matter
	Source   string       // the table that is read, if its rows must not change meanwhile; empty means none
	Link     string       // the column of Table that finds those rows
	Through  string       // the table whose ids the keys are, if they also find other rows; empty means Table itself or none
	IsBack   bool         // whether these writes lead back to Source, whose rows are then written in turn
	Moved    []Moved      // sums and counts, which move by the amounts of new rows and of rows that are gone
	Extremes []Extreme    // least and greatest values
	Read     []Assignment // columns that are read anew
}

// Moved is a column that moves by the difference.
type Moved struct {
	Column   string
	By       Expr // the amount of a row, over the name of the keeper's table
	IsNumber bool // whether the column holds integers
}

// Extreme is a column that has the least or greatest value of rows. A new row is compared with it; the column is read
// anew only when a row that had the value loses it.
type Extreme struct {
	Column     string
	Of         Expr // the value of a row, over the name of the keeper's table; null counts for nothing
	IsGreatest bool
	Whole      Expr // the value of all rows, over the name of Table
}

// Restart sets columns of all rows of a table to their values without any other row.
type Restart struct {
	Table   string
	Columns []Assignment
}

func (*Keep) isKeeperStep()    {}
func (*Restart) isKeeperStep() {}

// Guard is a trigger function that lets only keepers write the kept columns of its table. A row that is new, or has a
// new id, begins without other rows.
type Guard struct {
	Name    string       `json:"name"`
	Columns []Assignment `json:"-"` // their first values
	Text    string       `json:"-"`
	Digest  string       `json:"digest"`
}

// TestTrigger is the name of the trigger that calls a tester.
const TestTrigger = "_500_validate"

// Tester is a trigger function that tests rules of a table's rows when all rows of a transaction are written. These
// rules mention columns that keepers keep, which are not right before.
type Tester struct {
	Name   string        `json:"name"`  // in the schema of its table
	Rules  []*Constraint `json:"rules"` // checks, in the order in which they are tested
	Text   string        `json:"-"`     // the statement that makes it
	Digest string        `json:"digest"`
}
