package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
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
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// schema is an application in which logged-in callers write notes of their own.
const schema = `
model Note {
  fields { text Text  author Identity  pin Password? }
  actions {
    create createNote() with (text) { @set(note.author = ctx.identity) }
    list listNotes()
    list listAllNotes() { @permission(roles: [Staff]) }
    list listVerifiedNotes() { @permission(expression: ctx.identity.emailVerified) }
    list listOwnVerifiedNotes() { @permission(expression: note.author == ctx.identity && ctx.identity.emailVerified) }
    list listByAddress() {
      @permission(expression: note.author == ctx.identity && note.author.email == "future@staff.example" && note.author.emailVerified)
    }
    list listWithAddress() { @where(note.text == "x" || ctx.identity.email == "future@staff.example") }
    list listNoNotes() { @where(note.text == "z") }
    update signNote(id) { @set(note.text = ctx.identity.email) }
    update sealNote(id) {
      @set(note.text = "sealed")
      @permission(expression: note.author == ctx.identity && ctx.secondFactor)
    }
    list listLately() { @permission(expression: ctx.signedInWithin("5 minutes")) }
    list listSafely() { @permission(expression: ctx.secondFactor && ctx.signedInWithin("5 minutes")) }
    list listKept() { @permission(roles: [Keeper]) }
    create createLocked() with (text, pin) { @set(note.author = ctx.identity)  @permission(expression: ctx.secondFactor) }
    update markNote(id) { @set(note.text = "y") @validate(ctx.identity.email == "future@staff.example") }
  }
  @permission(expression: note.author == ctx.identity, actions: [create, list, update])
}
role Staff { domains { "staff.example" } }
role Keeper { expression { ctx.identity.emailVerified == false && ctx.secondFactor } }
`

// claims are the further claims that the application stores.
const claims = `
auth:
  claims:
    - key: "https://example.com/team"
      field: team
    - key: seat
      field: seatNumber
`

// service is an application that is being served.
type service struct {
	db  *pgtest.DB
	url string
	log *program.Output

	source config.Source
}

// options are the differences of a service from the usual one.
type options struct {
	app      string   // the folder of its project; empty means the schema above
	settings string   // further lines of auth in its sternpost.yaml
	env      []string // further variables
	baseURL  string   // that it believes to be at; empty means where it listens
	dir      string   // of the project, for what a server reads of it; empty means an empty one
}

// provider is a line of auth.providers.
func provider(name, issuer, clientID string, more ...string) string {
	return fmt.Sprintf("    - {type: oidc, name: %s, issuerUrl: %q, clientId: %q%s}\n", name, issuer, clientID, strings.Join(append([]string{""}, more...), ", "))
}

