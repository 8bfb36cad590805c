package s3_test

import (
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// fault is the fate of a request on its way to a service. forward passes it to the
// service.
type fault func(w http.ResponseWriter, r *http.Request, forward http.Handler)

// between puts faults between a gateway and its clients, and returns the gateway as they
// see it. current returns the fault for each request; nil lets it pass.
func between(t *testing.T, g *storagetest.Gateway, current func() fault) *storagetest.Gateway {
	t.Helper()
	target, err := url.Parse(g.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := current(); f != nil {
			f(w, r, forward)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	through := *g
	through.Endpoint = proxy.URL
	return &through
}

// says returns a service that gives the same answer to every request.
func says(status int, body string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// breaksOff sends the beginning of an answer: its headers, and all of its body but the last byte.
func breaksOff(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	answer := httptest.NewRecorder()
	forward.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	body := answer.Body.Bytes()
	_, _ = w.Write(body[:max(0, len(body)-1)])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// slowly answers after a while, and then a few bytes at a time.
func slowly(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	answer := httptest.NewRecorder()
	forward.ServeHTTP(answer, r)
	time.Sleep(20 * time.Millisecond)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	body := answer.Body.Bytes()
	for part := range slices.Chunk(body, max(1, len(body)/8)) {
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * time.Millisecond)
		_, _ = w.Write(part)
	}
}

// TestSlowGateway runs the common tests with slow answers.
func TestSlowGateway(t *testing.T) {
	t.Parallel()
	g := storagetest.SharedGateway(t)
	through := between(t, g, func() fault { return slowly })
	storagetest.Run(t, storagetest.Backend{Store: open(t, through.Options(storagetest.NewBucket(t, g)))})
}

// TestFaults puts a fault between a store and its service that refuses, cuts or never
// answers. Each request ends in an error, which never reports a missing object or a
// shorter list. Once the service is back, everything works as before.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name    string
		fault   fault
		without []string // requests with answers that the fault cannot affect
	}{
		{name: "overloaded", fault: says(http.StatusServiceUnavailable, "")},
		{name: "broken", fault: says(http.StatusInternalServerError, "<html>no service</html>")},
		{name: "refused", fault: says(http.StatusForbidden, `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`)},
		{name: "an error in what begins well", without: []string{"put", "head", "delete"},
			fault: says(http.StatusOK, `<?xml version="1.0"?><Error><Code>InternalError</Code></Error>`)},
		{name: "cut", fault: func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }},
		{name: "cut after it was done", fault: func(_ http.ResponseWriter, r *http.Request, forward http.Handler) {
			forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}},
		{name: "cut in the answer", fault: breaksOff, without: []string{"put", "head", "delete"}},
		{name: "hanging"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			limit := 2 * time.Second // it is retried before that
			if kind.name == "hanging" {
				limit = 100 * time.Millisecond
				ended := make(chan struct{})
				kind.fault = func(http.ResponseWriter, *http.Request, http.Handler) { <-ended }
				defer close(ended) // before the proxy waits for hanging requests
			}
			var isFaulty atomic.Bool
			g := storagetest.SharedGateway(t)
			through := between(t, g, func() fault {
				if isFaulty.Load() {
					return kind.fault
				}
				return nil
			})
			s := open(t, through.Options(storagetest.NewBucket(t, g)))
			holds := fill(t, s)

			requests := requestsOf(t, s)
			isFaulty.Store(true)
			for name, request := range requests {
				if slices.Contains(kind.without, name) {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				err := request(ctx)
				cancel()
				if err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrChanged) {
					t.Errorf("%s: got %v, want an error of the service", name, err)
				}
				if kind.name == "hanging" && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: got %v, want the limit", name, err)
				}
			}
			isFaulty.Store(false)
			if err := s.Put(t.Context(), storage.Files+"new", "text/plain", []byte("new")); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			holds()
		})
	}
}

// fill puts two objects into a store, and returns a check that they exist.
func fill(t *testing.T, s storage.Store) (holds func()) {
	t.Helper()
	keys := []string{storage.Files + "first", storage.Files + "second"}
	for _, key := range keys {
		if err := s.Put(t.Context(), key, "text/plain", []byte("kept")); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		listed, err := list(t.Context(), s)
		if err != nil {
			t.Errorf("list: %v", err)
		}
		for _, key := range keys {
			if o, err := s.Head(t.Context(), key); err != nil || o.Size != 4 || !slices.Contains(listed, key) {
				t.Errorf("%s: got %v, %v; listed %q", key, o, err, listed)
			}
		}
	}
}

// requestsOf returns the requests of a store, by name.
func requestsOf(t *testing.T, s storage.Store) map[string]func(context.Context) error {
	t.Helper()
	const key = storage.Files + "first"
	object, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(context.Context) error{
		"put":    func(ctx context.Context) error { return s.Put(ctx, storage.Files+"new", "text/plain", []byte("new")) },
		"head":   func(ctx context.Context) error { _, err := s.Head(ctx, key); return err },
		"copy":   func(ctx context.Context) error { return s.Copy(ctx, key, storage.Files+"copy", object.ETag) },
		"list":   func(ctx context.Context) error { _, err := list(ctx, s); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, storage.Files+"gone") },
	}
}

// list returns the keys of all objects.
func list(ctx context.Context, s storage.Store) ([]string, error) {
	var keys []string
	for entry, err := range s.List(ctx, storage.Files) {
		if err != nil {
			return keys, err
		}
		keys = append(keys, entry.Key)
	}
	return keys, nil
}
