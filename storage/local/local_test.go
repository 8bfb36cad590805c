package local_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
	"github.com/sternpost/sternpost/storage/local"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// receiver takes uploads as the server does.
type receiver struct{ store *local.Store }

func (r *receiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	key := strings.TrimPrefix(in.URL.Path, disk.Path)
	contentType := in.Header.Get("Content-Type")
	if !r.store.AdmitsUpload(key, in.URL.RawQuery, contentType, in.ContentLength) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(in.Body)
	if err == nil {
		err = r.store.Put(in.Context(), key, contentType, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func open(t *testing.T, directory, baseURL string) *local.Store {
	t.Helper()
	store, err := local.Open(local.Options{Directory: directory, BaseURL: baseURL, Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestFolder(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.store = open(t, filepath.Join(t.TempDir(), "files"), server.URL)

	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, storagetest.Backend{Store: r.store, Broken: open(t, inTheWay, server.URL)})
}

func TestDownloadIsDataURL(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir(), "")
	if err := store.Put(t.Context(), "files/a", "text/plain", []byte("hi")); err != nil {
		t.Fatal(err)
	}
	got, err := store.DownloadURL(t.Context(), "files/a", storage.Download{Filename: "a;b ü.txt", ContentType: "text/plain"})
	want := "data:text/plain;name=a%3Bb%20%C3%BC.txt;base64,aGk="
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// The leftover of an unfinished write is not an object.
func TestUnfinishedWrite(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := open(t, directory, "")
	if err := store.Put(t.Context(), "files/a", "text/plain", []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "files", ".new-1"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for e, err := range store.List(t.Context(), storage.Files) {
		if err != nil || e.Key != "files/a" {
			t.Errorf("listed %v, %v; want files/a alone", e, err)
		}
	}
}

// An object with incomplete contents leaves nothing, and keeps the old one.
func TestReceive(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := open(t, directory, "")
	if err := store.Receive(t.Context(), "files/a", "text/plain", 8, iotest.OneByteReader(strings.NewReader("old\ntext"))); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the line is dead")
	for _, key := range []string{"files/a", "files/b"} {
		contents := io.MultiReader(strings.NewReader("new"), iotest.ErrReader(broken))
		if err := store.Receive(t.Context(), key, "text/html", 8, contents); !errors.Is(err, broken) {
			t.Errorf("%s: got %v, want %v", key, err, broken)
		}
	}
	got, err := store.Head(t.Context(), "files/a")
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("old\ntext")))
	if want := (storage.Object{ContentType: "text/plain", Size: 8, ETag: digest}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if left, err := os.ReadDir(filepath.Join(directory, "files")); err != nil || len(left) != 1 {
		t.Errorf("files: got %v, %v, want one", left, err)
	}
}

func TestKeysStayInside(t *testing.T) {
	t.Parallel()
	store := open(t, filepath.Join(t.TempDir(), "in"), "")
	for _, key := range []string{"../out", "files/../../out", "/out", ""} {
		if err := store.Put(t.Context(), key, "text/plain", []byte("a")); err == nil {
			t.Errorf("put under %q succeeded", key)
		}
		if _, err := store.Head(t.Context(), key); err == nil {
			t.Errorf("head of %q succeeded", key)
		}
	}
}
