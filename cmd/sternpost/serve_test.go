package main_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// request sends a request and returns status and body; status 0 means no answer.
func request(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{Transport: watch.Transport(&http.Transport{DisableKeepAlives: true}), Timeout: 30 * time.Second}
	response, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// awaitAnswer sends a request until its answer contains a text.
func awaitAnswer(t *testing.T, method, url, body, want string) {
	t.Helper()
	status, got := 0, ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if status, got = request(t, method, url, body); status != 0 && strings.Contains(got, want) {
			return
		}
	}
	t.Fatalf("%s %s %s\n  got  %d %s\n  want %s", method, url, body, status, got, want)
}

// production is the environment of a server in production.
func production(t *testing.T, databaseURL, port string) []string {
	t.Helper()
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{"key.pem": string(key)})
	return []string{
		"DATABASE_URL=" + databaseURL,
		"BASE_URL=https://api.example.com",
		"HOST=127.0.0.1",
		"PORT=" + port,
		"STERNPOST_AUTH_SIGNING_KEY_FILE=" + filepath.Join(dir, "key.pem"),
	}
}

// built makes a database in which the script of build was run, and lets the server's
// login connect to it.
func built(t *testing.T, dir string) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	runScript(t, db, command{args: []string{"build", dir}}.expect(t, 0, ""))
	_, err := db.Superuser(t).Exec(t.Context(), fmt.Sprintf("grant connect on database %s to sternpost_server", db.Name()))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestServe serves a database that was made by build and psql, as a login that is only a
// member of sternpost_server.
func TestServe(t *testing.T) {
	t.Parallel()
	db := built(t, workshop(t))
	port := program.FreePort(t)
	url := "http://127.0.0.1:" + port
	g := storagetest.SharedGateway(t) // the workshop takes photos
	env := append(production(t, db.ServerURL(), port), g.Environment(storagetest.NewBucket(t, g))...)
	p := command{args: []string{"serve"}, dir: t.TempDir(), env: env}.start(t)

	awaitAnswer(t, "GET", url+"/readyz", "", `{"status":"ok"}`)
	for _, args := range [][]string{{"health"}, {"health", "--ready"}} {
		if got := (command{args: args, env: env}).expect(t, 0, ""); got != `{"status":"ok"}`+"\n" {
			t.Errorf("%s: got %q", args, got)
		}
	}
	awaitAnswer(t, "POST", url+"/api/json/createCustomer", `{"name":"Ada"}`, `"name":"Ada"`)
	awaitAnswer(t, "GET", url+"/api/json/listCustomers", "", `"count":1`)
	if status, body := request(t, "POST", url+"/api/json/hireMechanic", `{"name":"Mia"}`); status != 403 {
		t.Errorf("a call that takes a token: got %d %s, want 403", status, body)
	}
	for _, try := range []struct {
		password string
		want     int
	}{{"canary-horse", 200}, {"canary-mule", 400}} {
		response, err := http.PostForm(url+"/auth/token", neturl.Values{"grant_type": {"password"}, "username": {"ada@example.com"}, "password": {try.password}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != try.want {
			t.Errorf("sign in with %s: got %d, %v, want %d", try.password, response.StatusCode, err, try.want)
		}
		response.Body.Close()
	}
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v, want exit 0", err)
	}
	if _, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
		t.Error("somebody still listens")
	}
	command{args: []string{"health"}, env: env}.expect(t, exitInput, "connection refused")
	if log := p.Out.String(); strings.Contains(log, "PRIVATE KEY") || !strings.HasPrefix(log, "{") {
		t.Errorf("the log of production is not JSON, or holds the key:\n%s", log)
	}
}

