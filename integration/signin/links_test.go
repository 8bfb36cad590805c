package signin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// linkable is a service with a provider, whose one user is user-1.
func linkable(t *testing.T) (*service, *issuer) {
	t.Helper()
	p := newIssuer(t)
	return serve(t, options{settings: settings("", provider("Main", p.URL, clientID)), env: []string{secretOf("MAIN", clientSecret)}}), p
}

// verified is an account whose address is proven.
func (s *service) verified(t *testing.T, email string) tokens {
	t.Helper()
	got := s.signUp(t, email, "correct-canary")
	s.exec(t, `update app.identity set email_verified = true where email = $1`, email)
	return got
}

// startLink begins a link, and returns the parameters for the browser.
func (s *service) startLink(t *testing.T, token string) url.Values {
	t.Helper()
	got := s.act(t, token, "startProviderLink", nil)
	link := strings.TrimSuffix(strings.TrimPrefix(got.body, `{"link":"`), `"}`)
	if got.status != http.StatusOK || link == got.body {
		t.Fatalf("startProviderLink: got %d %s", got.status, got.body)
	}
	parameters := usual()
	parameters.Set("link", link)
	return parameters
}

// linkCode lets a browser go to the provider for a link, and returns what it brings back.
func (s *service) linkCode(t *testing.T, token string) map[string]string {
	t.Helper()
	end := s.signIn(t, newBrowser(t), "Main", s.startLink(t, token))
	if end.Query().Get("code") == "" || end.Query().Get("state") != "client-state" || end.Query().Get("iss") != s.url {
		t.Fatalf("the browser ends at %s", end)
	}
	return map[string]string{"code": end.Query().Get("code"), "codeVerifier": verifier, "redirectUri": target}
}

func (s *service) links(t *testing.T) int {
	t.Helper()
	return value[int](t, s, `select count(*)::int from platform.auth_link`)
}

// age makes the last credential of all sessions too old for a change.
func (s *service) age(t *testing.T) {
	t.Helper()
	s.exec(t, `update platform.auth_family set created_at = created_at - interval '6 minutes', shown_at = shown_at - interval '6 minutes', second_at = second_at - interval '6 minutes'`)
}

// TestLinkProvider links an account to a provider, signs in through it, and ends the link.
func TestLinkProvider(t *testing.T) {
	t.Parallel()
	s, p := linkable(t)
	ada := s.verified(t, "ada@here.example")
	s.must(t, ada.AccessToken, "confirmProviderLink", s.linkCode(t, ada.AccessToken))
	if got := s.act(t, ada.AccessToken, "listProviderLinks", nil); !strings.Contains(got.body, `"provider":"Main"`) {
		t.Errorf("the links: got %d %s", got.status, got.body)
	}
	in := s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", target)
	if in.status != 200 || in.IdentityCreated {
		t.Fatalf("a sign-in through the provider: got %+v", in)
	}
	exchanged := s.grant(t, url.Values{"grant_type": {"token_exchange"}, "subject_token": {p.idToken(nil)}})
	if exchanged.status != 200 || exchanged.IdentityCreated {
		t.Errorf("an ID token: got %+v", exchanged)
	}
	if got := value[string](t, s, `select string_agg(email || ' ' || coalesce(name, '-'), ',') from app.identity`); got != "ada@here.example -" {
		t.Errorf("the identities: got %s, want one without claims of the provider", got)
	}

	s.must(t, in.AccessToken, "removeProviderLink", map[string]string{"provider": "Main"})
	s.refused(t, in.AccessToken, "removeProviderLink", map[string]string{"provider": "Main"}, 409, "is not linked")
	if after := s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", target); !after.IdentityCreated {
		t.Errorf("a sign-in after the end of the link: got %+v, want another identity", after)
	}
	s.exec(t, `delete from app.identity where email = 'ada@example.com'`)

	// A new password, and the end of the account, end the links.
	s.must(t, ada.AccessToken, "confirmProviderLink", s.linkCode(t, ada.AccessToken))
	s.exec(t, `delete from app.identity`)
	if s.links(t) != 0 {
		t.Error("a deleted identity keeps its link")
	}
}

