package signin

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/sternpost/sternpost/integration/program"
)

// TestOAuth2Client logs in with golang.org/x/oauth2, and lets go-oidc verify the access
// token with the keys that the service publishes.
func TestOAuth2Client(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "")
	config := oauth2.Config{
		ClientID:    "not-registered",
		Endpoint:    oauth2.Endpoint{AuthURL: s.url + "/auth/authorize/Main", TokenURL: s.url + "/auth/token"},
		RedirectURL: target,
	}
	verifier := oauth2.GenerateVerifier()
	b := newBrowser(t)
	atProvider := b.get(t, config.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier))).location(t)
	end := b.get(t, b.get(t, atProvider.String()).location(t).String()).location(t)

	token, err := config.Exchange(t.Context(), end.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	verify := oidc.NewVerifier(s.url, oidc.NewRemoteKeySet(t.Context(), s.url+"/.well-known/jwks.json"), &oidc.Config{
		ClientID:             s.url, // the audience
		SupportedSigningAlgs: []string{oidc.ES256},
	})
	verified, err := verify.Verify(t.Context(), token.AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	if id := value[string](t, s, "select id from app.identity"); verified.Subject != id {
		t.Errorf("sub: got %s, want %s", verified.Subject, id)
	}

	token.Expiry = time.Now().Add(-time.Minute) // the client refreshes it
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/json/listNotes", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := config.Client(t.Context(), token).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("listNotes: got %d", response.StatusCode)
	}
}

// TestJavaScriptClients logs in with clients for JavaScript that require a service to
// follow the RFCs to the letter.
func TestJavaScriptClients(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "the JavaScript clients do not sign in")
	for _, program := range []string{"oauth4webapi.mjs", "openid-client.mjs"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			s, _ := start(t, "")
			out, err := node(t, modules, program, s.url, "http://127.0.0.1:9/done").CombinedOutput()
			if err != nil || strings.Count(string(out), "ok ") != 3 {
				t.Errorf("%s: %v\n%s", program, err, out)
			}
		})
	}
}

// TestStrictProvider logs in at a certified provider, by query and by form.
func TestStrictProvider(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "nobody signs in at oidc-provider")
	port := program.FreePort(t)
	issuer := "http://127.0.0.1:" + port
	s := serve(t, options{
		settings: settings("", provider("Main", issuer, clientID), provider("Form", issuer, clientID, "responseMode: form_post")),
		env:      []string{secretOf("MAIN", clientSecret), secretOf("FORM", clientSecret)},
	})
	startNode(t, node(t, modules, "oidc-provider.mjs", port, clientID, clientSecret, s.url+"/auth/callback/Main", s.url+"/auth/callback/Form"))

	b := newBrowser(t)
	at := b.get(t, s.authorizeURL("Main", usual())).location(t)
	for range 10 {
		if strings.HasPrefix(at.String(), target) {
			break
		}
		at = at.ResolveReference(b.get(t, at.String()).location(t))
	}
	got := s.redeem(t, at.Query().Get("code"), "code_verifier", verifier, "redirect_uri", target)
	expectGrant(t, got, "")
	if !got.IdentityCreated {
		t.Errorf("got %+v, want an identity that is new", got)
	}
	const want = "grace grace@example.com t Grace en-GB"
	if got := value[string](t, s, "select concat_ws(' ', external_id, email, email_verified, name, locale) from app.identity"); got != want {
		t.Errorf("the identity: got %s, want %s", got, want)
	}

	// Its page posts the form by a script, which this browser does not run.
	at = b.get(t, s.authorizeURL("Form", usual())).location(t)
	p := b.get(t, at.String())
	for p.StatusCode/100 == 3 {
		at = at.ResolveReference(p.location(t))
		p = b.get(t, at.String())
	}
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(p.body, -1) {
		form.Set(field[1], field[2])
	}
	end := b.post(t, s.url+"/auth/callback/Form", form).location(t)
	got = s.redeem(t, end.Query().Get("code"), "code_verifier", verifier, "redirect_uri", target)
	expectGrant(t, got, "")
	if got.IdentityCreated {
		t.Errorf("by form: got %+v, want the identity of before", got)
	}
}

// hidden matches a field of a form that the user does not see.
var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

const clientsDir = "../clients/signin"

// nodeModules installs the modules of the programs in clients/signin, or skips the test
// without Node.js.
func nodeModules(t *testing.T, consequence string) string {
	t.Helper()
	program.Modules(t, clientsDir, consequence)
	return clientsDir
}

// node makes a command that runs a program in clients/signin.
func node(t *testing.T, dir string, arguments ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, "node", arguments...)
	command.Dir = dir
	return command
}

// startNode starts a program that serves until the test ends, and waits for its message
// that it listens.
func startNode(t *testing.T, command *exec.Cmd) {
	t.Helper()
	var problems program.Output
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", command, problems.String())
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "listening ") {
			return
		}
	}
	t.Fatalf("%s ended:\n%s", command, problems.String())
}
