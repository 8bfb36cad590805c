package signin

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// authenticator is an app that shows codes.
type authenticator struct{ key []byte }

// code returns the code of the step that many steps from now.
func (a authenticator) code(steps int64) string {
	mac := hmac.New(sha1.New, a.key)
	_ = binary.Write(mac, binary.BigEndian, time.Now().Unix()/30+steps)
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1000000)
}

// propose begins with a new app.
func (s *service) propose(t *testing.T, token string) authenticator {
	t.Helper()
	got := s.act(t, token, "startAuthenticator", nil)
	var answer struct{ OtpauthURL string }
	if err := json.Unmarshal([]byte(got.body), &answer); got.status != http.StatusOK || err != nil {
		t.Fatalf("startAuthenticator: got %d %s", got.status, got.body)
	}
	address, err := url.Parse(answer.OtpauthURL)
	if err != nil || address.Scheme != "otpauth" || address.Host != "totp" {
		t.Fatalf("got the address %s, %v", answer.OtpauthURL, err)
	}
	key, err := base32.StdEncoding.DecodeString(address.Query().Get("secret"))
	if err != nil {
		t.Fatal(err)
	}
	return authenticator{key}
}

// protect gives a caller an authenticator app, and returns the recovery codes too.
func (s *service) protect(t *testing.T, token string) (authenticator, []string) {
	t.Helper()
	app := s.propose(t, token)
	got := s.act(t, token, "confirmAuthenticator", map[string]string{"code": app.code(0)})
	var answer struct{ RecoveryCodes []string }
	if err := json.Unmarshal([]byte(got.body), &answer); got.status != http.StatusOK || err != nil || len(answer.RecoveryCodes) != 10 {
		t.Fatalf("confirmAuthenticator: got %d %s", got.status, got.body)
	}
	s.forgetStep(t)
	return app, answer.RecoveryCodes
}

// forgetStep lets the code of this moment be used again, as if the next one were there.
func (s *service) forgetStep(t *testing.T) {
	t.Helper()
	s.exec(t, `update platform.auth_totp set step = 0`)
}

// factorToken signs in by password, and returns the token for the second factor.
func (s *service) factorToken(t *testing.T, account string) string {
	t.Helper()
	got := s.grant(t, byPassword(account, right))
	if got.status != http.StatusUnauthorized || got.Error != "second_factor_required" || got.AccessToken != "" {
		t.Fatalf("the right password: got %+v", got)
	}
	return got.FactorToken
}

// second is a request that shows a second factor: names and values by turns.
func second(parameters ...string) url.Values {
	v := url.Values{"grant_type": {"second_factor"}}
	for i := 0; i+1 < len(parameters); i += 2 {
		v.Set(parameters[i], parameters[i+1])
	}
	return v
}

// protected is a service with an account ada, which has an authenticator app.
func protected(t *testing.T, o options) (s *service, own tokens, app authenticator, recovery []string) {
	t.Helper()
	s = serve(t, o)
	own = s.signUp(t, "ada@example.com", right)
	app, recovery = s.protect(t, own.AccessToken)
	return s, own, app, recovery
}

