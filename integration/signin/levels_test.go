package signin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// claimsOf reads what an access token tells of what was shown.
func claimsOf(t *testing.T, token string) (shown struct {
	AuthTime int64    `json:"auth_time"`
	Methods  []string `json:"amr"`
	Session  string   `json:"sid"`
}) {
	t.Helper()
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err == nil {
		err = json.Unmarshal(body, &shown)
	}
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// TestLevels calls actions whose rules ask for a second factor or for a recent sign-in.
func TestLevels(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	plain := s.signUp(t, "bo@example.com", right)
	machine := s.machineKey(t, "bo@example.com")
	early := s.signUp(t, "ada@example.com", right)
	app, recovery := s.protect(t, early.AccessToken)
	s.exec(t, `update platform.auth_family set second_at = null`)
	without := s.refresh(t, early.RefreshToken) // as if it had begun in another place before there was a factor
	s.exec(t, `insert into app.note (id, text, author_id, created_at, updated_at) select 'n' || identity.id, 'x', identity.id, now(), now() from app.identity`)

	raised := s.grant(t, second("access_token", without.AccessToken, "code", app.code(0)))
	fresh := s.grant(t, second("factor_token", s.factorToken(t, "ada"), "recovery_code", recovery[0]))
	if shown := claimsOf(t, raised.AccessToken); shown.Session != claimsOf(t, early.AccessToken).Session || strings.Join(shown.Methods, "") != "mfa" || shown.AuthTime == 0 {
		t.Errorf("a raised session: got %+v", shown)
	}
	again := s.refresh(t, without.RefreshToken)
	if got, want := claimsOf(t, again.AccessToken), claimsOf(t, raised.AccessToken); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after a refresh: got %+v, want %+v", got, want)
	}
	s.exec(t, `update platform.auth_family set created_at = created_at - interval '6 minutes', shown_at = shown_at - interval '6 minutes', second_at = second_at - interval '6 minutes'`)
	plainOld, secondOld := s.refresh(t, plain.RefreshToken), s.refresh(t, fresh.RefreshToken)

	const no, ok, factor, recent = "ERR_PERMISSION_DENIED", "", `"needs":"secondFactor"`, `"needs":"recentSignIn"`
	callers := []struct{ name, token string }{
		{"nobody", ""}, {"a machine", machine}, {"a password", plain.AccessToken}, {"an old password", plainOld.AccessToken},
		{"an account with a factor, not shown", without.AccessToken}, {"a factor", fresh.AccessToken}, {"a raised session", raised.AccessToken}, {"an old factor", secondOld.AccessToken},
	}
	for _, test := range []struct {
		action string
		input  any
		want   [8]string
	}{
		{"sealNote", map[string]any{"where": map[string]string{"id": "n1"}}, [8]string{no, no, factor, factor, factor, ok, ok, ok}},
		{"listLately", nil, [8]string{no, no, ok, recent, recent, ok, ok, recent}},
		{"listSafely", nil, [8]string{no, no, factor, factor, factor, ok, ok, recent}},
		{"listKept", nil, [8]string{no, no, factor, factor, factor, ok, ok, ok}},
		{"createLocked", map[string]string{"text": "x", "pin": "a-long-canary"}, [8]string{no, no, factor, factor, factor, ok, ok, ok}},
	} {
		for i, caller := range callers {
			input := test.input
			if test.action == "sealNote" {
				author := value[string](t, s, `select id from app.identity where email = 'ada@example.com'`)
				input = map[string]any{"where": map[string]string{"id": "n" + author}}
			}
			got := s.act(t, caller.token, test.action, input)
			want := test.want[i]
			isAsked := strings.Contains(got.body, "ERR_SECOND_FACTOR")
			switch {
			case want == ok && got.status != http.StatusOK, want != ok && (got.status != http.StatusForbidden || !strings.Contains(got.body, want) || isAsked != (want != no)):
				t.Errorf("%s by %s: got %d %s, want %q", test.action, caller.name, got.status, got.body, want)
			}
		}
	}
	// Neither a row of somebody else nor one that is not there is told apart before a factor was shown.
	for _, id := range []string{"n-none", value[string](t, s, `select 'n' || id from app.identity where email = 'ada@example.com'`)} {
		s.refusedWhere(t, plain.AccessToken, "sealNote", id, factor)
	}
	s.refusedWhere(t, fresh.AccessToken, "sealNote", value[string](t, s, `select 'n' || id from app.identity where email = 'bo@example.com'`), no)
}

