// Package storagetest tests that the backends of storage behave alike, and has object
// storage for tests.
package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// Backend is a store under test.
type Backend struct {
	Store storage.Store

	// Broken is the same store while it is unavailable; nil if it cannot be.
	Broken storage.Store
}

// Run tests a backend. Each of its tests uses keys of its own.
func Run(t *testing.T, b Backend) {
	t.Run("objects", func(t *testing.T) { t.Parallel(); objects(t, b.Store) })
	t.Run("copies", func(t *testing.T) { t.Parallel(); copies(t, b.Store) })
	t.Run("list", func(t *testing.T) { t.Parallel(); list(t, b.Store) })
	t.Run("atomic", func(t *testing.T) { t.Parallel(); atomic(t, b.Store) })
	t.Run("upload", func(t *testing.T) { t.Parallel(); upload(t, b.Store) })
	t.Run("refused uploads", func(t *testing.T) { t.Parallel(); refusedUploads(t, b.Store) })
	t.Run("upload after copy", func(t *testing.T) { t.Parallel(); uploadAfterCopy(t, b.Store) })
	t.Run("download", func(t *testing.T) { t.Parallel(); downloads(t, b.Store) })
	t.Run("refused downloads", func(t *testing.T) { t.Parallel(); refusedDownloads(t, b.Store) })
	t.Run("late upload", func(t *testing.T) { t.Parallel(); lateUpload(t, b.Store) })
	if b.Broken != nil {
		t.Run("out of reach", func(t *testing.T) { t.Parallel(); outOfReach(t, b.Broken) })
	}
}

func objects(t *testing.T, s storage.Store) {
	ctx := t.Context()
	for _, c := range []struct {
		key, contentType string
		contents         []byte
	}{
		{"files/empty", "text/plain", []byte{}},
		{"files/one", "text/plain; charset=utf-8", []byte("a")},
		{"files/lines", "application/json", []byte("\n{}\n\n")},
		{"files/binary", "image/png", bytes.Repeat([]byte{0, 1, 254, 255}, 100_000)},
	} {
		if _, err := s.Head(ctx, c.key); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("head of %s before it is put: %v; want %v", c.key, err, storage.ErrNotFound)
		}
		if err := s.Put(ctx, c.key, c.contentType, c.contents); err != nil {
			t.Fatalf("put %s: %v", c.key, err)
		}
		want := storage.Object{ContentType: c.contentType, Size: int64(len(c.contents))}
		got := head(t, s, c.key)
		if got.ETag == "" {
			t.Errorf("%s has no ETag", c.key)
		}
		if got.ETag = ""; got != want {
			t.Errorf("head of %s\n got %+v\nwant %+v", c.key, got, want)
		}
		if got := download(t, s, c.key, "a.bin", c.contentType); !bytes.Equal(got, c.contents) {
			t.Errorf("contents of %s: got %d bytes, want %d, or others", c.key, len(got), len(c.contents))
		}
		for range 2 { // a second delete succeeds too
			if err := s.Delete(ctx, c.key); err != nil {
				t.Errorf("delete %s: %v", c.key, err)
			}
		}
		if _, err := s.Head(ctx, c.key); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("head of %s after it was deleted: %v; want %v", c.key, err, storage.ErrNotFound)
		}
	}
}

func copies(t *testing.T, s storage.Store) {
	ctx := t.Context()
	put(t, s, "uploads/copied", "image/png", "one")
	first := head(t, s, "uploads/copied")

	if err := s.Copy(ctx, "uploads/copied", "files/copied", first.ETag); err != nil {
		t.Fatalf("copy: %v", err)
	}
	if got := head(t, s, "files/copied"); got.ContentType != "image/png" || got.Size != 3 {
		t.Errorf("copy: got %+v, want image/png of 3 bytes", got)
	}

	put(t, s, "uploads/copied", "text/html", "two")
	if err := s.Copy(ctx, "uploads/copied", "files/other", first.ETag); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("copy of what was replaced: %v; want %v", err, storage.ErrChanged)
	}
	if _, err := s.Head(ctx, "files/other"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a refused copy left something: %v", err)
	}
	if got := download(t, s, "files/copied", "a", "image/png"); string(got) != "one" {
		t.Errorf("the copy after its source was replaced: got %q, want one", got)
	}
	if err := s.Copy(ctx, "uploads/absent", "files/absent", first.ETag); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("copy of nothing: %v; want %v", err, storage.ErrNotFound)
	}
}

