package s3_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// TestFaults puts something between a store and its service that refuses, cuts or never
// answers. Each request ends in an error, and none says that an object is not there; once
// the service is back, all is as before.
func TestFaults(t *testing.T) {
	t.Parallel()
	g := storagetest.SharedGateway(t)
	target, err := url.Parse(g.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which is signed
	}}
	ended := make(chan struct{})
	var fault atomic.Value
	fault.Store("")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch fault.Load() {
		case "refused":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "cut":
			panic(http.ErrAbortHandler)
		case "cut after it was done":
			forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case "hanging":
			<-ended
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(func() { close(ended) }) // before the proxy waits for what hangs
	through := *g
	through.Endpoint = proxy.URL
	s := open(t, through.Options(storagetest.NewBucket(t, g)))

	const key = storage.Files + "kept"
	if err := s.Put(t.Context(), key, "text/plain", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	object, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"refused", "cut", "cut after it was done", "hanging"} {
		fault.Store(kind)
		for name, request := range map[string]func(context.Context) error{
			"put":  func(ctx context.Context) error { return s.Put(ctx, storage.Files+"new", "text/plain", []byte("new")) },
			"head": func(ctx context.Context) error { _, err := s.Head(ctx, key); return err },
			"copy": func(ctx context.Context) error { return s.Copy(ctx, key, storage.Files+"copy", object.ETag) },
		} {
			limit := 2 * time.Second // it is tried again before that
			if kind == "hanging" {
				limit = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			err := request(ctx)
			cancel()
			if err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrChanged) {
				t.Errorf("%s, %s: got %v, want an error of the service", kind, name, err)
			}
			if kind == "hanging" && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: got %v, want the limit", kind, name, err)
			}
		}
		fault.Store("")
		if err := s.Put(t.Context(), storage.Files+"new", "text/plain", []byte("new")); err != nil {
			t.Errorf("after %s: %v", kind, err)
		}
		if o, err := s.Head(t.Context(), key); err != nil || o.Size != 4 {
			t.Errorf("after %s: got %v, %v", kind, o, err)
		}
	}
}
