package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OwnerFile is the file in the folder that names the database of the objects.
const OwnerFile = ".database"

// Claim records the database of the objects, unless one is recorded already, and returns
// the recorded one.
func (s *Store) Claim(database string) (owner string, err error) {
	name := filepath.Join(s.Directory, OwnerFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(database+"\n"), s.writeOwner(name, database+"\n")
	}
	if err != nil {
		return "", s.wrap("read which database the folder belongs to", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (s *Store) writeOwner(name, text string) (err error) {
	if err := s.makeFolder(s.Directory); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Directory, unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it still exists if anything fails
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return s.flush(s.Directory)
}