// TestLinkAttacks are ways to sign in to an account through a provider that its owner has not linked, or to make it so.
func TestLinkAttacks(t *testing.T) {
	t.Parallel()
	s, _ := linkable(t)
	ada, eve := s.verified(t, "ada@here.example"), s.verified(t, "eve@evil.example")
	confirm := func(what, token string, input map[string]string, status int, text string) {
		t.Helper()
		if got := s.act(t, token, "confirmProviderLink", input); got.status != status || !strings.Contains(got.body, text) {
			t.Errorf("%s: got %d %s, want %d and %s", what, got.status, got.body, status, text)
		}
	}
	const invalid = `"field":"code","code":"incorrect"`
	with := func(input map[string]string, name, text string) map[string]string {
		changed := map[string]string{}
		for k, v := range input {
			changed[k] = v
		}
		changed[name] = text
		return changed
	}

	// Login CSRF: the code of another session, in either direction.
	code := s.linkCode(t, eve.AccessToken)
	confirm("the code of another's session", ada.AccessToken, code, 400, invalid)
	confirm("nobody's session", "", code, 403, "ERR_PERMISSION_DENIED")
	another := s.password(t, "eve@evil.example", "correct-canary")
	confirm("the code of another session of the same account", another.AccessToken, code, 400, invalid)
	confirm("another verifier", eve.AccessToken, with(code, "codeVerifier", strings.Repeat("x", 43)), 400, invalid)
	confirm("no verifier", eve.AccessToken, with(code, "codeVerifier", ""), 400, invalid)
	confirm("another redirect URI", eve.AccessToken, with(code, "redirectUri", "http://localhost/other"), 400, invalid)
	confirm("a changed code", eve.AccessToken, with(code, "code", code["code"][1:]), 400, invalid)
	start := s.startLink(t, eve.AccessToken)
	confirm("a link that was not at the provider", eve.AccessToken, with(code, "code", start.Get("link")), 400, invalid)
	if got := s.redeem(t, code["code"], "code_verifier", verifier, "redirect_uri", target); got.Error != "invalid_grant" {
		t.Errorf("the code of a link at the token endpoint: got %+v", got)
	}
	confirm("the code of a sign-in", eve.AccessToken, with(code, "code", usualCode(t, s)), 400, invalid)
	s.exec(t, `delete from app.identity where email = 'ada@example.com'`)

	// The browser: another one, and the same one twice.
	b := newBrowser(t)
	atProvider := b.get(t, s.authorizeURL("Main", start)).location(t)
	back := b.get(t, atProvider.String()).location(t)
	expectRefused(t, newBrowser(t).get(t, back.String()))
	if end := b.get(t, back.String()).location(t); end.Query().Get("code") == "" {
		t.Errorf("the browser that left ends at %s", end)
	}
	expectRefused(t, b.get(t, back.String()))
	for what, link := range map[string]string{"a link of nobody": "x", "the code of a link": code["code"]} {
		parameters := usual()
		parameters.Set("link", link)
		if end := b.get(t, s.authorizeURL("Main", parameters)).location(t); end.Query().Get("error") != "invalid_request" {
			t.Errorf("%s begins: the browser ends at %s", what, end)
		}
	}

	// A credential of the last five minutes, at the beginning and at the end.
	late := s.linkCode(t, ada.AccessToken)
	s.age(t)
	s.refused(t, ada.AccessToken, "startProviderLink", nil, 403, `"needs":"recentSignIn"`)
	confirm("a session without a recent credential", ada.AccessToken, late, 403, `"needs":"recentSignIn"`)
	ada = s.password(t, "ada@here.example", "correct-canary")
	_, _ = s.protect(t, ada.AccessToken)
	withFactor := s.linkCode(t, ada.AccessToken)
	s.age(t)
	confirm("a session without a recent second factor", ada.AccessToken, withFactor, 403, `"needs":`)
	s.exec(t, `update platform.auth_family set second_at = now()`)

	// Whose the provider's identity is.
	eve = s.password(t, "eve@evil.example", "correct-canary")
	own := s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", target)
	confirm("an identity of the provider that is an account", eve.AccessToken, s.linkCode(t, eve.AccessToken), 409, "belongs to another identity")
	s.refused(t, own.AccessToken, "removeProviderLink", map[string]string{"provider": "Main"}, 409, "is not linked")
	s.exec(t, `delete from app.identity where email = 'ada@example.com'`)
	if s.links(t) != 0 {
		t.Fatalf("%d links before any is right", s.links(t))
	}
	confirm("the right one", eve.AccessToken, s.linkCode(t, eve.AccessToken), 200, "{}")
	confirm("an identity of the provider that is linked", ada.AccessToken, s.linkCode(t, ada.AccessToken), 409, "belongs to another identity")
	squatter := s.signUp(t, "victim@here.example", "correct-canary")
	confirm("an account whose address is not proven", squatter.AccessToken, s.linkCode(t, squatter.AccessToken), 409, "is not verified")

	// Never the last way in, and not without a recent credential.
	s.exec(t, `update app.identity set password = null where email = 'eve@evil.example'`)
	s.refused(t, eve.AccessToken, "removeProviderLink", map[string]string{"provider": "Main"}, 409, "could not sign in any more")
	s.age(t)
	s.refused(t, eve.AccessToken, "removeProviderLink", map[string]string{"provider": "Main"}, 403, `"needs":"recentSignIn"`)
	if s.links(t) != 1 {
		t.Errorf("%d links in the end, want 1", s.links(t))
	}
}

// TestResetEndsLinks sets a new password: whoever had linked a provider before is locked out.
func TestResetEndsLinks(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	s, mails := withMail(t, options{settings: settings("", provider("Main", p.URL, clientID)), env: []string{secretOf("MAIN", clientSecret)}})
	ada := s.verified(t, "ada@here.example")
	s.must(t, ada.AccessToken, "confirmProviderLink", s.linkCode(t, ada.AccessToken))
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@here.example", "redirectUrl": redirectTo})
	_, token := await(t, mails, 0)
	s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "battery-canary"})
	if s.links(t) != 0 {
		t.Error("the link goes on")
	}
}
