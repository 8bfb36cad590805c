package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OwnerFile is the file of the folder that says which database the objects belong to.
const OwnerFile = ".database"

// Claim writes down which database the objects belong to, unless that is written already,
// and returns what is written.
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
	defer os.Remove(f.Name()) // which is still there if anything fails
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
