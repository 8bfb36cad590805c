package signin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"
	"golang.org/x/oauth2"
)

const target = "http://127.0.0.1:9/done?tab=1"

// start serves an application with one provider that the test controls.
func start(t *testing.T, more string, env ...string) (*service, *issuer) {
	t.Helper()
	p := newIssuer(t)
	s := serve(t, options{
		settings: settings(more, provider("Main", p.URL, clientID)),
		env:      append(env, secretOf("MAIN", clientSecret)),
	})
	return s, p
}

// TestMockOIDC logs in at a third-party provider.
func TestMockOIDC(t *testing.T) {
	t.Parallel()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	s := serve(t, options{
		settings: settings("", provider("mock", m.Issuer(), m.ClientID)),
		env:      []string{secretOf("MOCK", m.ClientSecret)},
	})

	b := newBrowser(t)
	verifier := oauth2.GenerateVerifier()
	parameters := url.Values{
		"redirect_uri": {target}, "state": {"a state"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
	var id string
	for round, isNew := range []bool{true, false} {
		end := s.signIn(t, b, "mock", parameters)
		query := end.Query()
		if !strings.HasPrefix(end.String(), target+"&") || query.Get("state") != "a state" || query.Get("iss") != s.url || query.Get("error") != "" {
			t.Fatalf("round %d: the browser ends at %s", round, end)
		}
		got := s.redeem(t, query.Get("code"), "code_verifier", verifier, "redirect_uri", target)
		if got.status != http.StatusOK || got.IdentityCreated != isNew || !s.isSignedIn(t, got.AccessToken) {
			t.Fatalf("round %d: got %+v, want tokens with identity_created %v", round, got, isNew)
		}
		if got = s.refresh(t, got.RefreshToken); got.status != http.StatusOK || got.IdentityCreated {
			t.Errorf("round %d: refresh: got %+v, want tokens", round, got)
		}
		id = value[string](t, s, "select id from app.identity")
	}
	if got := value[string](t, s, "select issuer || ' ' || external_id || ' ' || email || ' ' || email_verified from app.identity where id = $1", id); got !=
		m.Issuer()+" 1234567890 jane.doe@example.com true" {
		t.Errorf("the identity: got %s", got)
	}
}

// TestFormPost logs in at a provider that hands its answer to the browser as a form to
// post.
func TestFormPost(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s := serve(t, options{
		settings: settings("", provider("Main", p.URL, clientID, "responseMode: form_post")),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	b := newBrowser(t)
	begun := b.get(t, s.authorizeURL("Main", usual()))
	atProvider := begun.location(t)
	if got := atProvider.Query().Get("response_mode"); got != "form_post" {
		t.Errorf("response_mode: got %q, want form_post", got)
	}
	if got := begun.Header.Get("Set-Cookie"); !strings.HasSuffix(got, "; HttpOnly; SameSite=None") {
		t.Errorf("Set-Cookie: got %q, want one that other sites' forms bring", got)
	}
	answer := b.get(t, atProvider.String()).location(t).Query()
	ended := b.post(t, s.url+"/auth/callback/Main", answer)
	if end := ended.location(t); ended.StatusCode != http.StatusSeeOther || end.Query().Get("code") == "" {
		t.Errorf("the form is answered with %d to %s", ended.StatusCode, end)
	}
	expectRefused(t, b.post(t, s.url+"/auth/callback/Main", answer))
	expectRefused(t, b.post(t, s.url+"/auth/callback/Main", url.Values{"state": {answer.Get("state"), "x"}}))
}

// TestCookie tests the form of the cookie, and that sign-ins run side by side.
func TestCookie(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	for base, want := range map[string]*regexp.Regexp{
		"":                        regexp.MustCompile(`^sternpost-signin-[0-9a-f]{12}=[\w-]{300,700}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax$`),
		"https://api.example.com": regexp.MustCompile(`^__Host-sternpost-signin-[0-9a-f]{12}=[\w-]{300,700}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$`),
	} {
		s := serve(t, options{
			settings: settings("", provider("Main", p.URL, clientID)),
			env:      []string{secretOf("MAIN", clientSecret)},
			baseURL:  base,
		})
		first := newBrowser(t).get(t, s.authorizeURL("Main", usual()))
		if cookies := first.Header.Values("Set-Cookie"); len(cookies) != 1 || !want.MatchString(cookies[0]) {
			t.Errorf("with base URL %q: got %q, want %s", base, cookies, want)
		}
	}

	s, _ := start(t, "")
	b := newBrowser(t)
	var backs []string
	for range 6 {
		backs = append(backs, comeBack(t, s, b))
	}
	for _, i := range []int{3, 0, 5, 1, 2, 4} {
		if end := b.get(t, backs[i]).location(t); end.Query().Get("code") == "" {
			t.Errorf("side by side: sign-in %d ends at %s", i, end)
		}
	}
	if left := cookiesOf(t, s, b); len(left) > 0 {
		t.Errorf("the browser still has %v", left)
	}
}

// TestLongestDeparture tests that the longest allowed request of a client arrives, of
// characters that no encoding shortens.
func TestLongestDeparture(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "")
	parameters := url.Values{
		"redirect_uri":          {target + "&" + random(t, 2047-len(target))},
		"state":                 {random(t, 1024)},
		"code_challenge":        {random(t, 128)},
		"code_challenge_method": {"plain"},
	}
	b := newBrowser(t)
	back := comeBackFrom(t, s, b, parameters)
	if cookies := cookiesOf(t, s, b); len(cookies) != 2 {
		t.Errorf("got %d cookies, want 2", len(cookies))
	}
	end := b.get(t, back).location(t)
	if end.Query().Get("state") != parameters.Get("state") || !strings.HasPrefix(end.String(), parameters.Get("redirect_uri")+"&") {
		t.Fatalf("the sign-in ends at %s", end)
	}
	expectGrant(t, s.redeem(t, end.Query().Get("code"), "code_verifier", parameters.Get("code_challenge"), "redirect_uri", parameters.Get("redirect_uri")), "")

	// With one of the two cookies the browser is not known.
	back = comeBackFrom(t, s, b, parameters)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(cookiesOf(t, s, b)[0])
	expectRefused(t, newBrowser(t).do(t, request))
}

// TestAuthorizeRequest tests the request to the provider.
func TestAuthorizeRequest(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s := serve(t, options{
		settings: settings("", provider("Main", p.URL, clientID, "scopes: [groups]")),
		env:      []string{secretOf("MAIN", clientSecret)},
	})
	begun := newBrowser(t).get(t, s.authorizeURL("Main", usual()))
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
		if got := begun.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if begun.StatusCode != http.StatusFound || begun.Header.Get("X-Request-Id") == "" || begun.body != "" {
		t.Errorf("got %d %v %q", begun.StatusCode, begun.Header, begun.body)
	}
	q := begun.location(t).Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": s.url + "/auth/callback/Main",
		"scope": "openid groups", "code_challenge_method": "S256",
	} {
		if got := q.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if got := q.Get(name); len(got) != 43 || got == usual().Get(name) {
			t.Errorf("%s: got %q, want 43 characters of ours", name, got)
		}
	}
}

// TestAuthorizeErrors tests the errors for invalid requests of a client.
func TestAuthorizeErrors(t *testing.T) {
	t.Parallel()
	s, p := start(t, "")
	long := strings.Repeat("s", 1025)
	for query, want := range map[string]string{
		"state=a&state=b":                   "invalid_request",
		"state=" + long:                     "invalid_request",
		"state=a%00b":                       "invalid_request",
		"code_challenge=a&code_challenge=b": "invalid_request",
		"code_challenge_method=S256&code_challenge_method=S256&code_challenge=" + usual().Get("code_challenge"): "invalid_request",
		"response_type=code&response_type=id": "invalid_request",
		"response_type=token":                 "unsupported_response_type",
		"response_type=code+id_token":         "unsupported_response_type",
		"response_type=code":                  "",
		"response_type=":                      "",
		"unknown=1&unknown=2":                 "",
		"state=" + long[1:]:                   "",
	} {
		to := newBrowser(t).get(t, s.url+"/auth/authorize/Main?redirect_uri="+url.QueryEscape(target)+"&"+query).location(t)
		if want == "" {
			if !strings.HasPrefix(to.String(), p.URL) {
				t.Errorf("%s: the browser is sent to %s, want the provider", query, to)
			}
			continue
		}
		expectError(t, to, want)
	}
	to := newBrowser(t).get(t, s.url+"/auth/authorize/Main?state=a+b&response_type=token&redirect_uri="+url.QueryEscape(target)).location(t)
	if got := to.Query().Get("state"); got != "a b" {
		t.Errorf("the state comes back as %q", got)
	}
	expectRefused(t, newBrowser(t).get(t, s.url+"/auth/authorize/Main?redirect_uri=%zz"))

	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		request, err := http.NewRequestWithContext(t.Context(), method, s.authorizeURL("Main", usual()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := newBrowser(t).do(t, request); p.StatusCode != http.StatusMethodNotAllowed || p.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got %d, Allow %q", method, p.StatusCode, p.Header.Get("Allow"))
		}
	}
}

// TestCallbackErrors tests the errors for a client whose provider refuses.
func TestCallbackErrors(t *testing.T) {
	t.Parallel()
	s, p := start(t, "")
	for _, c := range []struct {
		name   string
		change func(p *issuer)
		want   string
	}{
		{"the user says no", func(p *issuer) {
			p.editAnswer = func(v url.Values) { v.Del("code"); v.Set("error", "access_denied") }
		}, "access_denied"},
		{"the provider is at a loss", func(p *issuer) {
			p.editAnswer = func(v url.Values) { v.Del("code"); v.Set("error", "interaction_required") }
		}, "server_error"},
		{"the provider sends nothing", func(p *issuer) { p.editAnswer = func(v url.Values) { v.Del("code") } }, "access_denied"},
		{"the provider does not know its code", func(p *issuer) { p.editAnswer = func(v url.Values) { v.Set("code", "x") } }, "access_denied"},
		{"the provider is broken", func(p *issuer) { p.tokenError = http.StatusInternalServerError }, "temporarily_unavailable"},
		{"the provider is overrun", func(p *issuer) { p.tokenError = http.StatusTooManyRequests }, "temporarily_unavailable"},
		{"the provider refuses this client", func(p *issuer) { p.tokenError = http.StatusUnauthorized }, "access_denied"},
		{"the ID token has expired", func(p *issuer) { p.editToken = func(c map[string]any) { c["exp"] = 1 } }, "access_denied"},
	} {
		p.with(func(p *issuer) { p.editAnswer, p.editToken, p.tokenError = nil, nil, 0; c.change(p) })
		t.Log(c.name)
		end := s.signIn(t, newBrowser(t), "Main", usual())
		expectError(t, end, c.want)
		if got := end.Query().Get("state"); got != "client-state" {
			t.Errorf("the state comes back as %q", got)
		}
		if got := end.Query().Get("iss"); got != s.url {
			t.Errorf("iss: got %q, want %q", got, s.url)
		}
	}
}

// TestCallbackFailures tests the errors for a client when this service fails.
func TestCallbackFailures(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "")
	b := newBrowser(t)
	back := comeBack(t, s, b)
	s.exec(t, "alter table platform.auth_code add constraint broken check (expires_at < '2000-01-01') not valid")
	expectError(t, b.get(t, back).location(t), "server_error")
	s.exec(t, "alter table platform.auth_code drop constraint broken")

	// While the browser is not known, it is not sent on with an error either.
	back = comeBack(t, s, b)
	s.exec(t, "alter table platform.auth_return rename to hidden")
	if p := b.get(t, back); p.StatusCode != http.StatusInternalServerError || p.Header.Get("Location") != "" ||
		p.body != `{"error":"server_error","error_description":"an internal error occurred"}` {
		t.Errorf("got %d %s to %q", p.StatusCode, p.body, p.Header.Get("Location"))
	}
	s.exec(t, "alter table platform.hidden rename to auth_return")
	if code := b.get(t, back).location(t).Query().Get("code"); code == "" {
		t.Error("no code once it works again")
	}
}

// TestInternalProvider tests that a provider that is not offered to users works.
func TestInternalProvider(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s := serve(t, options{
		settings: settings("", provider("Hidden", p.URL, clientID, "internal: true")),
		env:      []string{secretOf("HIDDEN", clientSecret)},
	})
	for _, path := range []string{"/auth/providers", "/.well-known/oauth-authorization-server"} {
		if got := newBrowser(t).get(t, s.url+path).body; strings.Contains(got, "Hidden") || strings.Contains(got, "authorization_endpoint") {
			t.Errorf("%s: got %s", path, got)
		}
	}
	if end := s.signIn(t, newBrowser(t), "Hidden", usual()); end.Query().Get("code") == "" {
		t.Errorf("the sign-in ends at %s", end)
	}
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "")
}

