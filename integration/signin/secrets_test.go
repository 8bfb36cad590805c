package signin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func secretsInLog(t *testing.T) {
	s, p := start(t, "")
	b := newBrowser(t)
	secrets := map[string]string{"client secret": clientSecret, "verifier": verifier, "provider's access token": "provider-access-canary"}

	// One of each, good and bad, at the most verbose log level.
	atProvider := b.get(t, s.authorizeURL("Main", usual())).location(t)
	cookie := cookiesOf(t, s, b)[0].Value
	back := b.get(t, atProvider.String()).location(t)
	end := b.get(t, back.String()).location(t)
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		secrets["our "+name] = atProvider.Query().Get(name)
	}
	secrets["provider's code"] = back.Query().Get("code")
	secrets["code"] = end.Query().Get("code")
	secrets["cookie"] = cookie
	got := s.redeem(t, end.Query().Get("code"), "code_verifier", verifier, "redirect_uri", target)
	secrets["access token"], secrets["refresh token"] = got.AccessToken, got.RefreshToken
	s.redeem(t, end.Query().Get("code"), "code_verifier", verifier)
	secrets["ID token"] = p.idToken(nil)
	s.grant(t, exchange(secrets["ID token"]))
	secrets["forged ID token"] = p.idToken(func(c map[string]any) { c["exp"] = 1 })
	s.grant(t, exchange(secrets["forged ID token"]))

	// A provider that refuses a code repeats it.
	p.with(func(p *issuer) { p.editAnswer = func(back url.Values) { back.Set("code", "refused-code-0123456789") } })
	secrets["refused code"] = "refused-code-0123456789"
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "access_denied")
	p.with(func(p *issuer) { p.tokenError = http.StatusBadGateway })
	expectError(t, s.signIn(t, newBrowser(t), "Main", usual()), "temporarily_unavailable")

	log := s.log.String()
	for name, secret := range secrets {
		switch {
		case len(secret) < 16:
			t.Errorf("the %s is %q: the test proves nothing", name, secret)
		case strings.Contains(log, secret):
			t.Errorf("the log holds the %s", name)
		}
	}
	if !strings.Contains(log, "sign-in failed") || !strings.Contains(log, "/auth/callback/Main") {
		t.Error("the log does not tell of the sign-ins")
	}
}

func secretsInDatabase(t *testing.T) {
	s, _ := start(t, "")
	begun := newBrowser(t)
	state := begun.get(t, s.authorizeURL("Main", usual())).location(t).Query().Get("state")
	code := s.signIn(t, newBrowser(t), "Main", usual()).Query().Get("code")
	got := s.redeem(t, usualCode(t, s), "code_verifier", verifier, "redirect_uri", target)
	secrets := map[string]string{
		"state": state, "code": code, "verifier of the client": verifier, "client secret": clientSecret,
		"access token": got.AccessToken, "refresh token": got.RefreshToken,
	}
	secrets["cookie"] = cookiesOf(t, s, begun)[0].Value
	kept := value[string](t, s, `select concat((select json_agg(t) from platform.auth_return t), (select json_agg(t) from platform.auth_code t),
		(select json_agg(t) from platform.auth_family t), (select json_agg(t) from platform.auth_refresh_token t), (select json_agg(t) from app.identity t))`)
	for name, secret := range secrets {
		if len(secret) < 16 || strings.Contains(kept, secret) {
			t.Errorf("the database holds the %s, or there is none: %q", name, secret)
		}
	}
	if len(secrets) != 7 || !strings.Contains(kept, target) {
		t.Errorf("%d secrets, in what is kept: %s", len(secrets), kept)
	}
}
