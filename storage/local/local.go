// Package local keeps objects in a folder, for development. It has no server of its
// own: anyone who serves takes uploads at the addresses that it signs.
package local

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// Options say where objects are kept.
type Options struct {
	Directory string // made when it is first needed
	BaseURL   string // of the server that takes uploads, without trailing slash

	// Secret is what the signatures of upload URLs rest on. Only those who know it
	// can make one.
	Secret []byte
}

// Store is a folder.
//
// An object is one file, so that it appears and changes as a whole: a line of JSON
// that describes it, then its contents.
type Store struct {
	directory string
	baseURL   string
	key       []byte
}

var _ storage.Store = (*Store)(nil)

// UploadPath is the path below the base URL at which uploads are taken.
const UploadPath = "/storage/"

// Open prepares to use a folder.
func Open(o Options) (*Store, error) {
	key, err := hkdf.Key(sha256.New, o.Secret, nil, "sternpost upload URLs of local storage", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive the key of upload URLs: %w", err)
	}
	directory, err := filepath.Abs(o.Directory)
	if err != nil {
		return nil, fmt.Errorf("find the folder of local storage: %w", err)
	}
	return &Store{directory: directory, baseURL: o.BaseURL, key: key}, nil
}

// UploadURL returns an address below the base URL. Type and length are not part of
// it, but its signature covers them.
func (s *Store) UploadURL(_ context.Context, key string, u storage.Upload) (string, error) {
	expires := strconv.FormatInt(time.Now().Add(u.Lifetime).Unix()+1, 10)
	query := url.Values{"expires": {expires}, "signature": {s.sign(key, expires, u.ContentType, u.Size)}}
	return s.baseURL + UploadPath + key + "?" + query.Encode(), nil
}

func (s *Store) sign(key, expires, contentType string, size int64) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "PUT\n%s\n%s\n%s\n%d", key, expires, contentType, size)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Admits tells whether a PUT is one that an upload URL was made for: what its query
// says, with exactly the type and length announced, and in time.
func (s *Store) Admits(key, expires, signature, contentType string, size int64) bool {
	until, err := strconv.ParseInt(expires, 10, 64)
	return err == nil && time.Now().Unix() < until &&
		hmac.Equal([]byte(signature), []byte(s.sign(key, expires, contentType, size)))
}

// DownloadURL returns a data URL, which holds the contents.
func (s *Store) DownloadURL(_ context.Context, key string, d storage.Download) (string, error) {
	_, contents, err := s.readObject(key)
	if err != nil {
		return "", s.wrap("read an object", err)
	}
	return "data:" + d.ContentType + ";name=" + url.PathEscape(d.Filename) +
		";base64," + base64.StdEncoding.EncodeToString(contents), nil
}

// description is the first line of an object's file.
type description struct {
	ContentType string `json:"contentType"`
	ETag        string `json:"etag"`
}

// Put stores an object. A reader sees the old one or the new one.
func (s *Store) Put(ctx context.Context, key, contentType string, contents []byte) error {
	return s.Receive(ctx, key, contentType, bytes.NewReader(contents))
}

// Receive stores an object whose contents are still on their way, without holding them
// in memory. An error of the reader leaves the old object.
func (s *Store) Receive(_ context.Context, key, contentType string, contents io.Reader) error {
	if err := s.write(key, contentType, contents); err != nil {
		return s.wrap("store an object", err)
	}
	return nil
}

func (s *Store) write(key, contentType string, contents io.Reader) (err error) {
	name, err := s.file(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	// The name begins with a dot, which no key does.
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	// The digest is before what it is of, so that its place is filled in at the end.
	digest := sha256.New()
	head := func() ([]byte, error) {
		line, err := json.Marshal(description{contentType, hex.EncodeToString(digest.Sum(nil))})
		return append(line, '\n'), err
	}
	line, err := head()
	if err != nil {
		return err
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	if _, err := io.Copy(io.MultiWriter(f, digest), contents); err != nil {
		return err
	}
	if line, err = head(); err != nil {
		return err
	}
	if _, err := f.WriteAt(line, 0); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// Copy stores an object under another key.
func (s *Store) Copy(_ context.Context, from, to, etag string) error {
	d, contents, err := s.readObject(from)
	if err == nil && d.ETag != etag {
		err = storage.ErrChanged
	}
	if err == nil {
		err = s.write(to, d.ContentType, bytes.NewReader(contents))
	}
	if err != nil {
		return s.wrap("copy an object", err)
	}
	return nil
}

// Head describes an object.
func (s *Store) Head(_ context.Context, key string) (storage.Object, error) {
	d, contents, err := s.readObject(key)
	if err != nil {
		return storage.Object{}, s.wrap("look at an object", err)
	}
	return storage.Object{ContentType: d.ContentType, Size: int64(len(contents)), ETag: d.ETag}, nil
}

func (s *Store) readObject(key string) (description, []byte, error) {
	name, err := s.file(key)
	if err != nil {
		return description{}, nil, err
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return description{}, nil, storage.ErrNotFound
	}
	if err != nil {
		return description{}, nil, err
	}
	head, contents, _ := bytes.Cut(text, []byte("\n"))
	var d description
	if err := json.Unmarshal(head, &d); err != nil {
		return description{}, nil, fmt.Errorf("its file does not begin with a description: %w", err)
	}
	return d, contents, nil
}

// Delete removes an object.
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

// List yields the objects below a prefix.
func (s *Store) List(_ context.Context, prefix string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		directory, start := filepath.Split(filepath.FromSlash(prefix))
		entries, err := os.ReadDir(filepath.Join(s.directory, directory))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(storage.Entry{}, s.wrap("list objects", err))
			return
		}
		for _, e := range entries {
			if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(e.Name(), start) {
				continue
			}
			entry, err := s.describe(filepath.ToSlash(directory)+e.Name(), e)
			if errors.Is(err, fs.ErrNotExist) {
				continue // deleted since
			}
			if err != nil {
				yield(storage.Entry{}, s.wrap("list objects", err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func (s *Store) describe(key string, e fs.DirEntry) (storage.Entry, error) {
	info, err := e.Info()
	if err != nil {
		return storage.Entry{}, err
	}
	f, err := os.Open(filepath.Join(s.directory, filepath.FromSlash(key)))
	if err != nil {
		return storage.Entry{}, err
	}
	defer f.Close()
	head, err := bufio.NewReader(f).ReadString('\n')
	if err != nil && err != io.EOF {
		return storage.Entry{}, err
	}
	return storage.Entry{Key: key, Size: info.Size() - int64(len(head)), Changed: info.ModTime()}, nil
}

// file is the file of an object. Keys are ours; one that leads out of the folder is
// refused all the same.
func (s *Store) file(key string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return "", fmt.Errorf("the key %q leads out of the folder", key)
	}
	return filepath.Join(s.directory, filepath.FromSlash(key)), nil
}

// wrap says what was being done. The name of a file is left out: it holds the key of
// an upload, which is a secret.
func (s *Store) wrap(doing string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var renaming *os.LinkError
	if errors.As(err, &renaming) {
		err = renaming.Err
	}
	return fmt.Errorf("%s in %s: %w", doing, s.directory, err)
}
