package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/emit"
)

// Rebased tells what Rebase did.
type Rebased struct {
	Removed []*File
	Written []*File
	Kept    []*File // files whose statements by hand are at the end of the written ones, as comments
}

// Rebase puts one migration behind all others, and plans it again from there to the current schema. A merge of two
// branches that both added one needs this. Without a name it only makes the snapshot of the existing files. It applies
// the other migrations on a scratch Postgres (at scratchURL, or one that it starts), so it does not need the snapshot,
// which such a merge breaks.
func Rebase(ctx context.Context, folder *Folder, name string, r *emit.Release, o PlanOptions, scratchURL string) (*Rebased, error) {
	moved, rest, err := folder.split(name)
	if err != nil {
		return nil, err
	}
	if err := rest.files(); err != nil {
		return nil, err
	}
	if len(rest.Files) == 0 {
		return nil, errors.New("this is the only migration: remove it, and sternpost migrate new writes it again")
	}
	last, err := rest.remake(ctx, scratchURL)
	if err != nil {
		return nil, err
	}
	outcome := &Rebased{Removed: moved}
	after := last
	number := rest.Files[len(rest.Files)-1].Number + 1
	switch {
	case len(moved) == 0:
	case moved[0].IsByHand():
		f := *moved[0]
		f.Number, f.Name = number, renumbered(f.Name, number)
		outcome.Written = []*File{&f}
	default:
		c, err := next(last, number, baseName(moved), r, o)
		switch {
		case err == nil:
			outcome.Written, after = c.files, c.after
		case !errors.Is(err, ErrNothingChanged):
			return nil, err
		}
		outcome.keepByHand(number, baseName(moved))
	}
	return outcome, replace(folder.Dir, moved, outcome.Written, after)
}

// split removes the files of the change that a file belongs to.
func (f *Folder) split(name string) (moved []*File, rest *Folder, err error) {
	rest = &Folder{Dir: f.Dir, Files: f.Files}
	if name == "" {
		return nil, rest, nil
	}
	at := slices.IndexFunc(f.Files, func(file *File) bool { return file.Name == filepath.Base(name) })
	if at < 0 {
		return nil, nil, fmt.Errorf("there is no migration %s in %s", name, f.Dir)
	}
	chosen := f.Files[at]
	rest.Files = nil
	for _, file := range f.Files {
		if file == chosen || (chosen.Parts > 1 && file.From == chosen.From && file.To == chosen.To && file.Parts == chosen.Parts) {
			moved = append(moved, file)
		} else {
			rest.Files = append(rest.Files, file)
		}
	}
	return moved, rest, nil
}

// remake makes the snapshot of the files by applying them.
func (f *Folder) remake(ctx context.Context, scratchURL string) (s *snapshot, err error) {
	server, err := postgres.NewScratch(ctx, scratchURL)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := server.Close(ctx); err == nil {
			err = failed
		}
	}()
	err = replay(ctx, server, f.Files, func(conn *pgx.Conn) error {
		r, platform, err := readRelease(ctx, conn)
		if err != nil {
			return err
		}
		s = newSnapshot(f.last().Number, platform, r)
		return nil
	})
	return s, err
}

var (
	numberPrefix = regexp.MustCompile(`\A\d+_`)
	partSuffix   = regexp.MustCompile(`_\d+\z`)
)

// baseName is the name given to the files of a change.
func baseName(files []*File) string {
	name := strings.TrimSuffix(numberPrefix.ReplaceAllString(files[0].Name, ""), ".sql")
	if files[0].Parts > 1 {
		name = partSuffix.ReplaceAllString(name, "")
	}
	return name
}

func renumbered(name string, number int) string {
	return fmt.Sprintf("%03d_%s", number, numberPrefix.ReplaceAllString(name, ""))
}

// isEdited tells whether someone changed the text that Sternpost wrote.
func (f *File) isEdited() bool {
	at := writtenLine.FindStringIndex(f.Text)
	return at == nil || digestOf(strings.TrimPrefix(f.Text[at[1]:], "\n")) != f.digest
}

// keepByHand adds files that hold statements by hand to the end of the written ones, as comments: only their author can
// tell whether they still fit.
func (r *Rebased) keepByHand(number int, name string) {
	for _, f := range r.Removed {
		if !f.isEdited() {
			continue
		}
		r.Kept = append(r.Kept, f)
		text := "\n-- What was in " + f.Name + ", which was changed by hand. Take over what is still needed, and remove the rest.\n"
		for line := range strings.Lines(f.Text) {
			text += "-- | " + strings.TrimRight(line, "\r\n") + "\n"
		}
		if len(r.Written) == 0 { // nothing is left to plan, and the text must not be lost
			r.Written = []*File{parseFile(number, fmt.Sprintf("%03d_%s.sql", number, name), "select; -- a migration needs a statement\n")}
		}
		last := *r.Written[len(r.Written)-1]
		last.Text += plain(text)
		r.Written[len(r.Written)-1] = &last
	}
}

// replace replaces files by others, or leaves all as it was.
func replace(dir string, old, new []*File, after *snapshot) error {
	for _, f := range old {
		if err := os.Remove(filepath.Join(dir, f.Name)); err != nil {
			return errors.Join(fmt.Errorf("remove a migration: %w", err), restore(dir, old))
		}
	}
	if err := write(dir, new, after); err != nil {
		return errors.Join(err, restore(dir, old))
	}
	return nil
}

func restore(dir string, files []*File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o666))
	}
	return errors.Join(errs...)
}
