package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/local"
)

// An upload to local storage is written to the disk as it arrives, at any length. An
// incomplete one leaves nothing.
func attackWithUploads(t *testing.T) {
	directory := t.TempDir()
	store, err := local.Open(local.Options{Directory: directory, BaseURL: "http://localhost", Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(testConfig("postgres://127.0.0.1:1/none", func(c *config.Config) { c.BodyLimit, c.BodiesLimit = 1000, 1000 }), Options{
		Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t), Store: store,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	ts := &testServer{Server: s}

	const size = 1 << 20
	half := strings.Repeat("x", size/2)
	begin := func(name string) *rawConn {
		key := storage.Uploads + strings.Repeat(name, 22)
		url, err := store.UploadURL(t.Context(), key, storage.Upload{ContentType: "text/plain", Size: size, Lifetime: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		c := ts.dial(t)
		c.write(t, fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", strings.TrimPrefix(url, "http://localhost"), size)+half)
		return c
	}
	unfinished := func() (sizes []int64) {
		found, err := filepath.Glob(filepath.Join(directory, storage.Uploads, ".new-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if info, err := os.Stat(name); err == nil {
				sizes = append(sizes, info.Size())
			}
		}
		return sizes
	}

	whole := begin("A")
	until(t, "what has come is on the disk", func() bool {
		sizes := unfinished()
		return len(sizes) == 1 && sizes[0] >= size/2
	})
	whole.write(t, half)
	if resp, body := whole.response(t, "PUT"); resp.StatusCode != 200 || body != "" {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
	if got, err := store.Head(t.Context(), storage.Uploads+strings.Repeat("A", 22)); err != nil || got.Size != size {
		t.Errorf("got %+v, %v", got, err)
	}

	broken := begin("B")
	until(t, "a second one has begun", func() bool { return len(unfinished()) == 1 })
	broken.Close()
	until(t, "nothing is left of it", func() bool { return len(unfinished()) == 0 })
	if _, err := store.Head(t.Context(), storage.Uploads+strings.Repeat("B", 22)); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("half an upload: got %v", err)
	}
}
