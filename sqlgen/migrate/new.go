package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ErrNothingChanged is returned by New when the last migration leads to the current schema.
var ErrNothingChanged = errors.New("nothing has changed since the last migration")

// NameError is returned for a name that cannot be part of a file's name.
type NameError struct {
	Name string
}

// Error says which names can.
func (e *NameError) Error() string {
	return fmt.Sprintf("a migration cannot be called %q: use letters, digits, _ and -", e.Name)
}

// CheckName returns a *NameError if a migration cannot have the name.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return &NameError{name}
	}
	return nil
}

var namePattern = regexp.MustCompile(`\A[A-Za-z0-9_][A-Za-z0-9_-]*\z`)

// PlanOptions say what a migration may do.
type PlanOptions struct {
	Allow     []string        // allowed losses and failures: drop:post.subtitle
	Backfills []diff.Backfill // values for existing rows
}

// Written is the result of New.
type Written struct {
	Files    []*File
	Warnings []string // parts of the schema without effect, and options that no change needed
}

// New writes the files that bring a database from the last migration to a release, and the snapshot. It needs no
// database, so it assumes that tables hold rows. If nothing has changed, it writes nothing and returns
// ErrNothingChanged.
func New(folder *Folder, name string, r *emit.Release, o PlanOptions) (*Written, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := folder.files(); err != nil {
		return nil, err
	}
	if err := install.CheckBackfills(r.Database, o.Backfills); err != nil {
		return nil, err
	}
	last, err := folder.current()
	if err != nil {
		return nil, err
	}
	number := 1
	if n := len(folder.Files); n > 0 {
		number = folder.Files[n-1].Number + 1
	}
	change, err := next(last, number, name, r, o)
	if err != nil {
		return nil, err
	}
	return &Written{change.files, change.warnings}, write(folder.Dir, change.files, change.after)
}

// change is the files of one change, and the snapshot after them.
type change struct {
	reasons  []string // of its steps
	files    []*File
	after    *snapshot
	warnings []string
}

// next makes the change that follows a snapshot, nil if nothing has changed.
func next(last *snapshot, number int, name string, r *emit.Release, o PlanOptions) (*change, error) {
	r = install.OverPlatform(r)
	if last == nil {
		wanted := recordOf(r)
		file := &draft{body: []string{lockTimeoutSQL, strings.TrimSpace(install.Script(r))}}
		return &change{
			files: []*File{file.file(number, name, nothing, wanted.digest(), 1, 1)},
			after: newSnapshot(number, sql.Current(), wanted),
		}, nil
	}
	before := last.record()
	old, err := pg.ReadDescription(before.description)
	if err != nil {
		return nil, fmt.Errorf("read the description in the snapshot: %w", err)
	}
	plan := diff.Between(old, r.Database, diff.Options{Allow: o.Allow, Backfills: o.Backfills, Concurrent: true})
	if plan.IsEmpty() && bytes.Equal(before.manifest, r.Manifest) && old.Platform == r.Platform {
		return nil, ErrNothingChanged
	}
	if len(plan.Refused) > 0 {
		return nil, &RefusedError{plan.Refused}
	}
	platform, err := sql.Upgrade(last.Platform)
	if err != nil {
		return nil, err
	}
	wanted := recordOf(&emit.Release{Database: plan.Result, Manifest: r.Manifest})
	c := &change{warnings: warningsOf(plan), reasons: plan.Reasons()}
	drafts := draftsOf(plan, platform, wanted.changeSQL(before))
	for i, d := range drafts {
		c.files = append(c.files, d.file(number+i, name, before.digest(), wanted.digest(), i+1, len(drafts)))
	}
	c.after = newSnapshot(number+len(drafts)-1, sql.Current(), wanted)
	return c, nil
}

// RefusedError is returned for a change that would lose rows or values, or that may fail on existing rows. Nothing was
// written.
type RefusedError struct {
	Refused []*diff.Refusal
}

// Error lists the changes, each with its remedies.
func (e *RefusedError) Error() string {
	text := "the change needs a decision about existing rows:"
	installed := &install.RefusedError{Refused: e.Refused}
	for _, r := range e.Refused {
		text += "\n  " + strings.ReplaceAll(installed.Describe(r), "\n", "\n  ")
		if r.Backfill != "" {
			text += "\n    to give the rows a value: --backfill '" + r.Backfill + " = …'"
		}
		if r.Allow != "" {
			text += "\n    to go on anyway: --allow " + r.Allow
		}
	}
	return text
}

func warningsOf(plan *diff.Plan) []string {
	var list []string
	for _, w := range plan.Warnings {
		list = append(list, strings.TrimPrefix(w.Place+": "+w.Message, ": "))
	}
	for _, s := range plan.Steps {
		if slices.Contains(s.Hazards, diff.Rewrites) {
			list = append(list, fmt.Sprintf("table app.%s is written anew (%s), and calls that use it wait meanwhile: migrate up says which, and how long", s.Table, s.Reason))
		}
	}
	for _, name := range plan.Unused {
		list = append(list, name+": nothing in this change asks for it")
	}
	return list
}

// recordOf returns the record of a release in a database.
func recordOf(r *emit.Release) record {
	return record{strings.Join(strings.Fields(r.Source), " "), r.Manifest, r.Description()}
}

// write writes files and the snapshot, or nothing.
func write(dir string, files []*File, after *snapshot) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make the folder of the migrations: %w", err)
	}
	var written []string
	defer func() {
		if err != nil {
			for _, name := range written {
				err = errors.Join(err, os.Remove(name))
			}
		}
	}()
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("write a migration: %w", err)
		}
		written = append(written, name)
		_, err = file.WriteString(f.Text)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write a migration: %w", err)
		}
	}
	return writeSnapshot(dir, after)
}

// writeSnapshot replaces the snapshot in one step.
func writeSnapshot(dir string, s *snapshot) error {
	name := filepath.Join(dir, SnapshotName)
	if err := os.WriteFile(name+".new", s.text(), 0o666); err != nil {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write the snapshot: %w", errors.Join(err, os.Remove(name+".new")))
	}
	return nil
}