// TestClaims tests which claims of an ID token are stored.
func TestClaims(t *testing.T) {
	t.Parallel()
	s, p := start(t, "")
	p.with(func(p *issuer) {
		p.user = map[string]any{
			"sub": "user-1", "email": "Ada@EXAMPLE.com", "email_verified": "true", "name": "Ada Lovelace", "given_name": "Ada",
			"family_name": "Lovelace", "middle_name": "", "nickname": "ada", "profile": "https://example.com/ada",
			"picture": strings.Repeat("p", 2049), "website": []string{"a"}, "gender": map[string]any{}, "zoneinfo": "Europe/London",
			"locale": nil, "https://example.com/team": true, "seat": json.Number("12.50"), "password": "taken", "id": "chosen",
		}
	})
	first := s.grant(t, exchange(p.idToken(nil)))
	expectGrant(t, first, "")
	const columns = `select json_strip_nulls(row_to_json(identity))::jsonb - '{id,created_at,updated_at,issuer}'::text[] from app.identity`
	want := map[string]any{
		"external_id": "user-1", "email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace", "given_name": "Ada",
		"family_name": "Lovelace", "nick_name": "ada", "profile": "https://example.com/ada", "zone_info": "Europe/London",
		"team": "true", "seat_number": "12.50",
	}
	if got := value[map[string]any](t, s, columns); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}

	// The provider's next token counts, also for claims that are missing in it.
	p.with(func(p *issuer) {
		p.user = map[string]any{"sub": "user-1", "name": strings.Repeat("n", 2048), "seat": 7}
	})
	if got := s.grant(t, exchange(p.idToken(nil))); got.IdentityCreated || got.status != http.StatusOK {
		t.Errorf("again: got %+v, want the same identity", got)
	}
	want = map[string]any{"external_id": "user-1", "email_verified": false, "name": strings.Repeat("n", 2048), "seat_number": "7"}
	if got := value[map[string]any](t, s, columns); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestTokenExchange tests the forms of the grant.
