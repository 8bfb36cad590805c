package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Plan is the way from one database to another.
type Plan struct {
	Steps    []*Step
	Refused  []*Refusal   // nothing of the plan may run while there are any
	Warnings []Warning    // what the schema says and the database knows nothing of
	Unused   []string     // allowances and backfills that nothing asked for
	Result   *pg.Database // what the database is when all steps have run: the new one, with columns in the order they have there
}

// Adds tells whether a column is added to a table, which goes by its old name.
func (p *Plan) Adds(table, column string) bool {
	for _, s := range p.Steps {
		if c, ok := s.Change.(RenameTable); ok && c.Old.Name == table {
			table = c.New.Name
			break
		}
	}
	return slices.ContainsFunc(p.Steps, func(s *Step) bool {
		c, ok := s.Change.(AddColumn)
		return ok && c.Table.Name == table && c.Column.Name == column
	})
}

// IsEmpty tells whether both databases are the same.
func (p *Plan) IsEmpty() bool { return len(p.Steps) == 0 && len(p.Refused) == 0 }

// Step is one change, and what one should know of it.
type Step struct {
	Change  Change
	Table   string   // in schema app, as it is called when the step runs; empty if it is about none
	Reason  string   // what in the schema asks for it: model Post, field subtitle, blog.stern:12:5
	Hazards []Hazard // none if it is quick and safe
	Lock    Lock     // the strongest that it takes on the table; empty means none
	Rows    int64    // how many rows or values it concerns; Unknown if nobody was asked
	Given   bool     // whether it computes a value that was given as a backfill
	Later   bool     // whether it follows the transaction of the others, in one of its own
}

// Unknown is the number of rows where nobody was asked.
const Unknown int64 = -1

// Hazard is what a step puts at risk.
type Hazard string

// The hazards.
const (
	LosesData   Hazard = "loses data"
	MayFail     Hazard = "may fail on rows"
	LocksReads  Hazard = "locks reads"
	LocksWrites Hazard = "locks writes"
	Rewrites    Hazard = "rewrites the table"
	Long        Hazard = "long on many rows"
)

// Lock is a lock on a table, as Postgres calls it (manual, chapter 13.3).
type Lock string

// The locks that steps take.
const (
	NoLock               Lock = ""
	RowExclusive         Lock = "ROW EXCLUSIVE"
	ShareUpdateExclusive Lock = "SHARE UPDATE EXCLUSIVE"
	Share                Lock = "SHARE"
	ShareRowExclusive    Lock = "SHARE ROW EXCLUSIVE"
	AccessExclusive      Lock = "ACCESS EXCLUSIVE"
)

// Refusal is a change that the plan does not make: rows or values would be lost, or it
// would fail on rows.
type Refusal struct {
	Object   string   // column app.post.subtitle
	Change   string   // would be dropped with its values
	Reason   string   // as that of a step
	Allow    string   // what allows it: drop:post.subtitle; empty if an allowance would not help
	Backfill string   // the column for which a value would help: post.slug; empty means none
	Renames  []Rename // what the schema could say to keep the values

	Table     string // in schema app, as it is called now
	Column    string // as it is called now; empty means whole rows
	Condition string // SQL over the table: the rows that are concerned; empty means all
	Rows      int64  // how many they are; Unknown if nobody was asked
	Sealed    bool   // whether the column holds what must not be shown
}

// Rename is what the schema could say of something new to keep what is gone.
type Rename struct {
	Declaration string // title Text, model Label; a value of an enum
	From        string // the name that is gone, as the schema wrote it
	Place       string // of the declaration; empty if it is not known
	Table       string // in the new database
	Column      string // empty if it is about a table or a value
}

// String writes the line: title Text @renamed(from: subtitle).
func (r Rename) String() string {
	attribute := "@renamed(from: " + r.From + ")"
	if strings.HasPrefix(r.Declaration, "model ") {
		return r.Declaration + " { … " + attribute + " }"
	}
	return r.Declaration + " " + attribute
}

// Warning is something in the schema that has no effect.
type Warning struct {
	Place   string
	Message string
}

// Options say what a plan may do.
type Options struct {
	Allow      []string   // names of refusals: drop:post.subtitle
	Backfills  []Backfill // values for rows that are there
	Rows       Rows       // nil without a database to ask
	Concurrent bool       // whether tables may be large and in use: see Between
}

// Rows counts the rows of a table in schema app, as it is called now, that satisfy a
// condition; an empty one means all. What it says must stay true until the plan has
// run, or the plan may fail.
type Rows func(table, condition string) int64

// Backfill is a value for a column of the rows that are there.
type Backfill struct {
	Table, Column string // as the new database calls them
	Value         string // an SQL expression over the columns of the table
}

// ParseBackfill reads post.slug = lower(title).
func ParseBackfill(text string) (Backfill, error) {
	target, value, found := strings.Cut(text, "=")
	table, column, dotted := strings.Cut(strings.TrimSpace(target), ".")
	value = strings.TrimSpace(value)
	if !found || !dotted || table == "" || column == "" || value == "" || strings.ContainsAny(target, "'\"()") {
		return Backfill{}, fmt.Errorf("%q is not a backfill: write it as TABLE.COLUMN = EXPRESSION, for example post.slug = lower(title)", text)
	}
	return Backfill{Table: table, Column: column, Value: value}, nil
}

// String writes a backfill as ParseBackfill reads it.
func (b Backfill) String() string { return b.name() + " = " + b.Value }

// name is how a backfill is spoken of: post.slug.
func (b Backfill) name() string { return b.Table + "." + b.Column }

// permissions keeps watch over what was allowed and what of it was used.
type permissions struct {
	options Options
	used    map[string]bool
}

func (p *permissions) allows(name string) bool {
	if !slices.Contains(p.options.Allow, name) {
		return false
	}
	p.used[name] = true
	return true
}

func (p *permissions) backfill(table, column string) (value string, ok bool) {
	for _, b := range p.options.Backfills {
		if b.Table == table && b.Column == column {
			p.used[b.name()] = true
			return "(" + b.Value + ")", true // so that it is one expression, or none
		}
	}
	return "", false
}

// unused lists what nothing has asked for, as it was given.
func (p *permissions) unused() []string {
	var list []string
	for _, name := range p.options.Allow {
		if !p.used[name] {
			list = append(list, name)
		}
	}
	for _, b := range p.options.Backfills {
		if !p.used[b.name()] {
			list = append(list, b.String())
		}
	}
	return list
}

// rows asks the database; Unknown without one.
func (p *permissions) rows(table, condition string) int64 {
	if p.options.Rows == nil {
		return Unknown
	}
	return p.options.Rows(table, condition)
}