// serve serves the application until the test ends.
func serve(t *testing.T, o options) *service {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Template: pgtest.Template{
		Name: "signin" + o.app,
		Build: func(ctx context.Context, owner *pgx.Conn) error {
			project := &sqlgen.Project{
				Files:  []*syntax.Source{{Name: "schema.stern", Text: []byte(schema)}},
				Config: &syntax.Source{Name: sqlgen.ConfigName, Text: []byte(claims)},
			}
			if o.app != "" {
				var err error
				if project, err = sqlgen.ReadProject(o.app); err != nil {
					return err
				}
			}
			compiled, errs := sqlgen.Compile(project)
			if errs.HasErrors() {
				return fmt.Errorf("compile: %v", errs)
			}
			_, err := install.Install(ctx, owner, compiled.Release())
			return err
		},
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{db: db, url: "http://" + listener.Addr().String(), log: &program.Output{}}
	if o.baseURL == "" {
		o.baseURL = s.url
	}
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if o.dir == "" {
		o.dir = t.TempDir()
		mails := filepath.Join(o.app, "mail") // a server reads the project's
		if _, err := os.Stat(mails); o.app != "" && err == nil {
			if err := os.CopyFS(filepath.Join(o.dir, "mail"), os.DirFS(mails)); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := filepath.Join(o.dir, sqlgen.ConfigName)
	if err := os.WriteFile(file, []byte("auth:\n"+o.settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s.source = config.Source{File: file, Env: append([]string{
		"STERNPOST_MODE=development",
		"STERNPOST_ADMIN_PORT=0",
		"STERNPOST_STORAGE_DIRECTORY=" + t.TempDir(),
		"BASE_URL=" + o.baseURL,
		"DATABASE_URL=" + db.ServerURL(),
		"STERNPOST_AUTH_SIGNING_KEY=" + string(key),
		"STERNPOST_ENCRYPTION_KEY=" + encryption.GenerateKey(),
	}, o.env...)}
	s.run(t, listener)
	return s
}

// another is a second server of the same service.
func (s *service) another(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.url = "http://" + listener.Addr().String()
	other.run(t, listener)
	return &other
}

// run runs a server until the test ends.
func (s *service) run(t *testing.T, listener net.Listener) {
	t.Helper()
	c, err := config.Load(s.source)
	if err != nil {
		t.Fatal(err)
	}
	running, err := server.New(c, server.Options{
		Log:      slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Listener: listener,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
	s.awaitReady(t)
}

func (s *service) awaitReady(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(s.url + "/readyz")
		if err != nil {
			continue
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("the service does not become ready; its log:\n%s", s.log)
}

// value runs a query as a superuser.
func value[T any](t *testing.T, s *service, statement string, arguments ...any) T {
	t.Helper()
	var got T
	if err := s.db.Superuser(t).QueryRow(t.Context(), statement, arguments...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return got
}

func (s *service) exec(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	if _, err := s.db.Superuser(t).Exec(t.Context(), statement, arguments...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// tokens is an answer of the token endpoint, good or bad.
type tokens struct {
	AccessToken      string `json:"access_token"`
	TokenType        string `json:"token_type"`
	ExpiresIn        int    `json:"expires_in"`
	RefreshToken     string `json:"refresh_token"`
	IdentityCreated  bool   `json:"identity_created"`
	IssuedTokenType  string `json:"issued_token_type"`
	Error            string `json:"error"`
	ErrorDescription string `json:"error_description"`
	FactorToken      string `json:"factor_token"`
	Factors          []string
	PublicKey        struct{ Challenge, RPID string } // with second_factor_required

	status int
}

// grant calls the token endpoint.
func (s *service) grant(t *testing.T, parameters url.Values) tokens {
	t.Helper()
	got, err := s.tryGrant(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// tryGrant is grant for goroutines, which must not end the test.
func (s *service) tryGrant(parameters url.Values) (tokens, error) {
	return s.tryGrantFrom("", parameters)
}

// tryGrantFrom is tryGrant for a request that names its address, unless it is empty.
func (s *service) tryGrantFrom(address string, parameters url.Values) (tokens, error) {
	request, err := http.NewRequest(http.MethodPost, s.url+"/auth/token", strings.NewReader(parameters.Encode()))
	if err != nil {
		return tokens{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if address != "" {
		request.Header.Set("X-Forwarded-For", address)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return tokens{}, err
	}
	defer response.Body.Close()
	got := tokens{status: response.StatusCode}
	return got, json.NewDecoder(response.Body).Decode(&got)
}

func (s *service) redeem(t *testing.T, code string, more ...string) tokens {
	t.Helper()
	parameters := url.Values{"grant_type": {"authorization_code"}, "code": {code}}
	for i := 0; i+1 < len(more); i += 2 {
		parameters.Set(more[i], more[i+1])
	}
	return s.grant(t, parameters)
}

func (s *service) refresh(t *testing.T, token string) tokens {
	t.Helper()
	return s.grant(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// isSignedIn tells whether an access token is accepted.
func (s *service) isSignedIn(t *testing.T, accessToken string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/json/createNote", strings.NewReader(`{"text":"hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+accessToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// browser keeps cookies and follows redirects by hand.
type browser struct {
	*http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{&http.Client{
		Transport:     http.DefaultClient.Transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}}
}

// page is a response to a browser.
type page struct {
	*http.Response
	body string
}

func (b *browser) get(t *testing.T, address string) page {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.do(t, request)
}

func (b *browser) post(t *testing.T, address string, form url.Values) page {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(t, request)
}

func (b *browser) do(t *testing.T, request *http.Request) page {
	t.Helper()
	response, err := b.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return page{response, string(body)}
}

// location returns the target of a redirect.
func (p page) location(t *testing.T) *url.URL {
	t.Helper()
	if p.StatusCode != http.StatusFound && p.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s %s: got status %d %s, want a redirect", p.Request.Method, p.Request.URL, p.StatusCode, p.body)
	}
	to, err := url.Parse(p.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// authorizeURL is the address to which a client sends the browser.
func (s *service) authorizeURL(provider string, parameters url.Values) string {
	return s.url + "/auth/authorize/" + provider + "?" + parameters.Encode()
}

// signIn lets a browser sign in, through a provider that asks nothing, and returns where
// it ends.
func (s *service) signIn(t *testing.T, b *browser, provider string, parameters url.Values) *url.URL {
	t.Helper()
	atProvider := b.get(t, s.authorizeURL(provider, parameters)).location(t)
	back := b.get(t, atProvider.String()).location(t)
	return b.get(t, back.String()).location(t)
}