func TestTokenExchange(t *testing.T) {
	t.Parallel()
	s, p := start(t, "")
	const (
		grantURN  = "urn:ietf:params:oauth:grant-type:token-exchange"
		idURN     = "urn:ietf:params:oauth:token-type:id_token"
		accessURN = "urn:ietf:params:oauth:token-type:access_token"
	)
	ask := func(pairs ...string) tokens {
		t.Helper()
		parameters := exchange(p.idToken(nil))
		for i := 0; i+1 < len(pairs); i += 2 {
			parameters.Set(pairs[i], pairs[i+1])
		}
		return s.grant(t, parameters)
	}
	expectGrant(t, ask("create_if_not_exists", "false"), "invalid_grant")
	if n := value[int](t, s, "select count(*)::int from app.identity"); n != 0 {
		t.Errorf("%d identities, want none", n)
	}
	for i, c := range [][]string{
		{"grant_type", grantURN, "subject_token_type", idURN, "requested_token_type", accessURN},
		{"subject_token_type", "id_token", "requested_token_type", "access_token"},
		{"create_if_not_exists", "false"},
		{},
	} {
		got := ask(c...)
		isURN := i == 0
		if got.status != http.StatusOK || got.IdentityCreated != isURN || (got.IssuedTokenType == accessURN) != isURN || !isURN && got.IssuedTokenType != "" {
			t.Errorf("%v: got %+v", c, got)
		}
		if !s.isSignedIn(t, got.AccessToken) {
			t.Errorf("%v: the access token is not accepted", c)
		}
	}
	expectGrant(t, ask("subject_token_type", accessURN), "unsupported_token_type")
	expectGrant(t, ask("requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"), "unsupported_token_type")
	expectGrant(t, ask("subject_token", ""), "invalid_request")

	// With known keys, a provider may be away.
	p.Close()
	expectGrant(t, ask(), "")
}

