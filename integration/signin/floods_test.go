package signin

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// startProxied serves an application whose clients choose the address that they come
// from, with these limits.
func startProxied(t *testing.T, throttle string) (*service, *issuer) {
	t.Helper()
	p := newIssuer(t)
	return serve(t, options{
		settings: settings("  throttle: {"+throttle+"}\n", provider("Main", p.URL, clientID)),
		env:      []string{secretOf("MAIN", clientSecret), "STERNPOST_SERVER_TRUSTED_PROXIES=127.0.0.0/8"},
	}), p
}

// grantFrom calls the token endpoint from an address.
func (s *service) grantFrom(t *testing.T, address string, parameters url.Values) tokens {
	t.Helper()
	got, err := s.tryGrantFrom(address, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func byPassword(account, password string) url.Values {
	return url.Values{"grant_type": {"password"}, "username": {account + "@example.com"}, "password": {password}}
}

const right, wrong = "canary-horse", "canary-wrong-horse"

func expectStatus(t *testing.T, what string, got tokens, want int) {
	t.Helper()
	if got.status != want {
		t.Errorf("%s: got %+v, want %d", what, got, want)
	}
}

// manySuccesses: one account keeps logging in from one address.
func manySuccesses(t *testing.T) {
	s, _ := startProxied(t, "triesPerAccountAndAddress: 20")
	expectStatus(t, "another", s.grantFrom(t, "10.0.0.2", byPassword("ada", right)), http.StatusOK)
	accepted := 0
	for range 30 {
		if got := s.grantFrom(t, "10.0.0.1", byPassword("eve", right)); got.status == http.StatusOK {
			accepted++
		} else {
			expectStatus(t, "one too many", got, http.StatusTooManyRequests)
		}
	}
	if accepted != 20 {
		t.Errorf("%d sign-ins succeeded, want 20", accepted)
	}
	if n := value[int](t, s, "select count(*)::int from platform.auth_try"); n != 21 {
		t.Errorf("%d tries are kept, want 21", n)
	}
	expectStatus(t, "from elsewhere", s.grantFrom(t, "10.0.0.3", byPassword("eve", right)), http.StatusOK)
	expectStatus(t, "another, from there", s.grantFrom(t, "10.0.0.1", byPassword("ada", right)), http.StatusOK)
}

// lockOut: somebody fails on purpose, from many addresses, to keep the owner out.
func lockOut(t *testing.T) {
	s, _ := startProxied(t, "perAccount: 10, perAccountAndAddress: 5")
	expectStatus(t, "the owner", s.grantFrom(t, "2001:db8::1", byPassword("ada", right)), http.StatusOK) // counted as created
	for i := range 12 {
		got := s.grantFrom(t, fmt.Sprintf("10.0.0.%d", i), byPassword("ada", wrong))
		if want := map[bool]int{true: http.StatusBadRequest, false: http.StatusTooManyRequests}[i < 9]; got.status != want {
			t.Errorf("guess %d: got %+v, want %d", i, got, want)
		}
	}
	expectStatus(t, "a guesser who would be right", s.grantFrom(t, "10.0.0.1", byPassword("ada", right)), http.StatusTooManyRequests)
	expectStatus(t, "the owner", s.grantFrom(t, "2001:db8::1", byPassword("ada", right)), http.StatusOK)
	expectStatus(t, "the owner, of whose network the address is", s.grantFrom(t, "2001:db8::2", byPassword("ada", right)), http.StatusOK)
	expectStatus(t, "somebody in another network", s.grantFrom(t, "2001:db8:0:1::1", byPassword("ada", right)), http.StatusTooManyRequests)
	s.exec(t, "update platform.auth_known_address set signed_in_at = now() - interval '30 days'")
	expectStatus(t, "the owner after thirty days", s.grantFrom(t, "2001:db8::1", byPassword("ada", right)), http.StatusTooManyRequests)
}

// junkTokens: refused tokens block no caller, not even at the same address.
func junkTokens(t *testing.T) {
	s, p := startProxied(t, "perAddress: 10")
	const here = "10.0.0.1"
	session := s.grantFrom(t, here, byPassword("ada", right))
	expectStatus(t, "the owner", session, http.StatusOK)
	for i := range 30 {
		junk := []url.Values{
			{"grant_type": {"refresh_token"}, "refresh_token": {fmt.Sprintf("%043d", i)}},
			{"grant_type": {"authorization_code"}, "code": {"junk"}},
			exchange("a.b.c"),
		}[i%3]
		want := http.StatusBadRequest
		if i >= 10 {
			want = http.StatusTooManyRequests
		}
		expectStatus(t, "junk", s.grantFrom(t, here, junk), want)
	}
	if n := value[int](t, s, "select count(*)::int from platform.auth_failure where kind = 'token'"); n != 10 {
		t.Errorf("%d refusals are kept, want 10", n)
	}
	everybody := func(when string) {
		t.Helper()
		session = s.grantFrom(t, here, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {session.RefreshToken}})
		expectStatus(t, when+", a refresh token", session, http.StatusOK)
		expectStatus(t, when+", an ID token", s.grantFrom(t, here, exchange(p.idToken(nil))), http.StatusOK)
		code := usualCode(t, s)
		expectStatus(t, when+", a code", s.grantFrom(t, here, url.Values{"grant_type": {"authorization_code"}, "code": {code},
			"code_verifier": {verifier}, "redirect_uri": {target}}), http.StatusOK)
	}
	everybody("after junk")
	expectStatus(t, "a password after junk", s.grantFrom(t, here, byPassword("ada", right)), http.StatusOK)

	// Nor do guessed passwords, which are counted with new identities.
	for i := range 12 {
		s.grantFrom(t, here, byPassword(fmt.Sprint("nobody", i), "canary0")) // too short, so that nobody is created
	}
	expectStatus(t, "a password after guesses", s.grantFrom(t, here, byPassword("ada", right)), http.StatusTooManyRequests)
	p.with(func(p *issuer) { p.user["sub"], p.user["email"] = "somebody new", "new@example.com" })
	everybody("after guesses")
}

// later lets some time pass for superseded tokens.
func (s *service) later(t *testing.T) {
	t.Helper()
	s.exec(t, "update platform.auth_refresh_token set superseded_at = superseded_at - interval '61 seconds'")
}

func manyRefreshes(t *testing.T) {
	s, p := start(t, "")
	token := s.grant(t, exchange(p.idToken(nil))).RefreshToken
	for i := range 150 {
		got := s.refresh(t, token)
		if got.status != http.StatusOK {
			t.Fatalf("refresh %d: got %+v", i, got)
		}
		token = got.RefreshToken
	}
	if n := value[int](t, s, "select count(*)::int from platform.auth_refresh_token"); n > 31 {
		t.Errorf("%d refresh tokens are kept, want 31 at most", n)
	}
	s.later(t)
	if got := s.refresh(t, token); got.status != http.StatusOK || got.RefreshToken == token {
		t.Errorf("a minute later: got %+v, want another token", got)
	}
	if n := value[int](t, s, "select count(*)::int from platform.auth_refresh_token"); n > 3 {
		t.Errorf("a minute later %d refresh tokens are kept, want 3 at most", n)
	}
}

func lateVictim(t *testing.T) {
	s, p := start(t, "")
	stolen := s.grant(t, exchange(p.idToken(nil))).RefreshToken
	thief := stolen
	for range 5 {
		got := s.refresh(t, thief)
		expectGrant(t, got, "")
		thief = got.RefreshToken
		s.later(t)
	}
	expectGrant(t, s.refresh(t, stolen), "invalid_grant")
	expectGrant(t, s.refresh(t, thief), "invalid_grant")
}

func manySignIns(t *testing.T) {
	s, p := start(t, "")
	oldest, idToken := "", p.idToken(nil)
	for i := range 110 {
		got := s.grant(t, exchange(idToken))
		expectGrant(t, got, "")
		if i == 0 {
			oldest = got.RefreshToken
		}
		if i > 90 { // those that are revoked count, too
			s.revoke(t, got.RefreshToken)
		}
	}
	if n := value[int](t, s, "select count(*)::int from platform.auth_family"); n != 100 {
		t.Errorf("%d families are kept, want 100", n)
	}
	expectGrant(t, s.refresh(t, oldest), "")
	for range 100 {
		expectGrant(t, s.grant(t, exchange(idToken)), "")
	}
	expectGrant(t, s.refresh(t, oldest), "invalid_grant")
}

func (s *service) revoke(t *testing.T, token string) {
	t.Helper()
	response, err := http.PostForm(s.url+"/auth/revoke", map[string][]string{"token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("revoke: got %d", response.StatusCode)
	}
}
