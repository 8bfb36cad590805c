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
	Warnings []Warning    // parts of the schema that the database does not know
	Unused   []string     // allowances and backfills that no change needed
	Locks    Locks        // of the transaction of the steps that are not Later
	Result   *pg.Database // the database after all steps: the new one, with columns in the order that they have there
}

// Adds tells whether a column is added to a table, which is named by its old name.
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

// Step is one change, with its reason and its risks.
type Step struct {
	Change  Change
	Table   string    // in schema app, by its name when the step runs; empty if it is about none
	Reason  string    // the part of the schema that asks for it: model Post, field subtitle, blog.stern:12:5
	Hazards []Hazard  // none if it is quick and safe
	Lock    Lock      // the strongest that it takes on the table; empty means none
	Rows    int64     // how many rows or values it concerns; Unknown if not counted
	Given   *Backfill // whose value it computes; nil means none
	Later   bool      // whether it follows the transaction of the others, in one of its own
}

// Unknown is the number of rows that were not counted.
const Unknown int64 = -1

// Hazard is a risk of a step.
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

// Lock is a lock on a table, by Postgres' name (manual, chapter 13.3).
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

// Reasons returns the parts of the schema that ask for the plan, without those of steps that only follow from others.
func (p *Plan) Reasons() []string {
	var list []string
	for _, s := range p.Steps {
		switch s.Change.(type) {
		case DropView, RenameViewColumn, CreateView, CreatePolicy, SetGrants, DropTrigger, CreateTrigger, DropKeepers, CreateKeepers, DropTester, CreateTester, Validate, CountRows:
			continue
		}
		if !slices.Contains(list, s.Reason) {
			list = append(list, s.Reason)
		}
	}
	return list
}

// Refusal is a change that the plan does not make: rows or values would be lost, or it would fail on rows.
type Refusal struct {
	Object   string   // column app.post.subtitle
	Change   string   // would be dropped with its values
	Reason   string   // like the reason of a step
	Allow    string   // the allowance for it: drop:post.subtitle; empty if an allowance would not help
	Backfill string   // the column for which a value would help: post.slug; empty means none
	Renames  []Rename // renames in the schema that would keep the values
	Default  string   // the declaration to which a @default would help: slug Text; empty means none
	Names    []string // the columns that a value for a new type may be computed from; they have their old values

	Table     string // in schema app, by its current name
	Column    string // by its current name; empty means whole rows
	Condition string // SQL over the table: the condition for the rows concerned; empty means all
	Rows      int64  // how many they are; Unknown if not counted
	Sealed    bool   // whether the column's values must not be shown
}

// Rename is a @renamed that the schema could add to a new declaration to keep what is gone.
type Rename struct {
	Declaration string // title Text, model Label; a value of an enum
	From        string // the old name, as the schema wrote it
	Place       string // of the declaration; empty if unknown
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
	Backfills  []Backfill // values for existing rows
	Rows       Rows       // nil without a database to ask
	Concurrent bool       // whether tables may be large and in use: see Between
}

// Rows counts the rows of a table in schema app, by its current name, that satisfy a condition; an empty one means all.
// The count must stay true until the plan has run, or the plan may fail.
type Rows func(table, condition string) int64

// Backfill is a value for a column of existing rows.
type Backfill struct {
	Table, Column string // by their names in the new database
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

// Expression is the value in brackets, which make it one expression, or an error. No comment at its end reaches the
// bracket.
func (b *Backfill) Expression() string {
	if strings.Contains(b.Value, "--") {
		return "(" + b.Value + "\n)"
	}
	return "(" + b.Value + ")"
}

// name is the display name of a backfill: post.slug.
func (b Backfill) name() string { return b.Table + "." + b.Column }

// permissions tracks the given allowances and backfills, and which of them were used.
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

// backfill returns what was given for a column, or nil.
func (p *permissions) backfill(table, column string) *Backfill {
	for i := range p.options.Backfills {
		if b := &p.options.Backfills[i]; b.Table == table && b.Column == column {
			p.used[b.name()] = true
			return b
		}
	}
	return nil
}

// unused lists those that no change needed, as they were given.
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