func list(t *testing.T, s storage.Store) {
	began := time.Now().Add(-time.Minute)
	for _, name := range []string{"b", "a", "c"} {
		put(t, s, "listed/"+name, "text/plain", name+name)
	}
	put(t, s, "listedtoo/a", "text/plain", "x")
	var got []string
	for e, err := range s.List(t.Context(), "listed/") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Changed.Before(began) || e.Changed.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s was changed at %s", e.Key, e.Changed)
		}
		got = append(got, fmt.Sprint(e.Key, e.Size))
	}
	if want := []string{"listed/a2", "listed/b2", "listed/c2"}; !slices.Equal(got, want) {
		t.Errorf("list\n got %q\nwant %q", got, want)
	}
	for e, err := range s.List(t.Context(), "nothing/") {
		t.Errorf("list of nothing: %v, %v", e, err)
	}
}

// atomic writes two objects in turn under one key: a reader sees one of them.
func atomic(t *testing.T, s storage.Store) {
	var writers sync.WaitGroup
	long, short := strings.Repeat("a", 300_000), "b"
	put(t, s, "files/atomic", "text/plain", short)
	for _, contents := range []string{long, short} {
		writers.Go(func() {
			for range 20 {
				put(t, s, "files/atomic", "text/plain", contents)
			}
		})
	}
	for range 50 {
		if got := head(t, s, "files/atomic").Size; got != int64(len(long)) && got != int64(len(short)) {
			t.Errorf("an object of %d bytes, want %d or %d", got, len(long), len(short))
		}
	}
	writers.Wait()
}

var announced = storage.Upload{ContentType: "image/png", Size: 4, Lifetime: time.Minute}

func upload(t *testing.T, s storage.Store) {
	url := uploadURL(t, s, "uploads/sent", announced)
	for _, contents := range []string{"aaaa", "bbbb"} { // the last one counts
		if status := send(t, url, "image/png", "4", contents); status != http.StatusOK {
			t.Fatalf("PUT: status %d, want 200", status)
		}
	}
	if got := head(t, s, "uploads/sent"); got.ContentType != "image/png" || got.Size != 4 {
		t.Errorf("got %+v, want image/png of 4 bytes", got)
	}
	if got := attached(t, s, "uploads/sent", "files/sent"); string(got) != "bbbb" {
		t.Errorf("contents: got %q, want bbbb", got)
	}
}

func refusedUploads(t *testing.T, s storage.Store) {
	url := uploadURL(t, s, "uploads/refused", announced)
	for _, c := range []struct {
		name, url, contentType, length, body string
	}{
		{"another type", url, "text/html", "4", "aaaa"},
		{"the type with a parameter", url, "image/png; a=b", "4", "aaaa"},
		{"no type", url, "", "4", "aaaa"},
		{"a longer body", url, "image/png", "5", "aaaaa"},
		{"a shorter body", url, "image/png", "3", "aaa"},
		{"an empty body", url, "image/png", "0", ""},
		{"another key", strings.Replace(url, "uploads/refused", "uploads/others", 1), "image/png", "4", "aaaa"},
		{"a final key", strings.Replace(url, "uploads/refused", "files/refused", 1), "image/png", "4", "aaaa"},
		{"another signature", changeSignature(url), "image/png", "4", "aaaa"},
		{"no signature", url[:strings.IndexByte(url, '?')], "image/png", "4", "aaaa"},
		{"a longer life", extendLife(url), "image/png", "4", "aaaa"},
	} {
		switch status := send(t, c.url, c.contentType, c.length, c.body); status {
		case http.StatusForbidden, http.StatusBadRequest, http.StatusMethodNotAllowed: // the last one if uploads have a separate path
		default:
			t.Errorf("%s: status %d, want 403, 400 or 405", c.name, status)
		}
	}
	for _, key := range []string{"uploads/refused", "uploads/others", "files/refused"} {
		if _, err := s.Head(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s after refused uploads: %v; want %v", key, err, storage.ErrNotFound)
		}
	}
}

// changeSignature changes the last digit of the address, in its signature or in another
// signed part.
func changeSignature(url string) string {
	i := strings.Index(strings.ToLower(url), "signature=") + len("signature=")
	c := byte('0')
	if url[i] == '0' {
		c = '1'
	}
	return url[:i] + string(c) + url[i+1:]
}

func extendLife(url string) string {
	at := strings.Index(strings.ToLower(url), "expires=") + len("expires=")
	end := at + strings.IndexAny(url[at:]+"&", "&")
	n, _ := strconv.Atoi(url[at:end])
	return url[:at] + strconv.Itoa(n+1) + url[end:]
}

