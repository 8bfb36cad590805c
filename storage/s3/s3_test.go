package s3_test

import (
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/s3"
	"github.com/sternpost/sternpost/storage/storagetest"
)

func TestMain(m *testing.M) {
	// These tests mostly wait for retries.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestGateway(t *testing.T) {
	t.Parallel()
	g := storagetest.SharedGateway(t)
	broken := g.Options("nowhere")
	broken.Endpoint = "http://127.0.0.1:1"
	storagetest.Run(t, storagetest.Backend{
		Store:  open(t, g.Options(storagetest.NewBucket(t, g))),
		Broken: open(t, broken),
	})
}

func open(t *testing.T, o s3.Options) *s3.Store {
	t.Helper()
	store, err := s3.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A download has the type and the disposition that are stored with the row, not those of
// the object.
func TestDownloadHeaders(t *testing.T) {
	t.Parallel()
	g := storagetest.SharedGateway(t)
	store := open(t, g.Options(storagetest.NewBucket(t, g)))
	if err := store.Put(t.Context(), "files/a", "text/html", []byte("<script>alert(1)</script>")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ contentType, disposition string }{
		{"text/html", "attachment"},
		{"image/svg+xml", "attachment"},
		{"image/png", "inline"},
	} {
		url, err := store.DownloadURL(t.Context(), "files/a", storage.Download{Filename: "Übung.x", ContentType: c.contentType})
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		want := c.disposition + `; filename="_bung.x"; filename*=UTF-8''%C3%9Cbung.x`
		for name, want := range map[string]string{"Content-Type": c.contentType, "Content-Disposition": want, "Cache-Control": "private"} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s of a %s\n got %s\nwant %s", name, c.contentType, got, want)
			}
		}
		if !strings.Contains(url, "X-Amz-Expires=3600&") {
			t.Errorf("the address of a download does not end after an hour: %s", url)
		}
		// The whole query is signed: a client cannot make an attachment inline.
		forged := strings.Replace(url, "=attachment", "=inline", 1)
		if response, err := http.Get(forged); err != nil || forged != url && response.StatusCode != http.StatusForbidden {
			t.Errorf("GET with another disposition: %v, %v; want 403", response.StatusCode, err)
		}
	}
}

// A missing bucket is a matter of the configuration, not of the object.
func TestMissingBucket(t *testing.T) {
	t.Parallel()
	g := storagetest.SharedGateway(t)
	store := open(t, g.Options("no-such-bucket"))
	if err := store.Put(t.Context(), "files/a", "text/plain", []byte("a")); err == nil {
		t.Error("put into a missing bucket succeeded")
	}
	if err := store.Copy(t.Context(), "uploads/a", "files/a", `"x"`); err == nil || strings.Contains(err.Error(), storage.ErrNotFound.Error()) {
		t.Errorf("copy within a missing bucket: %v; want another error", err)
	}
}