// refusedWhere tests that an action on a row is refused.
func (s *service) refusedWhere(t *testing.T, token, action, id, text string) {
	t.Helper()
	if got := s.act(t, token, action, map[string]any{"where": map[string]string{"id": id}}); got.status != http.StatusForbidden || !strings.Contains(got.body, text) {
		t.Errorf("%s of %s: got %d %s, want 403 %s", action, id, got.status, got.body, text)
	}
}

// TestTrustedSecondFactor signs in through providers that say what their user has shown. It counts as second factor if the
// provider is marked, whether the sign-in is by redirect or by ID token, and from the time that the provider names.
func TestTrustedSecondFactor(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	for _, c := range []struct {
		name    string
		trusts  string
		amr     any
		at      any // auth_time
		want    bool
		isFresh bool
	}{
		{"several factors", "true", []string{"pwd", "mfa"}, nil, true, true},
		{"a one-time password", "true", []string{"pwd", "otp"}, now, true, true},
		{"a key", "true", []string{"hwk"}, now - 3600, true, false},
		{"a key in software", "true", []string{"swk", "user"}, json.Number("1.5"), true, false},
		{"a smart card, in the future", "true", []string{"sc"}, now + 3600, true, true},
		{"a time that is none", "true", []string{"mfa"}, "yesterday", true, true},
		{"a password", "true", []string{"pwd"}, now, false, true},
		{"a telephone", "true", []string{"pwd", "sms", "tel"}, now, false, true},
		{"nothing", "true", nil, nil, false, true},
		{"a text", "true", "mfa", nil, false, true},
		{"other things", "true", []any{7, nil, "MFA"}, nil, false, true},
		{"an unmarked provider", "false", []string{"mfa"}, nil, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIssuer(t)
			edit := func(claims map[string]any) { claims["amr"], claims["auth_time"] = c.amr, c.at }
			p.with(func(p *issuer) { p.editToken = edit })
			s := serve(t, options{
				settings: settings("", provider("Main", p.URL, clientID, "trustsSecondFactor: "+c.trusts)),
				env:      []string{secretOf("MAIN", clientSecret)},
			})
			code := s.signIn(t, newBrowser(t), "Main", usual()).Query().Get("code")
			for way, in := range map[string]tokens{
				"by redirect": s.redeem(t, code, "code_verifier", verifier, "redirect_uri", target), "by ID token": s.grant(t, exchange(p.idToken(edit))),
			} {
				if in.status != http.StatusOK {
					t.Fatalf("%s: got %+v", way, in)
				}
				again := s.refresh(t, in.RefreshToken)
				for _, token := range []string{in.AccessToken, again.AccessToken} {
					if got := s.act(t, token, "createLocked", map[string]string{"text": "x", "pin": "pin-canary"}); (got.status == http.StatusOK) != c.want {
						t.Errorf("%s: a rule that asks for a second factor: got %d %s", way, got.status, got.body)
					}
				}
				// From here on the identity has a second factor of its own, and the provider's counts as that does.
				s.protect(t, s.grant(t, exchange(p.idToken(nil))).AccessToken)
				if got := s.act(t, s.refresh(t, again.RefreshToken).AccessToken, "listSafely", nil); (got.status == http.StatusOK) != (c.want && c.isFresh) {
					t.Errorf("%s: a rule that asks for a fresh one: got %d %s", way, got.status, got.body)
				}
				s.exec(t, `delete from platform.auth_totp`)
			}
		})
	}
}
