package disk

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sternpost/sternpost/storage"
)

// unfinished is the prefix for names of files that are being written. It begins with a
// dot, and no key does.
const unfinished = ".new-"

// piece is the number of bytes written between two checks of the free space.
const piece = 8 << 20

// write writes an object. size is the announced size of its contents.
func (s *Store) write(key, contentType string, size int64, contents io.Reader) (err error) {
	name, err := s.file(key)
	if err != nil {
		return err
	}
	if err := s.hasRoom(size); err != nil {
		return err
	}
	if err := s.makeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), unfinished+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := s.fill(f, contentType, contents); err != nil {
		return err
	}
	if s.Durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return s.flush(filepath.Dir(name))
}

// fill writes the description and the contents. The description contains the digest, so
// the digest is filled in at the end.
func (s *Store) fill(f *os.File, contentType string, contents io.Reader) error {
	digest := sha256.New()
	line, err := head(contentType, digest)
	if err != nil {
		return err
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	for {
		n, err := io.CopyN(io.MultiWriter(f, digest), contents, piece)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := s.hasRoom(n); err != nil {
			return err
		}
	}
	if line, err = head(contentType, digest); err != nil {
		return err
	}
	_, err = f.WriteAt(line, 0)
	return err
}

func head(contentType string, digest hash.Hash) ([]byte, error) {
	line, err := json.Marshal(description{contentType, hex.EncodeToString(digest.Sum(nil))})
	if len(line) >= longestDescription {
		return nil, errors.New("its content type is too long")
	}
	return append(line, '\n'), err
}

// errNoLinks means that the file system does not support links.
var errNoLinks = errors.New("the file system does not support links")

// link gives the file of an object a second name. It checks the linked file, since the
// first name may have another file by then.
func (s *Store) link(from, to, etag string) error {
	source, err := s.file(from)
	if err != nil {
		return err
	}
	name, err := s.file(to)
	if err != nil {
		return err
	}
	if err := s.makeFolder(filepath.Dir(name)); err != nil {
		return err
	}
	linked := filepath.Join(filepath.Dir(name), unfinished+rand.Text())
	if err := os.Link(source, linked); errors.Is(err, fs.ErrNotExist) {
		return storage.ErrNotFound
	} else if err != nil {
		return errNoLinks
	}
	defer os.Remove(linked) // it still exists if anything fails, or if both names had one file already
	o, err := openFile(linked)
	if err != nil {
		return err
	}
	defer o.Close()
	if o.ETag != etag {
		return storage.ErrChanged
	}
	if err := os.Rename(linked, name); err != nil {
		return err
	}
	return s.flush(filepath.Dir(name))
}

func (s *Store) copy(from, to, etag string) error {
	o, err := s.open(from)
	if err != nil {
		return err
	}
	defer o.Close()
	if o.ETag != etag {
		return storage.ErrChanged
	}
	contents, err := o.Section(0, o.Size)
	if err != nil {
		return err
	}
	return s.write(to, o.ContentType, o.Size, contents)
}

// makeFolder makes a folder and its parents.
func (s *Store) makeFolder(name string) error {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	if !s.Durable {
		return nil
	}
	return s.keepFolder(name)
}

// keepFolder flushes the name of a folder to the disk, once per process: another process
// may have just made a folder that exists.
func (s *Store) keepFolder(name string) error {
	if _, known := s.flushed.Load(name); known {
		return nil
	}
	if name != s.Directory {
		if err := s.keepFolder(filepath.Dir(name)); err != nil {
			return err
		}
	}
	err := s.flush(filepath.Dir(name))
	if name == s.Directory && errors.Is(err, fs.ErrPermission) {
		err = nil // another user owns the parent and has made it
	}
	if err == nil {
		s.flushed.Store(name, nil)
	}
	return err
}

// flush flushes the names in a folder to the disk.
func (s *Store) flush(folder string) error {
	if !s.Durable {
		return nil
	}
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// hasRoom refuses an object that would fill the disk, since the database may use the same disk.
func (s *Store) hasRoom(size int64) error {
	if s.Reserve == 0 {
		return nil
	}
	free, err := s.Free()
	if err != nil {
		return err
	}
	if free-size < s.Reserve {
		return fmt.Errorf("%w: %d bytes are free, and storage.reserve keeps %d", ErrFull, free, s.Reserve)
	}
	return nil
}

// Free returns how many bytes of the file system are free.
func (s *Store) Free() (int64, error) {
	for folder := s.Directory; ; folder = filepath.Dir(folder) { // it may not exist yet
		free, err := freeBytes(folder)
		if !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder) {
			return free, err
		}
	}
}
