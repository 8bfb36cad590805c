package signin

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/oauth2"
)

// attacks lists attempts to log in as somebody else, to learn a secret, or to make this
// service call a host that it should not call.
var attacks = []struct {
	name string
	try  func(t *testing.T)
}{
	{"a code is redeemed a hundred times at once: one succeeds, and keeps nothing", racingRedemptions},
	{"a code is replayed: what was issued for it dies", replayedCode},
	{"a code is too old", oldCode},
	{"the code of a protected sign-in comes without verifier", missingVerifier},
	{"the code of an unprotected sign-in comes with a verifier", injectedVerifier},
	{"the challenge itself is sent as the verifier", challengeAsVerifier},
	{"a challenge is sent by a method that the service does not take", weakMethod},
	{"a sign-in ends at another address than the code is redeemed for", otherRedirectURI},
	{"a code is sent to an address that nobody has allowed", foreignRedirects},
	{"an address beside the configured one is asked for", redirectBesideConfigured},
	{"an address beside the provider's own is asked for", redirectBesideProviders},
	{"somebody else's browser comes back", otherBrowser},
	{"a page chooses the cookie of a sign-in", chosenCookie},
	{"a form is posted whose answer stands in the address", answerBesideForm},
	{"a browser comes back twice", secondUse},
	{"a browser comes back twenty times at once: one gets a code", racingReturns},
	{"a browser comes back too late", lateReturn},
	{"a browser comes back by way of another provider", otherCallback},
	{"a provider passes on the code of another", otherIssuer},
	{"a provider that names itself is left out of its answer", missingIssuer},
	{"a provider vouches for the user of another", otherProvidersUser},
	{"an ID token of an earlier sign-in is used again", reusedNonce},
	{"an ID token has no nonce", missingNonce},
	{"sign-ins are begun by the thousand", manyDepartures},
	{"browsers come back by the hundred whom no provider vouches for", manyReturns},
	{"the cookies of sign-ins fill the header", manyCookies},
	{"a refresh token is used again and again", manyRefreshes},
	{"a thief uses a refresh token so often that the one it began with is no longer kept", lateVictim},
	{"one identity signs in by the hundred", manySignIns},
	{"one account keeps the hasher of passwords busy", manySuccesses},
	{"the passwords of somebody else are guessed, to keep them out", lockOut},
	{"tokens and passwords are made up, to keep out all at an address", junkTokens},
	{"headers name another host", spoofedHost},
	{"an ID token names an issuer that is not configured", unknownIssuer},
	{"an ID token points to keys of its own", ownKeys},
	{"a provider redirects to another place", redirectingProvider},
	{"a provider's address names endpoints elsewhere without TLS", foreignEndpoints},
	{"a provider brings the e-mail address of somebody else", otherEmail},
	{"an e-mail address is used up at a provider", takenEmail},
	{"a script of another origin asks the pages of a sign-in", crossOrigin},
	{"secrets are looked for in the log", secretsInLog},
	{"secrets are looked for in the database", secretsInDatabase},
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			attack.try(t)
		})
	}
}

// A usual sign-in: where it ends, and the client's proof key.
const verifier = "a-verifier-of-the-client-canary-0123456789-0123456789"

func usual() url.Values {
	return url.Values{
		"redirect_uri":          {target},
		"state":                 {"client-state"},
		"code_challenge":        {oauth2.S256ChallengeFromVerifier(verifier)},
		"code_challenge_method": {"S256"},
	}
}

// usualCode is the code that a usual sign-in ends with.
func usualCode(t *testing.T, s *service) string {
	t.Helper()
	end := s.signIn(t, newBrowser(t), "Main", usual())
	code := end.Query().Get("code")
	if code == "" {
		t.Fatalf("the sign-in ends at %s", end)
	}
	return code
}