// TestProviderProves signs in with addresses that a provider can prove, and with others.
func TestProviderProves(t *testing.T) {
	t.Parallel()
	p, own := newIssuer(t), newIssuer(t)
	s := serve(t, options{settings: "  providers:\n" + provider("any", p.URL, clientID) + provider("own", own.URL, clientID, "emailDomains: [Own.example]")})
	for i, test := range []struct {
		issuer   *issuer
		email    string
		isProven bool
	}{
		{p, "ada@Staff.example", true},
		{p, "@staff.example", false},
		{p, "x@evil.example,y@staff.example", false},
		{p, "Ada <ada@staff.example>", false},
		{own, "ada@own.example", true},
		{own, "ada@staff.example", false},
		{own, "ada@sub.own.example", false},
		{own, "ada@staff.example@own.example", false},
	} {
		got := s.grant(t, exchange(test.issuer.idToken(func(c map[string]any) { c["sub"], c["email"] = fmt.Sprint(i), test.email })))
		if got.status != http.StatusOK {
			t.Fatalf("%s: got %+v", test.email, got)
		}
		isStaff := strings.HasSuffix(strings.ToLower(test.email), "@staff.example") && test.isProven
		if is := s.act(t, got.AccessToken, "listVerifiedNotes", nil).status == http.StatusOK; is != test.isProven {
			t.Errorf("%s: proven %t, want %t", test.email, is, test.isProven)
		}
		s.exec(t, `update app.identity set email_verified = true where external_id = '`+fmt.Sprint(i)+`' and issuer = '`+p.URL+`'`)
		if is := s.act(t, got.AccessToken, "listAllNotes", nil).status == http.StatusOK; is != isStaff {
			t.Errorf("%s: has the role %t, want %t", test.email, is, isStaff)
		}
	}

	// With and without a slash at the end it is the same issuer.
	for range 2 {
		for _, slash := range []string{"/", ""} {
			got := s.grant(t, exchange(p.idToken(func(c map[string]any) { c["iss"], c["sub"], c["email"] = p.URL+slash, "same", "same@example.com" })))
			if got.status != http.StatusOK {
				t.Errorf("issuer with %q: got %+v", slash, got)
			}
		}
	}
	if n := value[int](t, s, `select count(*)::int from app.identity where external_id = 'same'`); n != 1 {
		t.Errorf("one person has %d identities", n)
	}
}

