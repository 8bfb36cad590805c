package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// Options configure where and how objects are kept.
type Options struct {
	Directory string // made when it is first needed
	BaseURL   string // of the server that serves the signed addresses, without trailing slash

	// Secret is the key of the signatures. Only its holders can make one.
	Secret []byte

	// Durable flushes every write to the disk before it counts as written.
	Durable bool

	// Spread keeps objects in folders named by the first two characters of their names,
	// for millions of objects.
	Spread bool

	// Reserve is the number of bytes of the file system that must stay free. An object
	// that would use them is not stored.
	Reserve int64

	Now func() time.Time // nil means time.Now
}

// Store is a folder.
type Store struct {
	Options
	flushed sync.Map // folders known to be on the disk
}

var _ storage.Store = (*Store)(nil)

// ErrFull means that the disk has no room for an object.
var ErrFull = errors.New("the disk is full")

// Open prepares to use a folder. It does not access it.
func Open(o Options) (*Store, error) {
	directory, err := filepath.Abs(o.Directory)
	if err != nil {
		return nil, fmt.Errorf("find the folder of stored files: %w", err)
	}
	if o.Directory = directory; o.Now == nil {
		o.Now = time.Now
	}
	return &Store{Options: o}, nil
}

// Put stores an object. A reader sees the old one or the new one.
func (s *Store) Put(ctx context.Context, key, contentType string, contents []byte) error {
	return s.Receive(ctx, key, contentType, int64(len(contents)), bytes.NewReader(contents))
}

// Receive stores an object while its contents arrive, without holding them in memory. It
// returns an error of the reader, and then keeps the old object.
func (s *Store) Receive(_ context.Context, key, contentType string, size int64, contents io.Reader) error {
	if err := s.write(key, contentType, size, contents); err != nil {
		return s.wrap("store an object", err)
	}
	return nil
}

// Copy stores an object under another key. Contents never change in their file, so both
// keys can name the same file. On a file system without links, the contents are copied.
func (s *Store) Copy(_ context.Context, from, to, etag string) error {
	err := s.link(from, to, etag)
	if errors.Is(err, errNoLinks) {
		err = s.copy(from, to, etag)
	}
	if err != nil {
		return s.wrap("copy an object", err)
	}
	return nil
}

// Head describes an object.
func (s *Store) Head(_ context.Context, key string) (storage.Object, error) {
	o, err := s.open(key)
	if err != nil {
		return storage.Object{}, s.wrap("look at an object", err)
	}
	defer o.Close()
	return o.Object, nil
}

// Read opens an object. A later write under its key does not change the contents read.
func (s *Store) Read(key string) (*Object, error) {
	o, err := s.open(key)
	if err != nil {
		return nil, s.wrap("read an object", err)
	}
	return o, nil
}

// Delete removes an object. Readers that have opened it can still read it.
func (s *Store) Delete(_ context.Context, key string) error {
	name, err := s.file(key)
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.wrap("delete an object", err)
	}
	return nil
}

// file returns the file of an object. Keys come from this service. A key that leads out
// of the folder, or looks like an unfinished object, is still refused.
func (s *Store) file(key string) (string, error) {
	folder, name := filepath.Split(filepath.FromSlash(key))
	if !filepath.IsLocal(filepath.FromSlash(key)) || name == "" || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("the key %q leaves the folder", key)
	}
	if s.Spread {
		folder = filepath.Join(folder, shelf(name))
	}
	return filepath.Join(s.Directory, folder, name), nil
}

// shelf returns the folder for objects of that name, if they are spread. It is a prefix
// of the name, so that folders and their objects have the same order.
func shelf(name string) string { return name[:min(2, len(name))] }

// wrap adds the operation to an error. The name of a file is left out: it contains the
// key of an upload, which is a secret.
func (s *Store) wrap(doing string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var renaming *os.LinkError
	if errors.As(err, &renaming) {
		err = renaming.Err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%s in %s: %w", doing, s.Directory, err)
}
