package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
)

// While a server stops, requests in flight end, and new ones are refused.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.ShutdownGrace, c.StatementTimeout = 5*longEnough, 5*longEnough })
	d.letWake(t, "nap", "stable", "nap")
	kept := s.dial(t)
	kept.write(t, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	kept.response(t, "GET")
	unused := s.dial(t)

	slow := s.dial(t)
	slow.write(t, "POST /api/json/nap HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"seconds\":600}")
	d.waitSleeping(t, 1)
	s.stop()
	s.waitReady(t, "stopping")

	for name, c := range map[string]*rawConn{"a kept connection": kept, "a new connection": s.dial(t)} {
		c.write(t, "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{\"id\":\"n1\"}")
		resp, body := c.response(t, "POST")
		if resp.StatusCode != 503 || body != unavailableJSON || !resp.Close || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %s %v", name, resp.StatusCode, body, resp.Header)
		}
	}
	if resp, body := s.do(t, "GET", "/healthz", "", nil); resp.StatusCode != 200 {
		t.Errorf("healthz: got %d %s", resp.StatusCode, body)
	}
	d.wake(t)
	if resp, body := slow.response(t, "POST"); resp.StatusCode != 200 || body != `"woken"` {
		t.Errorf("in flight: got %d %s", resp.StatusCode, body)
	}
	select {
	case err := <-s.done:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		s.done <- nil
	case <-time.After(longEnough): // less than the grace
		t.Fatal("a connection without request holds the server up")
	}
	if !unused.isClosed() {
		t.Error("a connection without request is still open")
	}
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
}

// Requests that exceed the grace are cancelled.
func TestStopAfterGrace(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.ShutdownGrace, c.StatementTimeout = 100*time.Millisecond, time.Minute })
	slow := s.dial(t)
	slow.write(t, "POST /api/json/nap HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"seconds\":50}")
	d.waitSleeping(t, 1)
	s.stop()
	if resp, body := slow.response(t, "POST"); resp.StatusCode != 504 {
		t.Errorf("got %d %s, want 504", resp.StatusCode, body)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Run: %v", err)
	}
	s.done <- nil
	d.waitSleeping(t, 0)
}

// A panic affects only its own request.
func TestPanic(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	resp, body := s.do(t, "POST", "/api/json/getNote", `{"id":"n1"}`, map[string]string{"Authorization": "Bearer panic", "X-Request-Id": "the-one"})
	if resp.StatusCode != 500 || body != internalBody || resp.Header.Get("X-Request-Id") != "the-one" {
		t.Errorf("got %d %s %v", resp.StatusCode, body, resp.Header)
	}
	if log := s.log.String(); !strings.Contains(log, `"msg":"panic","requestId":"the-one","panic":"at the disco"`) || !strings.Contains(log, "Identify") {
		t.Error("the panic is not in the log")
	}
}