// TestProviderAway tests the error for a client when nothing is known of a provider.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	s, p := start(t, "")
	p.Close()
	got := newBrowser(t).post(t, s.url+"/auth/token", exchange(p.idToken(nil)))
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
		got.body != `{"error":"temporarily_unavailable","error_description":"the provider cannot be reached"}` {
		t.Errorf("token_exchange: got %d %s, Retry-After %q, want 503", got.StatusCode, got.body, got.Header.Get("Retry-After"))
	}
	expectError(t, newBrowser(t).get(t, s.authorizeURL("Main", usual())).location(t), "temporarily_unavailable")
}

// TestWithoutSecret tests that a provider without secret has its ID tokens accepted, and
// no browser is sent to it.
func TestWithoutSecret(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s := serve(t, options{settings: settings("", provider("Main", p.URL, clientID))})
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "")
	begun := newBrowser(t).get(t, s.authorizeURL("Main", usual()))
	expectRefused(t, begun)
	if !strings.Contains(begun.body, "without a secret") {
		t.Errorf("got %s, want that it says what is missing", begun.body)
	}
	expectRefused(t, newBrowser(t).get(t, s.url+"/auth/callback/Main?state=x&code=y"))
}

// TestThrottledSignUp tests that identities from providers count, too.
func TestThrottledSignUp(t *testing.T) {
	t.Parallel()
	s, p := start(t, "  throttle: {perAddress: 1}\n")
	expectGrant(t, s.grant(t, exchange(p.idToken(nil))), "")
	p.with(func(p *issuer) { p.user = map[string]any{"sub": "user-2"} })
	if got := s.grant(t, exchange(p.idToken(nil))); got.status != http.StatusTooManyRequests {
		t.Errorf("token_exchange: got %+v, want 429", got)
	}
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "temporarily_unavailable")
	p.with(func(p *issuer) { p.user = map[string]any{"sub": "user-1"} })
	if end := s.signIn(t, newBrowser(t), "Main", usual()); end.Query().Get("code") == "" {
		t.Errorf("the sign-in of somebody known ends at %s", end)
	}
}
