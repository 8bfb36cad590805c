package pg

// Keeper is a trigger function that keeps columns made of rows of other tables, after a statement on its table.
type Keeper struct {
	Name    string         `json:"name"` // in the schema of its table
	Columns []string       `json:"-"`    // the columns that it keeps, for its comment: net of Invoice
	Events  []*KeeperEvent `json:"-"`    // one; or insert, update, delete and truncate, if it writes the same after each of the first three
	Text    string         `json:"-"`    // the statement that makes it
	Digest  string         `json:"digest"`
}

// KeeperEvent is what a keeper does after a statement of one kind.
type KeeperEvent struct {
	Event     string // insert, update, delete or truncate
	Steps     []KeeperStep
	Locks     []*Lock // the rows that are locked before the first step, in this order; nil if each step may lock its own
	IfSeveral bool    // whether the locks are needed only by a statement that concerns several rows, or moves one
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

// Columns returns the columns that a step writes.
func (k *Keep) Columns() []string {
	var columns []string
	for _, c := range k.Moved {
		columns = append(columns, c.Column)
	}
	for _, c := range k.Extremes {
		columns = append(columns, c.Column)
	}
	for _, c := range k.Read {
		columns = append(columns, c.Column)
	}
	return columns
}

// Lock is the rows of a table that the steps of a keeper, and the keepers that they call, read or write.
type Lock struct {
	Table    string
	IsHeld   bool   // whether the statement itself has locked them
	Strength string // of the lock: share for rows that are only read, no key update, or update for rows that are deleted
	Ways     []*Way
}

// Way is how rows lead to rows of another table: a column of both has the same value.
type Way struct {
	From      string   // the table whose rows are found before
	Key       string   // its column
	Match     string   // the column of the other table
	IsChanged bool     // whether these are the rows that the statement changed, as they were and as they are
	IsMoved   bool     // whether these are the rows that the statement changed, as they are
	Watched   []string // for both: the columns whose changes matter
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

// What the names of triggers begin with that keep columns, that fill copies, that guard them, and that take turns for
// statements on them.
const (
	KeeperTriggers = "_400_keep_"
	CopyTriggers   = "_060_copy"
	GuardTriggers  = "_050_guard_"
	TurnTriggers   = "_010_turns_"
)

// Guard is a trigger function that lets only keepers write the kept columns of its table. A row that is new, or has a
// new id, begins without other rows.
type Guard struct {
	Name    string       `json:"name"`
	Columns []Assignment `json:"-"` // their first values; nil for one that a new row gets from another trigger
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