func expectGrant(t *testing.T, got tokens, want string) {
	t.Helper()
	if got.Error != want || got.status != http.StatusBadRequest && want != "" || got.AccessToken != "" && want != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// expectRefused tests that a browser is not redirected.
func expectRefused(t *testing.T, p page) {
	t.Helper()
	if p.StatusCode != http.StatusBadRequest || p.Header.Get("Location") != "" || !strings.Contains(p.body, `"error":"invalid_request"`) {
		t.Errorf("%s %s: got %d %s (Location %q), want 400 invalid_request and no redirect", p.Request.Method, p.Request.URL, p.StatusCode, p.body, p.Header.Get("Location"))
	}
}

// expectError tests that a browser is sent to its client with an error and no code.
func expectError(t *testing.T, end *url.URL, want string) {
	t.Helper()
	q := end.Query()
	if q.Get("error") != want || q.Get("code") != "" || q.Get("error_description") == "" || q.Get("iss") == "" || !strings.HasPrefix(end.String(), target) {
		t.Errorf("the sign-in ends at %s, want error %s", end, want)
	}
}

func racingRedemptions(t *testing.T) {
	s, _ := start(t, "  throttle: {perAddress: 100000}\n", "STERNPOST_DATABASE_POOL_WAIT=30")
	code := usualCode(t, s)
	parameters := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {target}}
	var succeeded []tokens
	var mutex sync.Mutex
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			got, err := s.tryGrant(parameters)
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case got.status == http.StatusOK:
				succeeded = append(succeeded, got)
			case got.Error != "invalid_grant":
				t.Errorf("got %+v, want invalid_grant", got)
			}
		})
	}
	wg.Wait()
	if len(succeeded) != 1 {
		t.Fatalf("%d redemptions succeeded, want 1", len(succeeded))
	}
	expectGrant(t, s.refresh(t, succeeded[0].RefreshToken), "invalid_grant")
}

func replayedCode(t *testing.T) {
	s, _ := start(t, "")
	code := usualCode(t, s)
	first := s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target)
	expectGrant(t, first, "")
	second := s.refresh(t, first.RefreshToken)
	expectGrant(t, second, "")
	expectGrant(t, s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target), "invalid_grant")
	expectGrant(t, s.refresh(t, first.RefreshToken), "invalid_grant")
	expectGrant(t, s.refresh(t, second.RefreshToken), "invalid_grant")
}

func oldCode(t *testing.T) {
	s, _ := start(t, "")
	code := usualCode(t, s)
	if got := value[float64](t, s, "select extract(epoch from expires_at - now())::float8 from platform.auth_code"); got > 60 {
		t.Errorf("the code is good for %.0f s more, want 60 at most", got)
	}
	s.exec(t, "update platform.auth_code set expires_at = now()")
	expectGrant(t, s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target), "invalid_grant")
}

func missingVerifier(t *testing.T) {
	s, _ := start(t, "")
	code := usualCode(t, s)
	expectGrant(t, s.redeem(t, code, "redirect_uri", target), "invalid_grant")
	// The first presentation has consumed it, although it failed.
	expectGrant(t, s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target), "invalid_grant")
}

func injectedVerifier(t *testing.T) {
	s, _ := start(t, "")
	parameters := usual()
	parameters.Del("code_challenge")
	parameters.Del("code_challenge_method")
	for sent, want := range map[string]string{verifier: "invalid_grant", "short": "invalid_grant", "": ""} {
		code := s.signIn(t, newBrowser(t), "Main", parameters).Query().Get("code")
		expectGrant(t, s.redeem(t, code, "code_verifier", sent, "redirect_uri", target), want)
	}
}

func challengeAsVerifier(t *testing.T) {
	s, _ := start(t, "")
	expectGrant(t, s.redeem(t, usualCode(t, s), "code_verifier", oauth2.S256ChallengeFromVerifier(verifier), "redirect_uri", target), "invalid_grant")

	// With plain the verifier is right, and its hash is wrong.
	plain := usual()
	plain.Set("code_challenge", verifier)
	plain.Del("code_challenge_method") // without a method, plain applies
	code := s.signIn(t, newBrowser(t), "Main", plain).Query().Get("code")
	expectGrant(t, s.redeem(t, code, "code_verifier", oauth2.S256ChallengeFromVerifier(verifier), "redirect_uri", target), "invalid_grant")
	code = s.signIn(t, newBrowser(t), "Main", plain).Query().Get("code")
	expectGrant(t, s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target), "")
}