// TestServeRefuses starts servers that must not serve.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	told := files(t, map[string]string{
		"schema.stern":        strings.Replace(noteSchema, "@permission", "@on([create], tellShop)\n  @on([create], greet)\n  @permission", 1),
		"functions/greet.sql": "create function functions.greet(event jsonb) returns void language sql volatile security invoker as 'select'",
	})
	const secret = "secret: whsec_Y2FuYXJ5IGtleSBvZiBhIHdlYmhvb2shIQ=="
	tests := []struct {
		name  string
		login func(*pgtest.DB) string
		sql   string
		hooks string // instead of a schema without subscribers
		want  []string
	}{
		{name: "a webhook without address", login: (*pgtest.DB).ServerURL, hooks: "{}", want: []string{"set subscribers.tellShop.url"}},
		{name: "a webhook without secret", login: (*pgtest.DB).ServerURL, hooks: "{tellShop: {url: https://shop.example.com/}}",
			want: []string{"set SUBSCRIBER_SECRET_TELL_SHOP"}},
		{name: "a webhook with code", login: (*pgtest.DB).ServerURL, hooks: "{greet: {url: https://shop.example.com/, " + secret + "}}", want: []string{"TwoSubscribers"}},

		{name: "as a superuser", login: (*pgtest.DB).SuperuserURL, want: []string{"is a superuser", "in role sternpost_server"}},
		{name: "as the owner", login: (*pgtest.DB).OwnerURL, want: []string{"may create", "in role sternpost_server"}},
		{name: "with a right on a table", login: (*pgtest.DB).ServerURL, sql: "grant select on app.note to sternpost_server",
			want: []string{"app.note"}},
		{name: "on a table without row security", login: (*pgtest.DB).ServerURL, sql: "alter table app.note disable row level security",
			want: []string{"app.note has no row security"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			project, settings := dir, t.TempDir()
			if test.hooks != "" {
				project, settings = told, files(t, map[string]string{"sternpost.yaml": "subscribers: " + test.hooks})
			}
			db := built(t, project)
			if test.sql != "" {
				if _, err := db.Superuser(t).Exec(t.Context(), test.sql); err != nil {
					t.Fatal(err)
				}
			}
			c := command{args: []string{"serve"}, dir: settings, env: production(t, test.login(db), program.FreePort(t))}
			for _, want := range append(test.want, "cannot be served") {
				c.expect(t, exitEnvironment, want)
			}
		})
	}
}

// TestServeWithoutRelease starts a server in front of a database that holds no
// release yet.
func TestServeWithoutRelease(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	port := program.FreePort(t)
	url := "http://127.0.0.1:" + port
	p := command{args: []string{"serve"}, env: production(t, db.ServerURL(), port)}.start(t)
	awaitAnswer(t, "GET", url+"/readyz", "", `{"status":"unavailable","reason":"schema"}`)
	p.Await(t, 0, "no release is installed")
	p.Await(t, 0, "sternpost migrate up")
	if status, body := request(t, "POST", url+"/api/json/listNotes", ""); status != 503 {
		t.Errorf("before a release: got %d %s, want 503", status, body)
	}
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v, want exit 0", err)
	}
}

// TestPortInUse starts servers on a port in use.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	db := pgtest.New(t, pgtest.Options{})

	want := "listen on 127.0.0.1:" + port
	command{args: []string{"serve"}, env: production(t, db.ServerURL(), port)}.expect(t, exitEnvironment, want)

	dir := files(t, map[string]string{"schema.stern": noteSchema})
	c := command{args: []string{"dev", "--port", port, dir}}
	c.expect(t, exitEnvironment, want)
	assertNoPostgres(t, dir)

	// The other port of a server may be in use as well: that ends it in production, which
	// needs the metrics, and dev goes on without.
	env := append(production(t, db.ServerURL(), program.FreePort(t)), "STERNPOST_ADMIN_PORT="+port)
	command{args: []string{"serve"}, env: env}.expect(t, exitEnvironment, want+" (admin): listen tcp 127.0.0.1:"+port+": bind: address already in use (set another port: admin.port, or STERNPOST_ADMIN_PORT; 0 means none)")

	c.env = []string{"STERNPOST_ADMIN_PORT=" + port}
	c.args[2] = program.FreePort(t)
	p := c.start(t)
	at := p.Await(t, 0, "metrics are not served: listen tcp 127.0.0.1:"+port)
	p.Await(t, at, "Ctrl-C stops everything")
	awaitAnswer(t, "GET", "http://127.0.0.1:"+c.args[2]+"/readyz", "", `{"status":"ok"}`)
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
	assertNoPostgres(t, dir)
}

