package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
)

// tokens is who the bearer of a token is: the token itself.
type tokens struct{}

func (tokens) Identify(_ context.Context, authorization []string) (auth.Identity, error) {
	if len(authorization) == 0 {
		return auth.Identity{}, nil
	}
	id, ok := strings.CutPrefix(authorization[0], "Bearer ")
	if !ok || len(authorization) > 1 {
		return auth.Identity{}, auth.ErrHeader
	}
	if id == "bad" {
		return auth.Identity{}, auth.ErrInvalid
	}
	if id == "panic" {
		panic("at the disco")
	}
	return auth.Identity{ID: id}, nil
}

// testServer is a server that runs.
type testServer struct {
	*Server
	url  string
	stop context.CancelFunc
	done chan error // what Run returned
	log  *logBuffer
}

// testConfig is a configuration for tests; change may alter it.
func testConfig(databaseURL string, change func(*config.Config)) config.Config {
	c := config.Config{
		Mode: config.Development, BaseURL: "http://localhost", DatabaseURL: databaseURL,
		PoolSize: 4, PoolWait: 30 * time.Second, StatementTimeout: 30 * time.Second, LockTimeout: 5 * time.Second,
		ShutdownGrace: 20 * time.Second, BodyLimit: 1 << 20,
		SigningKey: anyKey(), AccessTokenExpiry: time.Hour, RefreshTokenExpiry: 24 * time.Hour,
		RefreshTokenRotation: true, RefreshTokenGrace: time.Minute,
		PasswordEnabled: true, PasswordSignup: true, PasswordMinLength: 8,
		Throttle: auth.ThrottleOptions{PerAccountAndAddress: 10, PerAccount: 200, PerAddress: 100, TriesPerAccountAndAddress: 100, Window: 15 * time.Minute},
		PKCE:     auth.PKCEOptional,
	}
	if change != nil {
		change(&c)
	}
	return c
}

// anyKey is a key that signs tokens, the same for all tests of a process.
var anyKey = sync.OnceValue(func() string {
	key, err := auth.GenerateKey()
	if err != nil {
		panic(err)
	}
	return string(key)
})

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// start runs a server in front of a database, until the test ends.
func start(t *testing.T, databaseURL string, change func(*config.Config)) *testServer {
	t.Helper()
	log := &logBuffer{}
	s, err := New(testConfig(databaseURL, change), Options{
		Identifier: tokens{}, Poll: 200 * time.Millisecond, Data: echo{},
		Log:      slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Listener: listenLocal(t), AdminListener: listenLocal(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ts := &testServer{Server: s, url: "http://" + s.Addr().String(), stop: stop, done: make(chan error, 1), log: log}
	go func() { ts.done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ts.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		ts.done <- nil
		if t.Failed() {
			t.Logf("log:\n%s", log)
		}
	})
	return ts
}

// longEnough is how long a test waits for an expected event. It is far more than needed, even on the busiest machine.
const longEnough = 2 * time.Minute

// startReady is start with an installed application, and waits for it to be served.
func startReady(t *testing.T, change func(*config.Config)) (*testServer, *testDatabase) {
	t.Helper()
	d := newDatabase(t)
	d.install(t, app())
	s := start(t, d.ServerURL(), change)
	s.waitReady(t, "")
	return s, d
}

// waitReady waits until /readyz says that the server is ready, or not for a reason.
func (s *testServer) waitReady(t *testing.T, reason string) {
	t.Helper()
	want := `{"status":"ok"}`
	if reason != "" {
		want = `{"status":"unavailable","reason":"` + reason + `"}`
	}
	var got string
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(25 * time.Millisecond) {
		_, body := s.do(t, "GET", "/readyz", "", nil)
		if got = body; got == want {
			return
		}
	}
	t.Fatalf("/readyz: got %s, want %s", got, want)
}

// do sends a request as a usual client would.
func (s *testServer) do(t *testing.T, method, path, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(content)
}

// post calls an action of the default API.
func (s *testServer) post(t *testing.T, action, body string) (int, string) {
	t.Helper()
	resp, content := s.do(t, "POST", "/api/json/"+action, body, nil)
	return resp.StatusCode, content
}

// waitLog waits until a text is in the log.
func (s *testServer) waitLog(t *testing.T, text string) {
	t.Helper()
	s.waitLogTimes(t, text, 1)
}

// waitLogTimes waits until a text is in the log that many times.
func (s *testServer) waitLogTimes(t *testing.T, text string, times int) {
	t.Helper()
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if strings.Count(s.log.String(), text) >= times {
			return
		}
	}
	t.Errorf("the log does not have %s %d times", text, times)
}