func weakMethod(t *testing.T) {
	challenge := oauth2.S256ChallengeFromVerifier(verifier)
	for _, c := range []struct{ mode, challenge, method, want string }{
		{"optional", "", "", ""},
		{"optional", "", "S256", "invalid_request"},
		{"optional", challenge, "s256", "invalid_request"},
		{"optional", challenge, "none", "invalid_request"},
		{"optional", challenge + "A", "S256", "invalid_request"},
		{"optional", challenge[1:], "plain", "invalid_request"},
		{"optional", strings.Repeat("a", 129), "plain", "invalid_request"},
		{"optional", strings.Repeat("=", 43), "plain", "invalid_request"},
		{"required", "", "", "invalid_request"},
		{"required", challenge, "", ""},
		{"S256", "", "", "invalid_request"},
		{"S256", challenge, "", "invalid_request"},
		{"S256", challenge, "plain", "invalid_request"},
		{"S256", challenge, "S256", ""},
	} {
		t.Run(c.mode+" "+c.challenge+" "+c.method, func(t *testing.T) {
			t.Parallel()
			s, p := start(t, "  pkce: "+c.mode+"\n")
			parameters := url.Values{"redirect_uri": {target}, "code_challenge": {c.challenge}, "code_challenge_method": {c.method}}
			to := newBrowser(t).get(t, s.authorizeURL("Main", parameters)).location(t)
			if c.want != "" {
				expectError(t, to, c.want)
			} else if !strings.HasPrefix(to.String(), p.URL) {
				t.Errorf("the browser is sent to %s, want the provider", to)
			}
		})
	}
}