// TestServeWithoutDatabase starts a server whose database cannot be reached: it waits for
// it, and ends on a signal.
func TestServeWithoutDatabase(t *testing.T) {
	t.Parallel()
	port := program.FreePort(t)
	p := command{args: []string{"serve"}, env: production(t, "postgres://nobody:pa55word@127.0.0.1:"+program.FreePort(t)+"/none", port)}.start(t)
	awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/readyz", "", `{"status":"unavailable","reason":"database"}`)
	awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/healthz", "", `{"status":"ok"}`)
	if err := p.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v, want exit 0", err)
	}
	if strings.Contains(p.Out.String(), "pa55word") {
		t.Error("the log holds the password of the database")
	}
}

// TestServeAdvises starts servers that wait for another person's action, and checks that each names it.
func TestServeAdvises(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, sql string
		url       func(db *pgtest.DB) string
		want      string
	}{
		{"not a member", "create role stranger_{} login password 'x'; grant connect on database {} to stranger_{}", withLogin("stranger_{}"), "grant sternpost_server to stranger_"},
		{"no right to connect", "create role member_{} login password 'x' in role sternpost_server; revoke connect on database {} from public, sternpost_server", withLogin("member_{}"),
			"grant connect on database"},
		{"no such database", "", func(db *pgtest.DB) string {
			return strings.Replace(db.ServerURL(), "/"+db.Name(), "/"+db.Name()+"_none", 1)
		}, "check the name of the database in DATABASE_URL"},
		{"an empty database", "drop schema platform cascade", (*pgtest.DB).ServerURL, `"error":"no release is installed in the database","do":"as the owner of the database, run sternpost migrate up`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{})
			if _, err := db.Superuser(t).Exec(t.Context(), strings.ReplaceAll(test.sql, "{}", db.Name())); err != nil {
				t.Fatal(err)
			}
			p := command{args: []string{"serve"}, env: production(t, test.url(db), program.FreePort(t))}.start(t)
			p.Await(t, 0, test.want)
			if err := p.End(t, syscall.SIGTERM); err != nil {
				t.Errorf("after SIGTERM: %v, want exit 0", err)
			}
		})
	}
}

// TestServeLacksSettings starts servers without what they need. In every mode each missing setting is named with its
// variable.
func TestServeLacksSettings(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"development", "production"} {
		c := command{args: []string{"serve"}, env: []string{"STERNPOST_MODE=" + mode}}
		for _, want := range []string{
			"database.url is required: set it in sternpost.yaml, or DATABASE_URL in the environment",
			"auth.signingKey is required: set it in sternpost.yaml, or STERNPOST_AUTH_SIGNING_KEY in the environment",
		} {
			c.expect(t, exitInput, want)
		}
	}
}

// TestServeKeys refuses unsafe signing keys, before anything is served.
func TestServeKeys(t *testing.T) {
	t.Parallel()
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(weak.Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		block pem.Block
		want  string
	}{
		{pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(weak)}, "an RSA key needs at least 2048 bits"},
		{pem.Block{Type: "PUBLIC KEY", Bytes: public}, "does not hold a private key"},
	} {
		env := append(production(t, "postgres://nobody@127.0.0.1:1/none", program.FreePort(t)), "STERNPOST_AUTH_SIGNING_KEY="+string(pem.EncodeToMemory(&test.block)))
		c := command{args: []string{"serve"}, env: slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "STERNPOST_AUTH_SIGNING_KEY_FILE=") })}
		c.expect(t, exitInput, "STERNPOST_AUTH_SIGNING_KEY")
		c.expect(t, exitInput, test.want)
	}
}

// withLogin is the address of a database for another login. Its name has {} for that of the database.
func withLogin(name string) func(*pgtest.DB) string {
	return func(db *pgtest.DB) string {
		url, err := neturl.Parse(db.ServerURL())
		if err != nil {
			panic(err)
		}
		url.User = neturl.UserPassword(strings.ReplaceAll(name, "{}", db.Name()), "x")
		return url.String()
	}
}
