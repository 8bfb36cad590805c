package install

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// UnknownFieldError is returned for a backfill of a table or column that the new schema does not have.
type UnknownFieldError struct {
	Backfill diff.Backfill
	near     string
}

// Error names the field, and one that was probably meant.
func (e *UnknownFieldError) Error() string {
	text := fmt.Sprintf("--backfill %q: there is no column app.%s.%s in the schema", e.Backfill, e.Backfill.Table, e.Backfill.Column)
	if e.near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", e.near)
	}
	return text
}

// CheckBackfills returns an *UnknownFieldError for the first backfill of a column that a database does not have.
func CheckBackfills(db *pg.Database, list []diff.Backfill) error {
	var known []string
	for _, t := range db.Tables {
		for _, c := range t.Columns {
			known = append(known, t.Name+"."+c.Name)
		}
	}
	for _, b := range list {
		if name := b.Table + "." + b.Column; !slices.Contains(known, name) {
			return &UnknownFieldError{b, syntax.Suggest(name, known)}
		}
	}
	return nil
}