func otherRedirectURI(t *testing.T) {
	s, _ := start(t, "")
	for _, sent := range []string{"", target + "&", target + "#", "http://127.0.0.1:9/done?tab=%31", "HTTP://127.0.0.1:9/done?tab=1", "http://127.0.0.1:9/done"} {
		expectGrant(t, s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", sent), "invalid_grant")
	}
	expectGrant(t, s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", target), "")
}

func foreignRedirects(t *testing.T) {
	s, _ := start(t, "")
	refused := 0
	listed, _ := start(t, "  redirectUris: [\"https://app.example.com/done\", \"http://localhost/native\", \"com.example.app:/done\"]\n")
	for _, c := range redirects {
		for _, on := range []struct {
			*service
			isAllowed bool
			entries   string
		}{{s, c.isLoopback, "no entries"}, {listed, c.isListed, "entries"}} {
			p := newBrowser(t).get(t, on.authorizeURL("Main", url.Values{"redirect_uri": {c.uri}}))
			if !on.isAllowed {
				refused++
				expectRefused(t, p)
			} else if p.StatusCode != http.StatusFound {
				t.Errorf("with %s, %q: got %d %s, want a redirect", on.entries, c.uri, p.StatusCode, p.body)
			}
		}
	}
	if refused < 120 { // 60 for each of the two
		t.Errorf("%d addresses were refused: this shows little", refused)
	}
	expectRefused(t, newBrowser(t).get(t, s.url+"/auth/authorize/Main"))
	expectRefused(t, newBrowser(t).get(t, s.url+"/auth/authorize/Main?redirect_uri=http://localhost/a&redirect_uri=http://localhost/b"))
	expectRefused(t, newBrowser(t).get(t, s.authorizeURL("main", usual())))
	expectRefused(t, newBrowser(t).get(t, s.authorizeURL("Other", usual())))
}

func redirectBesideConfigured(t *testing.T) {
	s, _ := start(t, "  redirectUrl: \""+target+"\"\n")
	parameters := usual()
	parameters.Set("redirect_uri", "https://evil.example/steal")
	end := s.signIn(t, newBrowser(t), "Main", parameters)
	if !strings.HasPrefix(end.String(), target+"&code=") {
		t.Fatalf("the sign-in ends at %s, want the configured address", end)
	}
	// Since it was not the client's to choose, it is not compared either.
	expectGrant(t, s.redeem(t, end.Query().Get("code"), "code_verifier", verifier, "redirect_uri", "https://evil.example/steal"), "")
}

func redirectBesideProviders(t *testing.T) {
	p := newIssuer(t)
	s := serve(t, options{
		settings: settings("  redirectUrl: \"http://127.0.0.1:9/all\"\n",
			provider("Own", p.URL, clientID, `redirectUrl: "`+target+`"`), provider("Main", p.URL, clientID)),
		env: []string{secretOf("OWN", clientSecret), secretOf("MAIN", clientSecret)},
	})
	for name, want := range map[string]string{"Own": target + "&code=", "Main": "http://127.0.0.1:9/all?code="} {
		parameters := usual()
		parameters["redirect_uri"] = []string{"https://evil.example/steal"}
		if end := s.signIn(t, newBrowser(t), name, parameters); !strings.HasPrefix(end.String(), want) {
			t.Errorf("%s: the sign-in ends at %s, want %s", name, end, want)
		}
		// Any of the addresses is allowed, but a parameter must not come twice.
		parameters["redirect_uri"] = []string{target, target}
		end := newBrowser(t).get(t, s.authorizeURL(name, parameters)).location(t)
		if q := end.Query(); q.Get("error") != "invalid_request" || q.Get("code") != "" || !strings.HasPrefix(end.String(), strings.TrimSuffix(want, "code=")) {
			t.Errorf("%s, twice: the sign-in ends at %s, want an error", name, end)
		}
	}
}

// comeBack lets a browser sign in up to the moment at which the provider sends it back.
func comeBack(t *testing.T, s *service, b *browser) string {
	t.Helper()
	return comeBackFrom(t, s, b, usual())
}

// comeBackFrom is comeBack for a sign-in with these parameters.
func comeBackFrom(t *testing.T, s *service, b *browser, parameters url.Values) string {
	t.Helper()
	atProvider := b.get(t, s.authorizeURL("Main", parameters)).location(t)
	return b.get(t, atProvider.String()).location(t).String()
}

func otherBrowser(t *testing.T) {
	s, _ := start(t, "")
	victim, attacker := newBrowser(t), newBrowser(t)
	back := comeBack(t, s, attacker)
	expectRefused(t, victim.get(t, back)) // it has no cookie
	comeBack(t, s, victim)
	expectRefused(t, victim.get(t, back)) // it has another cookie

	// Nor with the attacker's cookies under the victim's names, cut, or changed.
	own, foreign := cookiesOf(t, s, victim), cookiesOf(t, s, attacker)
	back = comeBack(t, s, newBrowser(t))
	for _, value := range []string{own[0].Value, foreign[0].Value, foreign[0].Value[1:], foreign[0].Value + "A", "A" + foreign[0].Value[1:], ""} {
		for _, name := range []string{own[0].Name, foreign[0].Name} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Cookie", name+"="+value)
			expectRefused(t, newBrowser(t).do(t, request))
		}
	}
	if got := value[int](t, s, "select count(*)::int from app.identity"); got != 0 {
		t.Errorf("%d identities, want none", got)
	}
	if got := value[int](t, s, "select count(*)::int from platform.auth_code"); got != 0 {
		t.Errorf("%d codes, want none", got)
	}
}

// cookiesOf returns the cookies of a browser's sign-ins.
func cookiesOf(t *testing.T, s *service, b *browser) []*http.Cookie {
	t.Helper()
	origin, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	return b.Jar.Cookies(origin)
}

func chosenCookie(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	comeBack(t, s, b)
	name := cookiesOf(t, s, b)[0].Name
	for _, chosen := range []string{"chosen", strings.Repeat("=", 43), strings.Repeat("a", 400)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.authorizeURL("Main", usual()), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", name+"="+chosen)
		set := newBrowser(t).do(t, request).Cookies()
		if len(set) != 2 || set[0].Name == name || set[0].Value == "" || set[1].Name != name || set[1].MaxAge >= 0 {
			t.Errorf("with the cookie %s: got %v, want one of ours, and that one to go", chosen, set)
		}
	}
}

func answerBesideForm(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	back := comeBack(t, s, b)
	expectRefused(t, b.post(t, back, url.Values{}))
	expectRefused(t, b.post(t, back, url.Values{"state": {"x"}, "code": {"y"}}))
	for contentType, body := range map[string]string{"application/json": "{}", "text/plain": "state=x", "": "state=x"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, back, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", contentType)
		expectRefused(t, b.do(t, request))
	}
	if code := b.get(t, back).location(t).Query().Get("code"); code == "" {
		t.Error("after that the sign-in is over, although nobody came back with its state")
	}
}

func secondUse(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	back := comeBack(t, s, b)
	kept := cookiesOf(t, s, b)
	if code := b.get(t, back).location(t).Query().Get("code"); code == "" {
		t.Fatal("no code")
	}
	if left := cookiesOf(t, s, b); len(left) > 0 {
		t.Errorf("the browser still has %v", left)
	}
	expectRefused(t, b.get(t, back))

	// A browser that keeps its cookies is refused, too.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range kept {
		request.AddCookie(cookie)
	}
	expectRefused(t, newBrowser(t).do(t, request))
}