// TestSecondFactor adds an authenticator app, signs in with it, and removes it.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	s, own, app, recovery := protected(t, options{})
	got := s.grant(t, byPassword("ada", right))
	if got.status != http.StatusUnauthorized || got.Error != "second_factor_required" || strings.Join(got.Factors, " ") != "totp recovery" || got.FactorToken == "" {
		t.Fatalf("the right password: got %+v", got)
	}
	if got := s.grant(t, byPassword("ada", wrong)); got.Error != "invalid_grant" || got.FactorToken != "" {
		t.Errorf("a wrong password: got %+v", got)
	}
	for _, steps := range []int64{-1, 0, 1} { // in this order: no code before the latest is taken
		in := s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(steps)))
		if in.status != http.StatusOK || in.RefreshToken == "" || !s.isSignedIn(t, in.AccessToken) {
			t.Errorf("a code %d steps from now: got %+v", steps, in)
		}
	}
	if got := s.act(t, own.AccessToken, "listFactors", nil); !strings.Contains(got.body, `"kind":"totp"`) || !strings.Contains(got.body, `"recoveryCodes":10`) {
		t.Errorf("got the factors %d %s", got.status, got.body)
	}
	for i, code := range []string{recovery[0], strings.ToUpper(strings.ReplaceAll(recovery[1], "-", " "))} {
		if in := s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", code)); in.status != http.StatusOK {
			t.Errorf("recovery code %d: got %+v", i, in)
		}
	}
	if got := s.act(t, own.AccessToken, "listFactors", nil); !strings.Contains(got.body, `"recoveryCodes":8`) {
		t.Errorf("got the factors %d %s", got.status, got.body)
	}

	renewed := s.act(t, own.AccessToken, "renewRecoveryCodes", nil)
	if renewed.status != http.StatusOK || strings.Contains(renewed.body, recovery[2]) {
		t.Errorf("renewRecoveryCodes: got %d %s", renewed.status, renewed.body)
	}
	if got := s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", recovery[2])); got.Error != "invalid_grant" {
		t.Errorf("a recovery code from before: got %+v", got)
	}

	s.must(t, own.AccessToken, "removeAuthenticator", nil)
	if in := s.grant(t, byPassword("ada", right)); in.status != http.StatusOK {
		t.Errorf("the password alone, without the app: got %+v", in)
	}
	if n := value[int](t, s, `select count(*)::int from platform.auth_recovery_code`); n != 0 {
		t.Errorf("%d recovery codes are left", n)
	}
	s.refused(t, own.AccessToken, "removeAuthenticator", nil, http.StatusConflict, "the identity has no second factor")
	s.refused(t, own.AccessToken, "renewRecoveryCodes", nil, http.StatusConflict, "the identity has no second factor")
	s.refused(t, own.AccessToken, "confirmAuthenticator", map[string]string{"code": "123456"}, http.StatusBadRequest, "is not the code")
}

// TestRaise shows a second factor again, for a session that goes on.
func TestRaise(t *testing.T) {
	t.Parallel()
	s, own, app, _ := protected(t, options{})
	const noFactor, old = `"data":{"needs":"secondFactor"}`, `"data":{"needs":"recentSignIn"}`
	s.exec(t, `update platform.auth_family set second_at = null`)
	s.refused(t, own.AccessToken, "endOtherSessions", nil, http.StatusForbidden, noFactor)
	raised := s.grant(t, second("access_token", own.AccessToken, "code", app.code(0)))
	if raised.status != http.StatusOK || raised.RefreshToken != "" || !s.isSignedIn(t, raised.AccessToken) {
		t.Fatalf("the code for the session: got %+v", raised)
	}
	s.must(t, own.AccessToken, "endOtherSessions", nil)

	s.exec(t, `update platform.auth_family set second_at = second_at - interval '6 minutes'`)
	s.refused(t, own.AccessToken, "endOtherSessions", nil, http.StatusForbidden, old)
	// The password is asked for the second factor too, and does not raise the session by itself.
	s.forgetStep(t)
	again := s.grant(t, byPasswordAgain("ada@example.com", right, own.AccessToken))
	if again.Error != "second_factor_required" {
		t.Fatalf("the password again: got %+v", again)
	}
	s.refused(t, own.AccessToken, "endOtherSessions", nil, http.StatusForbidden, old)
	raised = s.grant(t, second("access_token", own.AccessToken, "factor_token", again.FactorToken, "code", app.code(0)))
	if raised.status != http.StatusOK || raised.RefreshToken != "" {
		t.Errorf("the code after it: got %+v", raised)
	}
	s.must(t, own.AccessToken, "endOtherSessions", nil)
	if got := s.refresh(t, own.RefreshToken); got.status != http.StatusOK {
		t.Errorf("the refresh token of the session: got %+v", got)
	}
}

// TestCodeOnce shows one code to two servers at the same moment, many times.
func TestCodeOnce(t *testing.T) {
	t.Parallel()
	s, _, app, recovery := protected(t, options{})
	other := s.another(t)
	for round, show := range []func() []string{
		func() []string { return []string{"code", app.code(0)} },
		func() []string { return []string{"recovery_code", recovery[0]} },
	} {
		s.forgetStep(t)
		var started, ended sync.WaitGroup
		var mutex sync.Mutex
		accepted := 0
		started.Add(1)
		code := show()
		for i := range 4 {
			at := []*service{s, other}[i%2]
			token := at.factorToken(t, "ada")
			ended.Go(func() {
				started.Wait()
				got, err := at.tryGrant(second(append([]string{"factor_token", token}, code...)...))
				mutex.Lock()
				defer mutex.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case got.status == http.StatusOK:
					accepted++
				case got.Error != "invalid_grant":
					t.Errorf("got %+v", got)
				}
			})
		}
		started.Done()
		ended.Wait()
		if accepted != 1 {
			t.Errorf("round %d: %d of 4 were accepted, want 1", round, accepted)
		}
	}
}