// TestFirstRead finds an open connection that the first read can use.
func TestFirstRead(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.PoolSize = 8 })
	until(t, "a connection is open that reads share", func() bool { return s.db.Connections().Shared == 1 })
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	s.post(t, "getNote", `{"id":"n1"}`)
	s.post(t, "getNote", `{}`)
	s.do(t, "GET", "/nowhere", "", nil)
	get := func(path string) (int, string) {
		resp, err := http.Get("http://" + s.admin.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := get(path); status != 200 || body != `{"status":"ok"}` {
			t.Errorf("%s: got %d %s", path, status, body)
		}
	}
	_, metrics := get("/metrics")
	for _, want := range []string{
		`sternpost_requests_total{action="getNote",status="200"} 1`,
		`sternpost_requests_total{action="getNote",status="400"} 1`,
		`sternpost_requests_total{action="",status="404"} 1`,
		`sternpost_request_duration_seconds_count{action="getNote"} 2`,
		"sternpost_release_number 1", "sternpost_ready 1", "sternpost_database_connections_max 5",
		"sternpost_requests_in_flight 0", "go_goroutines",
	} {
		if !strings.Contains(metrics, want+"\n") && !strings.Contains(metrics, want+" ") {
			t.Errorf("/metrics has no %s", want)
		}
	}
	if status, _ := get("/api/json/getNote"); status != 404 {
		t.Errorf("an action on the admin listener: got %d, want 404", status)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	header := map[string]string{"Traceparent": parent, "Authorization": "Bearer zoe"} // no random number contains it
	if resp, _ := s.do(t, "POST", "/api/json/getNote", `{"id":"n1"}`, header); resp.Header.Get("Traceparent") != "" {
		t.Errorf("without tracing: Traceparent: got %s", resp.Header.Get("Traceparent"))
	}

	traced := start(t, s.config.DatabaseURL, nil)
	traced.waitReady(t, "")
	spans := tracetest.NewSpanRecorder()
	traced.telemetry.Trace(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	resp, _ := traced.do(t, "GET", "/api/json/getNote?id=n1", "", header)
	traced.post(t, "fail", `{"code":"XX000"}`)

	ended := spans.Ended()
	if len(ended) != 2 || ended[0].Name() != "getNote" || ended[1].Status().Code.String() != "Error" {
		t.Fatalf("spans: got %v", ended)
	}
	span := ended[0]
	if got := span.Parent().SpanID().String(); got != "00f067aa0ba902b7" {
		t.Errorf("parent: got %s", got)
	}
	if want := "00-4bf92f3577b34da6a3ce929d0e0e4736-" + span.SpanContext().SpanID().String() + "-01"; resp.Header.Get("Traceparent") != want {
		t.Errorf("Traceparent: got %s, want %s", resp.Header.Get("Traceparent"), want)
	}
	for _, a := range span.Attributes() {
		if text := a.Value.Emit(); strings.Contains(text, "n1") || strings.Contains(text, "zoe") {
			t.Errorf("attribute %s shows what was sent: %s", a.Key, text)
		}
	}
}

// The standard variables enable the export, and an invalid value is refused.
func TestTraceExport(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
	}))
	defer collector.Close()
	s, err := New(testConfig("postgres://127.0.0.1:1/none", func(c *config.Config) {
		c.Environ = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL}
	}), Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	if resp, err := http.Get("http://" + s.Addr().String() + "/healthz"); err != nil || resp.Header.Get("Traceparent") == "" {
		t.Errorf("healthz: got %v, %v", resp, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(paths) == 0 || paths[0] != "/v1/traces" {
		t.Errorf("the collector got %v", paths)
	}

	for _, test := range []struct{ environ, want string }{
		{"OTEL_TRACES_EXPORTER=zipkin", "OTEL_TRACES_EXPORTER: zipkin is not supported"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported"},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=x", ""},
		{"OTEL_SDK_DISABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=x", ""},
		{"", ""},
	} {
		_, err := New(testConfig("postgres://127.0.0.1:1/none", func(c *config.Config) { c.Environ = strings.Fields(test.environ) }),
			Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.environ, err, test.want)
		}
	}
}

// With no Identifier of its own, a server makes one from its keys.
func TestTokensOfTheConfiguration(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	configured := testConfig(d.ServerURL(), func(c *config.Config) { c.SigningKey = string(key) })
	s, err := New(configured, Options{Log: discardLog(), Listener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	defer func() { cancel(); <-done }()
	ts := &testServer{Server: s, url: "http://" + s.Addr().String()}
	ts.waitReady(t, "")

	token, _, err := s.identifier.(*auth.Tokens).Issue("ada")
	if err != nil {
		t.Fatal(err)
	}
	request := "GET /api/json/whoAmI HTTP/1.1\nHost: x\n"
	for range 2 { // the second time it is remembered
		if resp, body := ts.raw(t, request+"Authorization: Bearer "+token+"\n\n"); resp.StatusCode != 200 || !strings.Contains(body, `"identityId":"ada"`) {
			t.Errorf("got %d %s", resp.StatusCode, body)
		}
	}
	for _, header := range []string{"Authorization: Basic x\n", "Authorization: Bearer x\nAuthorization: Bearer y\n", "Authorization:\n"} {
		resp, body := ts.raw(t, request+header+"\n")
		want := `{"code":"ERR_AUTHENTICATION_FAILED","message":"the Authorization header must be of the form Bearer <token>"}`
		if resp.StatusCode != 401 || body != want || resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: got %d %s %q", header, resp.StatusCode, body, resp.Header.Get("WWW-Authenticate"))
		}
	}

	if _, err := New(testConfig(d.ServerURL(), func(c *config.Config) { c.SigningKey = "" }), Options{Log: discardLog(), Listener: listenLocal(t)}); err == nil || !strings.Contains(err.Error(), "auth.signingKey") {
		t.Errorf("without key: got %v", err)
	}
	if _, err := New(testConfig("", nil), Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)}); err == nil || !strings.Contains(err.Error(), "database.url") {
		t.Errorf("without database: got %v", err)
	}
}