func racingReturns(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	back := comeBack(t, s, b)
	var codes, refusals atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			response, err := b.Get(back)
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
			switch {
			case response.StatusCode == http.StatusBadRequest:
				refusals.Add(1)
			case strings.Contains(response.Header.Get("Location"), "&code="):
				codes.Add(1)
			}
		})
	}
	wg.Wait()
	if codes.Load() != 1 || refusals.Load() != 19 {
		t.Errorf("got %d codes and %d refusals, want 1 and 19", codes.Load(), refusals.Load())
	}
}

func lateReturn(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	if code := b.get(t, comeBack(t, s, b)).location(t).Query().Get("code"); code == "" {
		t.Fatal("no code")
	}
	if left := value[float64](t, s, "select extract(epoch from ends_at - now())::float8 from platform.auth_return"); left > 600 {
		t.Errorf("the browser could have come back %.0f s later, want 600 at most", left)
	}

	// Now the database's clock is ten minutes ahead, as far as this goes. The browser,
	// which should have forgotten its cookie by then, has not.
	back := comeBack(t, s, b)
	s.exec(t, `create schema ahead;
		alter function platform.auth_signin_take(bytea, timestamptz) set schema ahead;
		create function platform.auth_signin_take(hash bytea, ends_at timestamptz) returns boolean
		language sql volatile security definer set search_path = pg_catalog, pg_temp
		as $$ select ahead.auth_signin_take(hash, ends_at - interval '10 minutes') $$;
		grant execute on function platform.auth_signin_take(bytea, timestamptz) to sternpost_server`)
	expectRefused(t, b.get(t, back))
	if n := value[int](t, s, "select count(*)::int from platform.auth_return"); n != 1 {
		t.Errorf("%d returns are kept, want 1", n)
	}
}

// rowsOfPlatform counts the stored rows of sign-ins.
const rowsOfPlatform = `select (select count(*) from platform.auth_return) + (select count(*) from platform.auth_code)
	+ (select count(*) from platform.auth_family) + (select count(*) from platform.auth_failure)`