// expectFactor tests that a second factor is refused, or taken if want is empty.
func expectFactor(t *testing.T, got tokens, want string) {
	t.Helper()
	if got.Error != want || (got.AccessToken == "") != (want != "") {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// factorAttacks lists attempts to pass a second factor, or to swap it.
var factorAttacks = []struct {
	name string
	try  func(t *testing.T, s *service, own tokens, app authenticator, recovery []string)
}{
	{"a code is used twice", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		code := app.code(0)
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", code)), "")
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", code)), "invalid_grant")
	}},
	{"a code from before the latest is used", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(0))), "")
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(-1))), "invalid_grant")
	}},
	{"a code is two steps old, or early", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(-3))), "invalid_grant")
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(3))), "invalid_grant")
	}},
	{"a recovery code is used twice", func(t *testing.T, s *service, _ tokens, _ authenticator, recovery []string) {
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", recovery[3])), "")
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", recovery[3])), "invalid_grant")
	}},
	{"the recovery code of somebody else is used", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		_, others := s.protect(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", others[0])), "invalid_grant")
	}},
	{"the code of somebody else's app is used", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		theirs, _ := s.protect(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", theirs.code(0))), "invalid_grant")
	}},
	{"a code is shown without a password", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		expectFactor(t, s.grant(t, second("code", app.code(0))), "invalid_request")
		expectFactor(t, s.grant(t, second("factor_token", "x", "code", app.code(0))), "invalid_grant")
	}},
	{"both a code and a recovery code are shown, or neither", func(t *testing.T, s *service, _ tokens, app authenticator, recovery []string) {
		token := s.factorToken(t, "ada")
		expectFactor(t, s.grant(t, second("factor_token", token, "code", app.code(0), "recovery_code", recovery[0])), "invalid_request")
		expectFactor(t, s.grant(t, second("factor_token", token)), "invalid_request")
		expectFactor(t, s.grant(t, second("factor_token", token, "credential", "{}")), "invalid_request")
	}},
	{"a token for the second factor is used twice", func(t *testing.T, s *service, _ tokens, app authenticator, recovery []string) {
		token := s.factorToken(t, "ada")
		expectFactor(t, s.grant(t, second("factor_token", token, "code", app.code(0))), "")
		expectFactor(t, s.grant(t, second("factor_token", token, "recovery_code", recovery[0])), "invalid_grant")
	}},
	{"a token for the second factor is used for a sixth try", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		token := s.factorToken(t, "ada")
		for range 5 {
			expectFactor(t, s.grant(t, second("factor_token", token, "code", "x")), "invalid_grant")
		}
		expectFactor(t, s.grant(t, second("factor_token", token, "code", app.code(0))), "invalid_grant")
	}},
	{"a token for the second factor is too old", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		token := s.factorToken(t, "ada")
		s.exec(t, `update platform.auth_pending set ends_at = now()`)
		expectFactor(t, s.grant(t, second("factor_token", token, "code", app.code(0))), "invalid_grant")
	}},
	{"a token for the second factor outlives the password", func(t *testing.T, s *service, own tokens, app authenticator, _ []string) {
		token := s.factorToken(t, "ada")
		s.must(t, own.AccessToken, "changePassword", map[string]string{"oldPassword": right, "password": "another-canary"})
		expectFactor(t, s.grant(t, second("factor_token", token, "code", app.code(0))), "invalid_grant")
	}},
	{"a token for the second factor is used as another token", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		token := s.factorToken(t, "ada")
		expectFactor(t, s.refresh(t, token), "invalid_grant")
		if s.isSignedIn(t, token) {
			t.Error("it signs in")
		}
	}},
	{"codes are guessed, with a right password before each", func(t *testing.T, s *service, _ tokens, app authenticator, _ []string) {
		for i := range 10 {
			expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", fmt.Sprint(i))), "invalid_grant")
		}
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(0))), "temporarily_unavailable")
	}},
	{"codes are guessed for a stolen session", func(t *testing.T, s *service, own tokens, app authenticator, _ []string) {
		for i := range 10 {
			expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "code", fmt.Sprint(i))), "invalid_grant")
		}
		expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "code", app.code(0))), "temporarily_unavailable")
	}},
	{"recovery codes are guessed", func(t *testing.T, s *service, own tokens, _ authenticator, recovery []string) {
		for range 10 {
			expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "recovery_code", "aaaa-aaaa-aaaa-aaaa")), "invalid_grant")
		}
		expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "recovery_code", recovery[0])), "temporarily_unavailable")
	}},
	{"a stolen session passes a rule after a refresh, or by the password alone", func(t *testing.T, s *service, own tokens, _ authenticator, _ []string) {
		s.exec(t, `update platform.auth_family set second_at = second_at - interval '6 minutes'`)
		s.refused(t, s.refresh(t, own.RefreshToken).AccessToken, "listLately", nil, http.StatusForbidden, `"needs":"recentSignIn"`)
		expectFactor(t, s.grant(t, byPasswordAgain("ada@example.com", right, own.AccessToken)), "second_factor_required")
		s.refused(t, s.refresh(t, own.RefreshToken).AccessToken, "listLately", nil, http.StatusForbidden, `"needs":"recentSignIn"`)
	}},
	{"the claims of a token are changed", func(t *testing.T, s *service, own tokens, _ authenticator, _ []string) {
		s.exec(t, `update platform.auth_family set second_at = null`)
		part := strings.Split(s.refresh(t, own.RefreshToken).AccessToken, ".")
		body, err := base64.RawURLEncoding.DecodeString(part[1])
		if err != nil {
			t.Fatal(err)
		}
		part[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(body), `"sid"`, `"auth_time":9999999999,"amr":["mfa"],"sid"`, 1)))
		if got := s.act(t, strings.Join(part, "."), "listSafely", nil); got.status != http.StatusUnauthorized {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}},
	{"a session that has ended gets another token for a rule", func(t *testing.T, s *service, own tokens, _ authenticator, _ []string) {
		in := s.refresh(t, own.RefreshToken)
		s.must(t, in.AccessToken, "endSession", map[string]string{"id": s.sessions(t, in.AccessToken)[0].ID})
		expectFactor(t, s.refresh(t, in.RefreshToken), "invalid_grant")
	}},
	{"somebody else's session is raised", func(t *testing.T, s *service, own tokens, app authenticator, _ []string) {
		mallory := s.signUp(t, "mallory@example.com", right)
		theirs, _ := s.protect(t, mallory.AccessToken)
		s.exec(t, `update platform.auth_family set second_at = null`)
		expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "code", theirs.code(0))), "invalid_grant")
		expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "factor_token", s.factorToken(t, "mallory"), "code", theirs.code(0))), "invalid_grant")
		s.refused(t, own.AccessToken, "endOtherSessions", nil, http.StatusForbidden, "secondFactor")
	}},
	{"a session that has ended is raised", func(t *testing.T, s *service, own tokens, app authenticator, _ []string) {
		s.must(t, own.AccessToken, "endSession", map[string]string{"id": s.sessions(t, own.AccessToken)[0].ID})
		expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "code", app.code(0))), "invalid_grant")
	}},
	{"a stolen session swaps the factor, removes it, or takes new codes", func(t *testing.T, s *service, own tokens, _ authenticator, _ []string) {
		swap := func(needs string) {
			for _, action := range []string{"startAuthenticator", "removeAuthenticator", "renewRecoveryCodes", "endOtherSessions"} {
				s.refused(t, own.AccessToken, action, nil, http.StatusForbidden, `"needs":"`+needs+`"`)
			}
		}
		s.exec(t, `update platform.auth_family set second_at = second_at - interval '6 minutes'`)
		swap("recentSignIn")
		s.exec(t, `update platform.auth_family set second_at = null`) // from before there was a factor, and just signed in
		swap("secondFactor")
	}},
	{"a stolen session adds the first factor", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		bo := s.signUp(t, "bo@example.com", right)
		app := s.propose(t, bo.AccessToken)
		s.stale(t)
		s.refused(t, bo.AccessToken, "startAuthenticator", nil, http.StatusForbidden, "recentSignIn")
		s.refused(t, bo.AccessToken, "confirmAuthenticator", map[string]string{"code": app.code(0)}, http.StatusForbidden, "recentSignIn")
	}},
	{"an app is confirmed after ten minutes, or without a code of it", func(t *testing.T, s *service, own tokens, app authenticator, _ []string) {
		proposed := s.propose(t, own.AccessToken)
		s.refused(t, own.AccessToken, "confirmAuthenticator", map[string]string{"code": app.code(0)}, http.StatusBadRequest, "is not the code")
		s.exec(t, `update platform.auth_totp set proposed_at = proposed_at - interval '11 minutes'`)
		s.refused(t, own.AccessToken, "confirmAuthenticator", map[string]string{"code": proposed.code(0)}, http.StatusBadRequest, "is not the code")
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "code", app.code(0))), "") // the present one stays
	}},
	{"the key of a machine swaps the factor", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		key := s.machineKey(t, "ada@example.com")
		for _, action := range []string{"startAuthenticator", "removeAuthenticator", "renewRecoveryCodes"} {
			s.refused(t, key, action, nil, http.StatusForbidden, "ERR_PERMISSION_DENIED")
		}
		s.refused(t, key, "confirmAuthenticator", map[string]string{"code": "123456"}, http.StatusForbidden, "ERR_PERMISSION_DENIED")
		expectFactor(t, s.grant(t, second("access_token", key, "code", "123456")), "invalid_grant")
	}},
	{"a factor survives its identity", func(t *testing.T, s *service, _ tokens, _ authenticator, _ []string) {
		s.exec(t, `delete from app.identity`)
		if n := value[int](t, s, `select (select count(*) from platform.auth_totp)::int + (select count(*) from platform.auth_recovery_code)::int`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	}},
	{"the database is read", func(t *testing.T, s *service, _ tokens, app authenticator, recovery []string) {
		token := s.factorToken(t, "ada")
		kept := value[string](t, s, `select concat(
			(select json_agg(t) from platform.auth_totp t), (select json_agg(t) from platform.auth_recovery_code t), (select json_agg(t) from platform.auth_pending t))`)
		for _, secret := range []string{base32.StdEncoding.EncodeToString(app.key), recovery[0], strings.ReplaceAll(recovery[0], "-", ""), token} {
			if strings.Contains(kept, secret) || strings.Contains(s.log.String(), secret) {
				t.Errorf("%s is in the database or in the log", secret)
			}
		}
	}},
}

