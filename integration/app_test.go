package integration

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
	"github.com/sternpost/sternpost/storage"
)

// appDir is the folder of an example app.
func appDir(name string) string {
	return filepath.Join("apps", name)
}

// writeProject writes the files of a project to a folder of their own.
func writeProject(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compile compiles the project in a folder. Warnings do not matter here.
func compile(dir string) (*sqlgen.Compiled, error) {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return nil, err
	}
	compiled, errs := sqlgen.Compile(project)
	if errs.HasErrors() {
		var text strings.Builder
		if err := syntax.Render(&text, errs, syntax.Options{}); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("compile %s:\n%s", dir, text.String())
	}
	return compiled, nil
}

// installApp makes a database in which the project of a folder is installed.
func installApp(t *testing.T, dir string) *pgtest.DB {
	t.Helper()
	return pgtest.New(t, appOptions(dir))
}

// appOptions say that the project of a folder is installed in a database.
func appOptions(dir string) pgtest.Options {
	return pgtest.Options{Template: pgtest.Template{
		Name: dir,
		Build: func(ctx context.Context, owner *pgx.Conn) error {
			compiled, err := compile(dir)
			if err != nil {
				return err
			}
			_, err = install.Install(ctx, owner, compiled.Release())
			return err
		},
	}}
}

// reinstall installs the project of a folder, as it is now, over the content of a
// database.
func reinstall(t *testing.T, db *pgtest.DB, dir string) install.Outcome {
	t.Helper()
	compiled, err := compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := install.Install(t.Context(), db.Owner(t), compiled.Release())
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// app is an application under test.
type app struct {
	db     *pgtest.DB
	url    string
	admin  string // where operators reach the server
	log    *logBuffer
	key    []byte // signs tokens
	signer *auth.Tokens
	past   *auth.Tokens // makes tokens that have expired
	other  *auth.Tokens // makes tokens of another service
	client *http.Client

	agentCalls *int // the number of calls made by an agent; nil means that none should
}

// serveApp installs the project of a folder and serves it until the test ends.
func serveApp(t *testing.T, dir string) *app {
	t.Helper()
	db := installApp(t, dir)
	return serve(t, db, dir, db.ServerURL())
}

// serve serves the app that is installed in a database until the test ends. The login
// has only a server's rights.
func serve(t *testing.T, db *pgtest.DB, dir, databaseURL string) *app {
	t.Helper()
	return serveWith(t, db, dir, databaseURL, serving{})
}

// encryptionKey encrypts the secrets of all apps.
const encryptionKey = "c2VjcmV0cyBvZiBhbGwgYXBwcyBvZiB0aGUgdGVzdHM="

// serving holds the options of a served application.
type serving struct {
	env   []string      // settings
	store storage.Store // of file contents; nil means a folder that ends with the test
	debug bool          // whether each request is logged

	// identifier identifies the callers, given the issuer of their tokens; nil means the
	// server's default.
	identifier func(*auth.Tokens) server.Identifier
}

// serveWith is serve with more options.
func serveWith(t *testing.T, db *pgtest.DB, dir, databaseURL string, how serving) *app {
	t.Helper()
	key, otherKey := generateKey(t), generateKey(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{
		db:    db,
		url:   "http://" + listener.Addr().String(),
		admin: "http://" + admin.Addr().String(),
		log:   &logBuffer{},
		key:   key,
		client: &http.Client{
			Transport:     newDescribedTransport(watch.Transport(&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}), "http://"+listener.Addr().String()),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       time.Minute,
		},
	}
	a.signer = newTokens(t, key, a.url, nil)
	a.past = newTokens(t, key, a.url, func() time.Time { return time.Now().Add(-2 * time.Hour) })
	a.other = newTokens(t, otherKey, a.url, nil)

	file := filepath.Join(dir, sqlgen.ConfigName)
	if _, err := os.Stat(file); err != nil {
		file = ""
	}
	settings, err := config.Load(config.Source{Dir: dir, File: file, Env: append([]string{
		"STERNPOST_STORAGE_DIRECTORY=" + t.TempDir(),
		"STERNPOST_MODE=development",
		"STERNPOST_CORS_ORIGINS=https://app.example.com",
		"STERNPOST_ADMIN_PORT=0",
		"BASE_URL=" + a.url,
		"DATABASE_URL=" + databaseURL,
		"STERNPOST_AUTH_SIGNING_KEY=" + string(key),
		"STERNPOST_ENCRYPTION_KEY=" + encryptionKey,
	}, how.env...)})
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine a server that has just started takes longer than calls usually wait.
	settings.PoolWait = max(settings.PoolWait, 30*time.Second)
	level := slog.LevelInfo
	if how.debug {
		level = slog.LevelDebug
	}
	var identifier server.Identifier
	if how.identifier != nil {
		identifier = how.identifier(a.signer)
	}
	s, err := server.New(settings, server.Options{
		Identifier: identifier,
		Log:        slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{Level: level})),
		Store:      how.store,
		Listener:   listener,

		AdminListener: admin,
		Poll:          250 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		a.client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", a.log)
		}
	})
	a.awaitReady(t, `{"status":"ok"}`)
	return a
}

func generateKey(t *testing.T) []byte {
	t.Helper()
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newTokens(t *testing.T, key []byte, baseURL string, now func() time.Time) *auth.Tokens {
	t.Helper()
	tokens, err := auth.NewTokens(auth.TokenOptions{SigningKey: key, BaseURL: baseURL, Lifetime: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// token returns an access token of an identity, which is made if it is missing.
func (a *app) token(t *testing.T, identity string) string {
	t.Helper()
	_, err := a.db.Superuser(t).Exec(t.Context(), "insert into app.identity (id) values ($1) on conflict do nothing", identity)
	if err != nil {
		t.Fatalf("make the identity %s: %v", identity, err)
	}
	return issue(t, a.signer, identity)
}

func issue(t *testing.T, tokens *auth.Tokens, identity string) string {
	t.Helper()
	token, _, err := tokens.Issue(identity)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// awaitReady waits until /readyz gives an answer.
func (a *app) awaitReady(t *testing.T, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, got = a.send(t, "GET", "/readyz", nil, ""); got == want {
			return
		}
	}
	t.Fatalf("/readyz: got %s, want %s; the log:\n%s", got, want, a.log)
}

// send sends a request and returns the response and its body.
func (a *app) send(t *testing.T, method, path string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	response, text, err := a.try(t.Context(), method, path, header, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return response, text
}

// try is send for goroutines, which must not end the test.
func (a *app) try(ctx context.Context, method, path string, header http.Header, body string) (*http.Response, string, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, reader)
	if err != nil {
		return nil, "", err
	}
	if header != nil {
		request.Header = header
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// logBuffer keeps a log to show if the test fails.
type logBuffer struct{ program.Output }

func (b *logBuffer) Write(p []byte) (int, error) {
	watch.Look("the log", string(p))
	return b.Output.Write(p)
}
