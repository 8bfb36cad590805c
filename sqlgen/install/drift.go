package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Drift is something that was changed by hand in a database since its newest release.
type Drift struct {
	Object string // column app.post.title
	Change string // is gone, was changed by hand, was made by hand
	Origin string // its origin in the schema: model Post, field title, blog.stern:3:5; empty without one
	Remedy string // a statement that puts it back; empty if none is known
}

// String says what was changed, which part of the schema asks for it, and how to put it back.
func (d Drift) String() string {
	text := d.Object + " " + d.Change
	if d.Origin != "" {
		text += " (" + d.Origin + ")"
	}
	if d.Remedy != "" {
		text += "; to put it back:\n    " + strings.ReplaceAll(d.Remedy, "\n", "\n    ")
	}
	return text
}

// DriftError is returned if a change cannot be made, and something was changed by hand in the database before. Nothing
// was changed now.
type DriftError struct {
	Drift []Drift
	Cause error
}

// Error lists the changes by hand.
func (e *DriftError) Error() string {
	lines := []string{"the database was changed by hand since the last release, so the change cannot be made:"}
	for _, d := range e.Drift {
		lines = append(lines, "  "+d.String())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the cause.
func (e *DriftError) Unwrap() error { return e.Cause }

// orDrift explains an error without a known cause if the database was changed by hand.
func orDrift(ctx context.Context, conn *pgx.Conn, db *pg.Database, err error) error {
	var refused *RefusedError
	var code *CodeError
	var unknown *UnknownFieldError
	if err == nil || ctx.Err() != nil || errors.As(err, &refused) || errors.As(err, &code) || errors.As(err, &unknown) || errors.Is(err, pg.ErrDescriptionFormat) {
		return err
	}
	drift, failed := ReadDrift(ctx, conn, db)
	if failed != nil || len(drift) == 0 {
		return err
	}
	var mistake *mistakeError
	if errors.As(err, &mistake) {
		err = mistake.cause
	}
	return &DriftError{drift, err}
}

// ReadDrift finds changes by hand since the newest release. db is the compiled database, which knows the parts of the
// schema that ask for the objects.
func ReadDrift(ctx context.Context, conn *pgx.Conn, db *pg.Database) ([]Drift, error) {
	var known bool
	if err := conn.QueryRow(ctx, "select to_regprocedure('platform.drift()') is not null").Scan(&known); err != nil || !known {
		return nil, err
	}
	// The platform changes with Sternpost, and not by releases.
	rows, err := conn.Query(ctx, `select object, change from platform.drift() where object ~ '\m(app|related|functions|api)\.'`)
	if err != nil {
		return nil, fmt.Errorf("look for changes by hand: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Drift, err error) {
		return d, row.Scan(&d.Object, &d.Change)
	})
	if err != nil {
		return nil, fmt.Errorf("look for changes by hand: %w", err)
	}
	return explained(list, db), nil
}

// explained adds to each the part of the schema that asks for it, and the way to put it back.
func explained(list []Drift, db *pg.Database) []Drift {
	made := map[string][]string{} // columns that were made by hand, by table
	for _, d := range list {
		if table, column, ok := columnOf(d.Object); ok && d.Change == "was made by hand" {
			made[table] = append(made[table], column)
		}
	}
	var all []Drift
	for _, d := range list {
		follows := false // the columns of views and keys follow a column
		for _, t := range db.Tables {
			name := pg.Qualified(t.Schema, t.Name)
			if table, column, ok := columnOf(d.Object); ok && table == name {
				d.ofColumn(t, column, made[table])
			}
			if rest, ok := strings.CutSuffix(d.Object, " on "+name); ok {
				d.ofPart(t, rest)
			}
			if d.Object == "table "+name {
				d.Origin = t.Origin.String()
			}
			for _, c := range t.Numbered() {
				if d.Object == "sequence "+pg.Qualified(t.Schema, c.Sequence.Name) {
					d.ofColumn(t, pg.Ident(c.Name), nil)
				}
			}
			if d.Object == "view "+pg.Qualified("related", t.Name) || strings.HasPrefix(d.Object, "column "+pg.Qualified("related", t.Name)+".") {
				follows = len(made[name]) > 0
				d.Origin = t.Origin.String()
			}
		}
		for _, f := range db.Functions {
			if d.Object == "function "+pg.Qualified(f.Schema, f.Name)+"("+strings.ReplaceAll(f.Types(), ", ", ",")+")" {
				d.Origin = f.Origin.String()
			}
		}
		if !follows {
			all = append(all, d)
		}
	}
	return all
}

// columnOf splits the name of a column of schema app: app.post and title.
func columnOf(object string) (table, column string, ok bool) {
	name, ok := strings.CutPrefix(object, "column ")
	at := strings.LastIndexByte(name, '.')
	if !ok || at < 0 || !strings.HasPrefix(name, "app.") {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// ofColumn explains the change of a column.
func (d *Drift) ofColumn(t *pg.Table, column string, made []string) {
	d.Origin = t.Origin.String()
	for _, c := range t.Columns {
		if pg.Ident(c.Name) != column {
			continue
		}
		o := c.Origin
		o.Of = t.Origin.Of
		d.Origin = o.String()
		if d.Change == "is gone" && len(made) == 1 {
			d.Remedy = "alter table " + pg.Qualified(t.Schema, t.Name) + " rename column " + made[0] + " to " + column + ";"
		}
	}
}

// ofPart explains the change of a policy, a constraint or a trigger.
func (d *Drift) ofPart(t *pg.Table, part string) {
	d.Origin = t.Origin.String()
	var change diff.Change
	for _, p := range t.Policies {
		if part == "policy "+pg.Ident(p.Name) {
			change = diff.CreatePolicy{Table: t, Policy: p}
		}
	}
	for _, c := range t.Constraints {
		if part == "constraint "+pg.Ident(c.Name) {
			change = diff.AddConstraint{Table: t, Constraint: c}
			d.Origin = c.Origin.String()
		}
	}
	for _, r := range t.References {
		if part == "constraint "+pg.Ident(r.Name) {
			change = diff.AddReference{Table: t, Reference: r}
			d.Origin = r.Origin.String()
		}
	}
	for _, g := range t.Triggers {
		if part == "trigger "+pg.Ident(g.Name) {
			change = diff.CreateTrigger{Table: t, Trigger: g}
		}
	}
	if change != nil && d.Change == "is gone" {
		statements := emit.Plan(&diff.Plan{Steps: []*diff.Step{{Change: change}}})
		d.Remedy = statements[0].Text
	}
}