func TestFactorAttacks(t *testing.T) {
	t.Parallel()
	for _, attack := range factorAttacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			s, own, app, recovery := protected(t, options{})
			attack.try(t, s, own, app, recovery)
		})
	}
}

// TestResetKeepsFactor resets a password: the second factor stays, and is asked for.
func TestResetKeepsFactor(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{})
	own := s.signUp(t, "ada@example.com", right)
	app, _ := s.protect(t, own.AccessToken)
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	_, token := await(t, mails, 0)
	s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "another-canary"})
	got := s.password(t, "ada@example.com", "another-canary")
	if got.Error != "second_factor_required" || got.AccessToken != "" {
		t.Fatalf("the new password: got %+v", got)
	}
	if got := s.grant(t, second("factor_token", got.FactorToken, "code", app.code(0))); got.status != http.StatusOK {
		t.Errorf("the app from before: got %+v", got)
	}
}

// TestFactorTellsNothing signs in with wrong passwords: accounts with and without a second factor, with a passkey, and none, get the same answer.
func TestFactorTellsNothing(t *testing.T) {
	t.Parallel()
	s, _, _, _ := protected(t, withPasskeys)
	s.signUp(t, "bo@example.com", right)
	s.addPasskey(t, s.signUp(t, "cleo@example.com", right).AccessToken)
	var answers []string
	for _, account := range []string{"ada", "bo", "cleo", "nobody"} {
		v := byPassword(account, wrong)
		v.Set("create_if_not_exists", "false")
		got := s.grant(t, v)
		answers = append(answers, fmt.Sprintf("%+v", got))
	}
	if len(slices.Compact(slices.Clone(answers))) != 1 {
		t.Errorf("got %s", answers)
	}
}
