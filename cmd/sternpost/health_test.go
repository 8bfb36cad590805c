package main_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestHealth asks a server that serves and should get no requests. TestServe asks a
// serving server, and an ended one.
func TestHealth(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ok"}`)) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"status":"unavailable","reason":"database"}`, http.StatusServiceUnavailable)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address.Host)
	if err != nil {
		t.Fatal(err)
	}

	env := append(production(t, "postgres://nowhere.invalid/none", port), "HTTP_PROXY=http://127.0.0.1:1")
	for _, host := range []string{"127.0.0.1", "0.0.0.0"} {
		env := append(env, "HOST="+host)
		if got := (command{args: []string{"health"}, env: env}).expect(t, 0, ""); got != `{"status":"ok"}`+"\n" {
			t.Errorf("on %s: got %q", host, got)
		}
		command{args: []string{"health", "--ready"}, env: env}.expect(t, exitInput, `/readyz answers 503: {"status":"unavailable","reason":"database"}`)
	}
	command{args: []string{"health"}}.expect(t, exitInput, "baseUrl is required")
	command{args: []string{"health", "--port", "1"}, env: env}.expect(t, exitInput, "connection refused")
}