func manyDepartures(t *testing.T) {
	s, _ := start(t, "")
	address := s.authorizeURL("Main", usual())
	b := newBrowser(t)
	b.Jar = nil
	for range 1000 {
		if p := b.get(t, address); p.StatusCode != http.StatusFound || len(p.Cookies()) != 1 {
			t.Fatalf("got %d %v", p.StatusCode, p.Cookies())
		}
	}
	if n := value[int](t, s, rowsOfPlatform); n != 0 {
		t.Errorf("%d rows are kept, want none", n)
	}
}

func manyReturns(t *testing.T) {
	s, p := start(t, "")
	for i := range 100 {
		p.with(func(p *issuer) {
			p.editAnswer = func(back url.Values) {
				if back.Set("code", "junk"); i%2 == 0 {
					back.Set("error", "access_denied")
				}
			}
		})
		expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
	}
	if n := value[int](t, s, rowsOfPlatform); n != 0 {
		t.Errorf("%d rows are kept, want none", n)
	}
}

func manyCookies(t *testing.T) {
	s, _ := start(t, "")
	b := newBrowser(t)
	long := usual()
	long.Set("redirect_uri", target+"&"+random(t, 2047-len(target)))
	long.Set("state", strings.ReplaceAll(random(t, 1024), "_", "\x01"))
	for _, parameters := range []url.Values{usual(), long, usual(), long, long} {
		back := ""
		for range 12 {
			back = comeBackFrom(t, s, b, parameters)
			total := 0
			for _, cookie := range cookiesOf(t, s, b) {
				if len(cookie.Name)+len(cookie.Value) > 4096 {
					t.Errorf("the cookie %s is longer than browsers keep", cookie.Name)
				}
				total += len(cookie.String()) + len("; ")
			}
			if total > 5120 {
				t.Errorf("the browser has %d bytes of cookies, want 5120 at most", total)
			}
		}
		end := b.get(t, back).location(t)
		if end.Query().Get("code") == "" || end.Query().Get("state") != parameters.Get("state") || !strings.HasPrefix(end.String(), parameters.Get("redirect_uri")) {
			t.Errorf("the latest sign-in ends at %s", end)
		}
	}
}

// random returns that many characters that cannot be compressed by much.
func random(t *testing.T, length int) string {
	t.Helper()
	bits := make([]byte, length)
	if _, err := rand.Read(bits); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(bits)[:length]
}

// startTwo serves an application with two providers.
func startTwo(t *testing.T) (s *service, main, other *issuer) {
	t.Helper()
	main, other = newIssuer(t), newIssuer(t)
	return serve(t, options{
		settings: settings("", provider("Main", main.URL, clientID), provider("Other", other.URL, clientID)),
		env:      []string{secretOf("MAIN", clientSecret), secretOf("OTHER", clientSecret)},
	}), main, other
}

func otherCallback(t *testing.T) {
	s, _, other := startTwo(t)
	b := newBrowser(t)
	back := comeBack(t, s, b)
	asked := other.asked.Load()
	expectRefused(t, b.get(t, strings.Replace(back, "/callback/Main", "/callback/Other", 1)))
	expectRefused(t, b.get(t, back)) // being looked up has consumed it
	if other.asked.Load() != asked {
		t.Error("the other provider was sent the code")
	}
}

func otherIssuer(t *testing.T) {
	s, main, other := startTwo(t)
	main.with(func(p *issuer) { p.editAnswer = func(back url.Values) { back.Set("iss", other.URL) } })
	b := newBrowser(t)
	back := comeBack(t, s, b)
	asked := main.asked.Load()
	expectError(t, b.get(t, back).location(t), "access_denied")
	if main.asked.Load() != asked {
		t.Error("the provider was sent a code of another")
	}
	main.with(func(p *issuer) { p.editAnswer = func(back url.Values) { back.Set("iss", p.URL) } })
	if end := s.signIn(t, newBrowser(t), "Main", usual()); end.Query().Get("code") == "" {
		t.Errorf("with the right issuer the sign-in ends at %s", end)
	}
}

func missingIssuer(t *testing.T) {
	s, p := start(t, "")
	p.with(func(p *issuer) {
		p.discovery = map[string]any{"authorization_response_iss_parameter_supported": true}
	})
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
}

