package disk

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// List yields the objects below a prefix.
func (s *Store) List(_ context.Context, prefix string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		folder, start := filepath.Split(filepath.FromSlash(prefix))
		for name, err := range s.walk(folder) {
			if err != nil {
				yield(storage.Entry{}, s.wrap("list objects", err))
				return
			}
			if base := filepath.Base(name); strings.HasPrefix(base, unfinished) || !strings.HasPrefix(base, start) {
				continue
			}
			o, err := openFile(name)
			if errors.Is(err, storage.ErrNotFound) {
				continue // deleted meanwhile
			}
			if err != nil {
				yield(storage.Entry{}, s.wrap("list objects", err))
				return
			}
			_ = o.Close()
			key := filepath.ToSlash(folder) + filepath.Base(name)
			if !yield(storage.Entry{Key: key, Size: o.Size, Changed: o.Changed}, nil) {
				return
			}
		}
	}
}

// walk yields the files of a folder of the store and of its subfolders, by ascending
// name, one folder at a time.
func (s *Store) walk(folder string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var in func(name string) bool
		in = func(name string) bool {
			entries, err := os.ReadDir(name)
			if errors.Is(err, fs.ErrNotExist) {
				return true
			}
			if err != nil {
				return yield("", err)
			}
			for _, e := range entries {
				inner := filepath.Join(name, e.Name())
				if e.IsDir() && !in(inner) || e.Type().IsRegular() && !yield(inner, nil) {
					return false
				}
			}
			return true
		}
		in(filepath.Join(s.Directory, folder))
	}
}

// Tidy removes the unfinished files of a server that has ended, if they have not changed
// since that moment.
func (s *Store) Tidy(before time.Time) error {
	for _, prefix := range []string{storage.Uploads, storage.Files} {
		for name, err := range s.walk(filepath.FromSlash(prefix)) {
			if err != nil {
				return s.wrap("look for unfinished objects", err)
			}
			if !strings.HasPrefix(filepath.Base(name), unfinished) {
				continue
			}
			info, err := os.Stat(name)
			if err == nil && info.ModTime().Before(before) {
				err = os.Remove(name)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return s.wrap("remove an unfinished object", err)
			}
		}
	}
	return nil
}
