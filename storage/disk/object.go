package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// description is the first line of an object's file; the contents follow it.
type description struct {
	ContentType string `json:"contentType"`
	ETag        string `json:"etag"` // the SHA-256 of the contents, in hex
}

// longestDescription limits that line.
const longestDescription = 4 << 10

// Object is an object that has been opened.
type Object struct {
	storage.Object
	Changed time.Time
	file    *os.File
	start   int64 // of the contents in the file
}

// Section returns the file, positioned to read length bytes of the contents from the
// given offset.
func (o *Object) Section(from, length int64) (*io.LimitedReader, error) {
	if _, err := o.file.Seek(o.start+from, io.SeekStart); err != nil {
		return nil, err
	}
	return &io.LimitedReader{R: o.file, N: length}, nil // of an *os.File, so that the kernel can send it
}

// Close closes the object.
func (o *Object) Close() error { return o.file.Close() }

func (s *Store) open(key string) (*Object, error) {
	name, err := s.file(key)
	if err != nil {
		return nil, err
	}
	return openFile(name)
}

func openFile(name string) (*Object, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, storage.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	o := &Object{file: f}
	if err := o.describe(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return o, nil
}

func (o *Object) describe() error {
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	head := make([]byte, min(longestDescription, info.Size()))
	if _, err := o.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	line, _, found := bytes.Cut(head, []byte("\n"))
	var d description
	if err := json.Unmarshal(line, &d); err != nil || !found {
		return fmt.Errorf("its file does not begin with a description: %w", err)
	}
	o.start = int64(len(line) + 1)
	o.Object = storage.Object{ContentType: d.ContentType, Size: info.Size() - o.start, ETag: d.ETag}
	o.Changed = info.ModTime()
	return nil
}
