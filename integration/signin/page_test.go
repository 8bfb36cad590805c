package signin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// signInPageServer serves the page of the guide, and options are those of a service that it is for.
type signInPageServer struct {
	*httptest.Server
	origin  string // that browsers know it by
	options options
}

// signInPage serves the page for a service that is there when the page is asked for.
func signInPage(t *testing.T, s **service) signInPageServer {
	t.Helper()
	text, err := os.ReadFile("../guide/how-to/sign-in-page.html")
	if err != nil {
		t.Fatal(err)
	}
	const address = "'http://localhost:8080'"
	if n := strings.Count(string(text), address); n != 1 {
		t.Fatalf("the page says %d times where the service is, want once", n)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/age" {
			(*s).exec(t, `update platform.auth_family set second_at = second_at - interval '6 minutes'`)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(strings.Replace(string(text), address, "'"+(*s).url+"'", 1)))
	}))
	t.Cleanup(page.Close)
	origin := strings.Replace(page.URL, "127.0.0.1", "localhost", 1) // passkeys belong to a domain
	return signInPageServer{page, origin, options{
		settings: "  verificationUrl: " + origin + "/sign-in?do=verify\n  password: {verification: send}\n  passkeys: {rpId: localhost, origins: ['" + origin + "']}\n",
		env:      []string{"STERNPOST_CORS_ORIGINS=" + origin},
	}}
}

// TestSignInPage uses the page of the guide in Chromium, as another origin serves it: an account is made, its address is
// proven, its password is set anew, and its second factor, and a passkey, are added, shown and removed.
func TestSignInPage(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no browser uses the sign-in page")
	chromium := program.Chromium(t, "no browser uses the sign-in page")
	var s *service
	page := signInPage(t, &s)
	s = serve(t, page.options)

	browser := node(t, modules, "page.mjs", page.origin+"/sign-in", s.url)
	browser.Env = append(os.Environ(), "CHROMIUM="+chromium, "AGE="+page.URL+"/age")
	out, err := browser.CombinedOutput()
	const want = `Sign in: sign-in: That did not work: the identity does not exist or the credentials are incorrect
Create an account: account: You are signed in.
Sign out: sign-in: You have signed out.
This is my e-mail address: sign-in: Your e-mail address is proven.
I have forgotten my password: sign-in: If there is such an account, a mail is on its way.
Change the password: sign-in: Your password is changed.
Sign in: sign-in: That did not work: the identity does not exist or the credentials are incorrect
Sign in: account: You are signed in.
Add an authenticator app: account: 
Confirm the app: account: Keep these recovery codes in a safe place: …
Sign out: sign-in: You have signed out.
Sign in: factor: 
Continue: factor: That did not work: the second factor is not valid
Continue: account: You are signed in.
factors: Apps: 1, passkeys: 0, recovery codes: 10. sessions: 1
Remove the app: sign-in: Please sign in again to do this.
Sign in: factor: 
Continue: account: You are signed in.
removed; it fits: true
Add a passkey: account: Keep these recovery codes in a safe place: …
Sign out: sign-in: You have signed out.
Sign in with a passkey: account: You are signed in.
Sign out: sign-in: You have signed out.
Sign in: factor: 
Use a passkey: factor: That did not work: …
Use a passkey: account: You are signed in.
Sign out everywhere else: sign-in: Please sign in again to do this.
Sign in with a passkey: account: You are signed in.
factors: Apps: 0, passkeys: 1, recovery codes: 10. sessions: 1
Sign out: sign-in: You have signed out.
Sign in with a passkey: sign-in: That did not work: the passkey is not valid
`
	if err != nil || string(out) != want {
		t.Errorf("got  %v %s\nwant %s", err, out, want)
	}
}
