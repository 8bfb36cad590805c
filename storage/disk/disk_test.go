package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// The tests of a server check the common behaviour of storage here too. This file has the
// tests for the disk only.

func open(t *testing.T, o disk.Options) *disk.Store {
	t.Helper()
	if o.Directory == "" {
		o.Directory = filepath.Join(t.TempDir(), "files")
	}
	o.Durable, o.Spread, o.Secret = true, true, []byte("secret")
	store, err := disk.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func put(t *testing.T, s *disk.Store, key, contents string) {
	t.Helper()
	if err := s.Put(t.Context(), key, "text/plain", []byte(contents)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s *disk.Store, key string) string {
	t.Helper()
	o, err := s.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	section, err := o.Section(0, o.Size)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(section)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Other users must not read or list files.
func TestModes(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	put(t, s, "files/abc", "a")
	put(t, s, "uploads/abc", "a")
	if err := s.Copy(t.Context(), "uploads/abc", "files/copy", etag(t, s, "uploads/abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim("database 5 of cluster 1"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(s.Directory, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got %o, want %o", name, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func etag(t *testing.T, s *disk.Store, key string) string {
	t.Helper()
	o, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return o.ETag
}

// Objects are spread over folders, and still listed in one order.
func TestListOfManyFolders(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	for _, key := range []string{"zz2", "-a1", "_b1", "Zz1", "zz1", "aa", "a", "aab"} {
		put(t, s, "files/"+key, key)
	}
	if _, err := os.Stat(filepath.Join(s.Directory, "files", "zz", "zz2")); err != nil {
		t.Error(err)
	}
	for prefix, want := range map[string]string{"files/": "-a1 Zz1 _b1 a aa aab zz1 zz2", "files/zz": "zz1 zz2", "files/aab": "aab", "files/x": ""} {
		var got []string
		for e, err := range s.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimPrefix(e.Key, "files/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("list of %s: got %q, want %s", prefix, got, want)
		}
	}
}

// An unfinished write of a server that ended is not an object, and is removed once no server
// can still write it.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	put(t, s, "files/abc", "a")
	put(t, s, "uploads/abc", "a")
	old, young := filepath.Join(s.Directory, "files", "ab", ".new-1"), filepath.Join(s.Directory, "uploads", "ab", ".new-2")
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{old, filepath.Join(s.Directory, "files", "ab", "abc")} {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range s.List(t.Context(), storage.Files) {
		if err != nil || e.Key != "files/abc" {
			t.Errorf("listed %v, %v", e, err)
		}
	}
	if err := s.Tidy(time.Now().Add(-24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left long ago: got %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("what may be being written: got %v", err)
	}
	if got := read(t, s, "files/abc"); got != "a" {
		t.Errorf("an object: got %q", got)
	}
}

// A replaced object does not change for its readers.
func TestReadWhileReplaced(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	put(t, s, "files/abc", "old")
	o, err := s.Read("files/abc")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	put(t, s, "files/abc", "newer")
	if err := s.Delete(t.Context(), "files/abc"); err != nil {
		t.Fatal(err)
	}
	section, err := o.Section(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(section); err != nil || string(text) != "ld" {
		t.Errorf("got %q, %v", text, err)
	}
}

// A copy is a second name of the same file, so that a large upload is attached at once. A
// copy onto itself leaves nothing behind.
func TestCopyIsLink(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	put(t, s, "uploads/abc", "contents")
	for range 2 {
		if err := s.Copy(t.Context(), "uploads/abc", "files/abc", etag(t, s, "uploads/abc")); err != nil {
			t.Fatal(err)
		}
	}
	from, err := os.Stat(filepath.Join(s.Directory, "uploads", "ab", "abc"))
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.Stat(filepath.Join(s.Directory, "files", "ab", "abc"))
	if err != nil || !os.SameFile(from, to) {
		t.Errorf("the copy is another file, %v", err)
	}
	if names, err := os.ReadDir(filepath.Join(s.Directory, "files", "ab")); err != nil || len(names) != 1 {
		t.Errorf("got %v, %v", names, err)
	}
	if err := s.Delete(t.Context(), "uploads/abc"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "files/abc"); got != "contents" {
		t.Errorf("got %q", got)
	}
}

// Without links, a copy is a real copy: here the folders are on two file systems.
func TestCopyAcrossFileSystems(t *testing.T) {
	t.Parallel()
	other, err := os.MkdirTemp("/dev/shm", "sternpost-")
	if err != nil {
		t.Skipf("needs a second file system at /dev/shm: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	s := open(t, disk.Options{})
	if err := os.MkdirAll(s.Directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(s.Directory, "uploads")); err != nil {
		t.Fatal(err)
	}
	put(t, s, "uploads/abc", "contents")
	if err := s.Copy(t.Context(), "uploads/abc", "files/abc", "another"); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("copy of what has changed: got %v", err)
	}
	if err := s.Copy(t.Context(), "uploads/abc", "files/abc", etag(t, s, "uploads/abc")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "files/abc"); got != "contents" || etag(t, s, "files/abc") != etag(t, s, "uploads/abc") {
		t.Errorf("got %q", got)
	}
}

// Keys cannot lead out of the folder, or to files that are not objects.
func TestKeysStayInside(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	if _, err := s.Claim("database 5 of cluster 1"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../out", "files/../../out", "/out", "", "files/", "files/.new-1", disk.OwnerFile, "files/..", "files/a/../../../out"} {
		if err := s.Put(t.Context(), key, "text/plain", []byte("a")); err == nil {
			t.Errorf("put under %q succeeded", key)
		}
		if _, err := s.Read(key); err == nil {
			t.Errorf("read of %q succeeded", key)
		}
		if err := s.Copy(t.Context(), key, "files/copy", ""); err == nil {
			t.Errorf("copy of %q succeeded", key)
		}
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	s := open(t, disk.Options{})
	for _, database := range []string{"first", "second"} {
		if owner, err := s.Claim(database); err != nil || owner != "first" {
			t.Errorf("claim of the %s: got %q, %v", database, owner, err)
		}
	}
}