func otherProvidersUser(t *testing.T) {
	s, main, other := startTwo(t)
	for name, edit := range map[string]func(claims map[string]any){
		"issuer":    func(c map[string]any) { c["iss"] = other.URL },
		"audience":  func(c map[string]any) { c["aud"] = "somebody-else" },
		"audiences": func(c map[string]any) { c["aud"] = []string{clientID, "somebody-else"} },
		"party":     func(c map[string]any) { c["azp"] = "somebody-else" },
	} {
		main.with(func(p *issuer) { p.editToken = edit })
		t.Log(name)
		expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
	}
}

func reusedNonce(t *testing.T) {
	s, p := start(t, "")
	earlier := ""
	p.with(func(p *issuer) {
		p.editToken = func(c map[string]any) {
			if earlier == "" {
				earlier = c["nonce"].(string)
			}
			c["nonce"] = earlier
		}
	})
	if code := usualCode(t, s); code == "" {
		t.Fatal("no code")
	}
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
}

func missingNonce(t *testing.T) {
	s, p := start(t, "")
	p.with(func(p *issuer) { p.editToken = func(c map[string]any) { delete(c, "nonce") } })
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
}

func spoofedHost(t *testing.T) {
	s, _ := start(t, "")
	for _, path := range []string{
		"/auth/authorize/Main?" + usual().Encode(),
		"/auth/authorize/Main?redirect_uri=" + url.QueryEscape(target) + "&response_type=token",
		"/auth/authorize/Nobody",
		"/auth/callback/Main?state=x",
		"/auth/providers",
		"/.well-known/oauth-authorization-server",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		spoof(request)
		p := newBrowser(t).do(t, request)
		for name, values := range p.Header {
			if all := strings.Join(values, " "); strings.Contains(all, "evil") {
				t.Errorf("%s: %s: %s", path, name, all)
			}
		}
		if strings.Contains(p.body, "evil") {
			t.Errorf("%s: %s", path, p.body)
		}
		if location := p.Header.Get("Location"); strings.HasPrefix(path, "/auth/authorize/Main?code_challenge") &&
			!strings.Contains(location, "redirect_uri="+url.QueryEscape(s.url+"/auth/callback/Main")) {
			t.Errorf("%s: the provider is told to send the browser back by %s", path, location)
		}
	}

	// Nor the end of a sign-in, and the issuer that tokens name.
	b := newBrowser(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, comeBack(t, s, b), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.Jar.Cookies(request.URL) {
		request.AddCookie(cookie) // the jar has none for the host that is named
	}
	spoof(request)
	end := b.do(t, request).location(t)
	if !strings.HasPrefix(end.String(), target) || end.Query().Get("iss") != s.url {
		t.Errorf("the sign-in ends at %s", end)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {end.Query().Get("code")}, "code_verifier": {verifier}, "redirect_uri": {target}}
	request, err = http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/auth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	spoof(request)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var got tokens
	if err := json.Unmarshal([]byte(b.do(t, request).body), &got); err != nil || !s.isSignedIn(t, got.AccessToken) {
		t.Errorf("got %+v, %v, want a token that names this service", got, err)
	}
}

// spoof makes a request claim, in every possible way, that it went to another host.
func spoof(request *http.Request) {
	request.Host = "evil.example"
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Server", "X-Original-Host", "X-Host"} {
		request.Header.Set(name, "evil.example")
	}
	request.Header.Set("X-Forwarded-Proto", "https")
	request.Header.Set("X-Forwarded-Port", "4443")
	request.Header.Set("X-Forwarded-Prefix", "/evil.example")
	request.Header.Set("Forwarded", "host=evil.example;proto=https")
	request.Header.Set("Referer", "https://evil.example/")
}

// canary is a server that must not be called.
func canary(t *testing.T) *httptest.Server {
	t.Helper()
	var asked atomic.Int64
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		t.Errorf("%s was asked for", r.URL)
	}))
	t.Cleanup(c.Close)
	return c
}

