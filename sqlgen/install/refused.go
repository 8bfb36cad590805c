package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// RefusedError is returned for changes that would lose rows or values, or that rows do not allow. Nothing was changed.
type RefusedError struct {
	Refused  []*diff.Refusal
	Examples map[*diff.Refusal][]string // of the values concerned; none of a Password or Secret
}

// Error lists the changes, each with its remedies.
func (e *RefusedError) Error() string {
	lines := []string{"the schema cannot be installed as it is:"}
	for _, r := range e.Refused {
		lines = append(lines, "  "+strings.ReplaceAll(e.Describe(r), "\n", "\n  "))
	}
	return strings.Join(lines, "\n")
}

// Describe says what a refused change would do to existing rows and values, over some lines.
func (e *RefusedError) Describe(r *diff.Refusal) string {
	text := r.Object + " " + r.Change + count(r)
	if examples := e.Examples[r]; len(examples) > 0 {
		text += ", for example " + strings.Join(examples, ", ")
	}
	if r.Reason != "" {
		text += "\n  because of " + r.Reason
	}
	for _, rename := range r.Renames {
		text += "\n  perhaps a rename? Then write: " + rename.String()
	}
	if r.Default != "" {
		text += "\n  a default for these rows and new ones? Then write: " + r.Default + " @default(…)"
	}
	if r.Names != nil {
		text += "\n  another value may be computed from the columns as they are: " + strings.Join(r.Names, ", ")
	}
	return text
}

// count says how many rows a change concerns.
func count(r *diff.Refusal) string {
	switch {
	case r.Rows == diff.Unknown:
		return ""
	case r.Rows == 1 && r.Column == "":
		return " (1 row)"
	case r.Rows == 1:
		return " (1 value)"
	case r.Column == "":
		return fmt.Sprintf(" (%d rows)", r.Rows)
	}
	return fmt.Sprintf(" (%d values)", r.Rows)
}

// maxExamples is how many examples of lost values are shown, and maxExample how many characters of each.
const (
	maxExamples = 3
	maxExample  = 40
)

// refusedError adds examples to refused changes.
func refusedError(ctx context.Context, tx pgx.Tx, refused []*diff.Refusal) error {
	e := &RefusedError{Refused: refused, Examples: map[*diff.Refusal][]string{}}
	for _, r := range refused {
		if r.Column == "" || r.Sealed || r.Rows <= 0 {
			continue
		}
		query := "select left(coalesce(" + pg.Ident(r.Column) + "::text, 'null'), $1) from " + pg.Qualified("app", r.Table)
		if r.Condition != "" {
			query += " where " + r.Condition
		}
		rows, err := tx.Query(ctx, query+" order by id limit $2", maxExample+1, maxExamples)
		if err != nil {
			return fmt.Errorf("look for values of app.%s.%s: %w", r.Table, r.Column, err)
		}
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("look for values of app.%s.%s: %w", r.Table, r.Column, err)
		}
		for _, v := range values {
			if short := []rune(v); len(short) > maxExample {
				v = string(short[:maxExample]) + "…"
			}
			e.Examples[r] = append(e.Examples[r], fmt.Sprintf("%q", v))
		}
	}
	return e
}
