package migrate

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
)

// Folder is the migrations of a project.
type Folder struct {
	Dir   string
	Files []*File // by number, then by name

	snapshot *snapshot // nil if there is none
	broken   error     // why the snapshot cannot be used
}

// DirName is the folder of the migrations inside a project.
const DirName = "migrations"

// ReadFolder reads the migrations of a project. A project without any has an empty folder. Problems reports errors in
// the files.
func ReadFolder(project string) (*Folder, error) {
	if err := sqlgen.CheckDir(project); err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	f := &Folder{Dir: filepath.Join(project, DirName)}
	var err error
	if f.Files, err = readFiles(f.Dir); err != nil {
		return nil, err
	}
	f.snapshot, f.broken = readSnapshot(f.Dir)
	return f, nil
}

func sortFiles(files []*File) {
	slices.SortFunc(files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.Name, b.Name))
	})
}

// last returns the last file that Sternpost wrote, or nil.
func (f *Folder) last() *File {
	for _, file := range slices.Backward(f.Files) {
		if !file.IsByHand() {
			return file
		}
	}
	return nil
}

// FolderError is returned for migrations that cannot be applied one after the other.
type FolderError struct {
	Problems []string
}

// Error lists the problems.
func (e *FolderError) Error() string {
	return "the migrations do not follow one another:\n  " + strings.Join(e.Problems, "\n  ")
}

// files returns an error unless the files can be applied one after the other.
func (f *Folder) files() error {
	if problems := f.Problems(); len(problems) > 0 {
		return &FolderError{problems}
	}
	return nil
}

// Problems returns the errors in the files: missing or duplicate numbers, and files that do not come after the one
// before them.
func (f *Folder) Problems() []string {
	var problems []string
	next := 1
	var before *File
	for i, file := range f.Files {
		switch {
		case i > 0 && file.Number == f.Files[i-1].Number:
			problems = append(problems, f.doubled(f.Files[i-1], file))
			continue // one of the two fits the files that follow
		case file.Number > next:
			problems = append(problems, fmt.Sprintf("%s: number %03d before it is missing", file.Name, next))
		}
		next = file.Number + 1
		if file.IsByHand() {
			continue
		}
		if problem := follows(before, file); problem != "" && !f.isDoubled(before) {
			problems = append(problems, file.Name+": "+problem)
		}
		before = file
	}
	if before != nil && before.Part < before.Parts {
		problems = append(problems, fmt.Sprintf("%s is part %d of %d, and the others are missing", before.Name, before.Part, before.Parts))
	}
	return problems
}

// doubled explains two files of one number, as a merge of two branches leaves them.
func (f *Folder) doubled(a, b *File) string {
	text := fmt.Sprintf("%s and %s have the same number", a.Name, b.Name)
	if a.From == b.From && !a.IsByHand() {
		text += ": both were made after the same release, as on two branches"
	}
	return text + fmt.Sprintf("; put one after the other, if it has not been applied anywhere: sternpost migrate rebase %s", b.Name)
}

func (f *Folder) isDoubled(file *File) bool {
	count := 0
	for _, other := range f.Files {
		if file != nil && other.Number == file.Number {
			count++
		}
	}
	return count > 1
}

// follows says why a file cannot come after another one; empty means it can.
func follows(before, file *File) string {
	switch {
	case before == nil && file.From != nothing:
		return "it changes a release, and nothing before it installs one"
	case before == nil:
		if file.Part != 1 {
			return fmt.Sprintf("it is part %d of %d, and the first one is missing", file.Part, file.Parts)
		}
	case before.Part < before.Parts:
		if file.From != before.From || file.To != before.To || file.Part != before.Part+1 {
			return fmt.Sprintf("it should be part %d of the change that %s begins", before.Part+1, before.Name)
		}
	case file.Part != 1:
		return fmt.Sprintf("it is part %d of %d, and the one before it is missing", file.Part, file.Parts)
	case file.From == nothing:
		return fmt.Sprintf("it installs the whole application, and %s has done so", before.Name)
	case file.From != before.To:
		return fmt.Sprintf("it does not come after the release that %s makes; plan it again: sternpost migrate rebase %s", before.Name, file.Name)
	}
	return ""
}

// current returns the snapshot, and an error unless it is that of the last file.
func (f *Folder) current() (*snapshot, error) {
	if f.broken != nil {
		return nil, f.broken
	}
	last := f.last()
	switch {
	case last == nil && f.snapshot == nil:
		return nil, nil
	case last == nil:
		return nil, fmt.Errorf("%s exists without a migration that it belongs to: remove it", filepath.Join(f.Dir, SnapshotName))
	case f.snapshot == nil:
		return nil, fmt.Errorf("%s is missing; make it from the migrations: sternpost migrate rebase", filepath.Join(f.Dir, SnapshotName))
	case f.snapshot.Digest != last.To || f.snapshot.Version != last.Number:
		return nil, fmt.Errorf("%s belongs to migration %03d, and the last one is %s; make it from the migrations: sternpost migrate rebase",
			filepath.Join(f.Dir, SnapshotName), f.snapshot.Version, last.Name)
	}
	return f.snapshot, nil
}