func exchange(idToken string) url.Values {
	return url.Values{"grant_type": {"token_exchange"}, "subject_token": {idToken}}
}

func unknownIssuer(t *testing.T) {
	s, p := start(t, "")
	c := canary(t)
	host := strings.TrimPrefix(c.URL, "http://")
	for _, iss := range []any{
		c.URL, c.URL + "/", p.URL + "@" + host, p.URL + "#" + c.URL, p.URL + "?" + c.URL, p.URL + "/" + host, p.URL + "//",
		"//" + host, host, strings.ToUpper(c.URL), "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "", nil, 7,
		[]string{p.URL, c.URL}, s.url,
	} {
		expectGrant(t, s.grant(t, exchange(p.idToken(func(claims map[string]any) { claims["iss"] = iss }))), "invalid_grant")
	}
	if p.asked.Load() != 0 {
		t.Errorf("the configured provider was asked %d times, for tokens that are not its own", p.asked.Load())
	}
	expectGrant(t, s.grant(t, exchange(p.idToken(func(claims map[string]any) { claims["iss"] = p.URL + "/" }))), "")
}

func ownKeys(t *testing.T) {
	s, p := start(t, "")
	c := canary(t)
	for _, forged := range forgeries(t, p, c.URL) {
		t.Log(forged.name)
		expectGrant(t, s.grant(t, exchange(forged.token)), "invalid_grant")
	}
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "")
}

func redirectingProvider(t *testing.T) {
	c := canary(t)
	redirecting := httptest.NewServer(http.RedirectHandler(c.URL+"/.well-known/openid-configuration", http.StatusFound))
	t.Cleanup(redirecting.Close)
	s := serve(t, options{
		settings: settings("", provider("Main", redirecting.URL, clientID)),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	expectError(t, newBrowser(t).get(t, s.authorizeURL("Main", usual())).location(t), "temporarily_unavailable")
}

func foreignEndpoints(t *testing.T) {
	s, p := start(t, "")
	p.with(func(p *issuer) { p.discovery = map[string]any{"token_endpoint": "ftp://evil.example/token"} })
	expectError(t, newBrowser(t).get(t, s.authorizeURL("Main", usual())).location(t), "temporarily_unavailable")
}

func otherEmail(t *testing.T) {
	s, p := start(t, "")
	owner := s.grant(t, url.Values{"grant_type": {"password"}, "username": {"ada@example.com"}, "password": {"canary-horse"}})
	expectGrant(t, owner, "")
	got := s.grant(t, exchange(p.idToken(nil)))
	expectGrant(t, got, "")
	if !got.IdentityCreated {
		t.Error("the provider's user was taken for the one with the password")
	}
	if n := value[int](t, s, "select count(*)::int from app.identity where email = 'ada@example.com'"); n != 2 {
		t.Errorf("%d identities with the address, want 2", n)
	}
}

func takenEmail(t *testing.T) {
	s, p := start(t, "")
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "")
	p.with(func(p *issuer) { p.user["sub"] = "user-2" })
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "invalid_grant")
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
}

func crossOrigin(t *testing.T) {
	s, _ := start(t, "") // in development every origin may read what is within CORS
	for _, path := range []string{"/auth/authorize/Main?" + usual().Encode(), "/auth/callback/Main?state=x", "/auth/providers"} {
		for _, method := range []string{http.MethodGet, http.MethodOptions} {
			request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Origin", "https://app.example.com")
			request.Header.Set("Access-Control-Request-Method", "GET")
			p := newBrowser(t).do(t, request)
			isWithin := path == "/auth/providers"
			if got := p.Header.Get("Access-Control-Allow-Origin") != ""; got != isWithin {
				t.Errorf("%s %s: within CORS %v, want %v", method, path, got, isWithin)
			}
			if method == http.MethodOptions && !isWithin && p.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got %d, want 405", method, path, p.StatusCode)
			}
		}
	}
}