// uploadAfterCopy sends other contents to a used upload URL.
func uploadAfterCopy(t *testing.T, s storage.Store) {
	url := uploadURL(t, s, "uploads/twice", announced)
	send(t, url, "image/png", "4", "aaaa")
	if err := s.Copy(t.Context(), "uploads/twice", "files/twice", head(t, s, "uploads/twice").ETag); err != nil {
		t.Fatal(err)
	}
	if status := send(t, url, "image/png", "4", "bbbb"); status != http.StatusOK {
		t.Fatalf("second PUT: status %d, want 200", status)
	}
	if got := download(t, s, "files/twice", "a", "image/png"); string(got) != "aaaa" {
		t.Errorf("the file after a second PUT: got %q, want aaaa", got)
	}
}

func lateUpload(t *testing.T, s storage.Store) {
	url := uploadURL(t, s, "uploads/late", storage.Upload{ContentType: "image/png", Size: 4, Lifetime: time.Second})
	deadline := time.Now().Add(10 * time.Second)
	for send(t, url, "image/png", "4", "aaaa") == http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("an upload URL that ends after a second was still good after ten")
		}
		time.Sleep(200 * time.Millisecond)
	}
	if status := send(t, url, "image/png", "4", "bbbb"); status != http.StatusForbidden {
		t.Errorf("late PUT: status %d, want 403", status)
	}
	if got := attached(t, s, "uploads/late", "files/late"); string(got) != "aaaa" {
		t.Errorf("contents after a late PUT: got %q, want aaaa", got)
	}
}

// outOfReach tests that an unavailable store and a missing object give different errors.
func outOfReach(t *testing.T, s storage.Store) {
	ctx := t.Context()
	_, headErr := s.Head(ctx, "files/a")
	var listErr error
	for _, err := range s.List(ctx, "files/") {
		listErr = err
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"put", s.Put(ctx, "files/a", "text/plain", []byte("a"))},
		{"copy", s.Copy(ctx, "uploads/secret-key", "files/a", `"etag"`)},
		{"head", headErr},
		{"delete", s.Delete(ctx, "files/a")},
		{"list", listErr},
	} {
		if c.err == nil || errors.Is(c.err, storage.ErrNotFound) || errors.Is(c.err, storage.ErrChanged) {
			t.Errorf("%s: got %v, want an error of another kind", c.name, c.err)
		} else if strings.Contains(c.err.Error(), "secret-key") || strings.Contains(c.err.Error(), "Signature") {
			t.Errorf("%s: the error holds more than a log may: %v", c.name, c.err)
		}
	}
}

func put(t *testing.T, s storage.Store, key, contentType, contents string) {
	t.Helper()
	if err := s.Put(t.Context(), key, contentType, []byte(contents)); err != nil {
		t.Errorf("put %s: %v", key, err)
	}
}

// attached returns an uploaded object as it is served: under another key.
func attached(t *testing.T, s storage.Store, upload, key string) []byte {
	t.Helper()
	if err := s.Copy(t.Context(), upload, key, head(t, s, upload).ETag); err != nil {
		t.Fatalf("copy %s: %v", upload, err)
	}
	return download(t, s, key, "a", "image/png")
}

func head(t *testing.T, s storage.Store, key string) storage.Object {
	t.Helper()
	o, err := s.Head(t.Context(), key)
	if err != nil {
		t.Errorf("head of %s: %v", key, err)
	}
	return o
}

func uploadURL(t *testing.T, s storage.Store, key string, u storage.Upload) string {
	t.Helper()
	url, err := s.UploadURL(t.Context(), key, u)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// send sends a PUT byte by byte as written: a client library would correct the length.
func send(t *testing.T, url, contentType, length, body string) (status int) {
	t.Helper()
	rest, _ := strings.CutPrefix(url, "http://")
	host, path, _ := strings.Cut(rest, "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "PUT /%s HTTP/1.1\r\nHost: %s\r\nContent-Length: %s\r\nConnection: close\r\n", path, host, length)
	if contentType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", contentType)
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	if _, err := io.WriteString(conn, b.String()); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if len(answer) == 0 {
		t.Fatalf("PUT: no answer: %v", err)
	}
	line, _, _ := strings.Cut(string(answer), "\r\n")
	_, code, _ := strings.Cut(line, " ")
	status, err = strconv.Atoi(textproto.TrimString(strings.SplitN(code, " ", 2)[0]))
	if err != nil {
		t.Fatalf("PUT: the answer begins %q", line)
	}
	return status
}

func download(t *testing.T, s storage.Store, key, filename, contentType string) []byte {
	t.Helper()
	url, err := s.DownloadURL(t.Context(), key, storage.Download{Filename: filename, ContentType: contentType})
	if err != nil {
		t.Fatalf("sign a download of %s: %v", key, err)
	}
	return Fetch(t, url)
}
