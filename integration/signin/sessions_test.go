package signin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// listed is a sign-in as its identity sees it.
type listed struct {
	ID        string
	IsCurrent bool
	CreatedAt string
	UsedAt    string
	EndsAt    string
	Address   *string
	Client    *string
}

// sessions lists the sign-ins of a caller.
func (s *service) sessions(t *testing.T, token string) []listed {
	t.Helper()
	got := s.act(t, token, "listSessions", nil)
	var answer struct{ Sessions []listed }
	if err := json.Unmarshal([]byte(got.body), &answer); got.status != http.StatusOK || err != nil {
		t.Fatalf("listSessions: got %d %s, %v", got.status, got.body, err)
	}
	return answer.Sessions
}

// byPasswordAgain shows a password again, for the sign-in of an access token.
func byPasswordAgain(account, password, accessToken string) url.Values {
	return url.Values{"grant_type": {"password"}, "username": {account}, "password": {password}, "access_token": {accessToken}}
}

// stale moves all credentials of the database back by six minutes.
func (s *service) stale(t *testing.T) {
	t.Helper()
	s.exec(t, `update platform.auth_family set created_at = created_at - interval '6 minutes', shown_at = shown_at - interval '6 minutes'`)
}

// TestSessions lists sign-ins and ends them.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	phone := s.signUp(t, "ada@example.com", "correct-canary")
	laptop := s.password(t, "ada@example.com", "correct-canary")
	tablet := s.password(t, "ada@example.com", "correct-canary")
	mallory := s.signUp(t, "mallory@example.com", "correct-canary")

	all := s.sessions(t, laptop.AccessToken)
	if len(all) != 3 || all[0].IsCurrent || !all[1].IsCurrent || all[2].IsCurrent {
		t.Fatalf("got %+v, want three, the second of them the caller's", all)
	}
	one := all[1]
	if one.Address == nil || *one.Address != "127.0.0.1" || one.Client == nil || !strings.HasPrefix(*one.Client, "Go-http-client") ||
		one.UsedAt != one.CreatedAt || one.EndsAt <= one.CreatedAt {
		t.Errorf("got %+v", one)
	}
	s.refresh(t, phone.RefreshToken)
	if after := s.sessions(t, phone.AccessToken); after[0].ID != all[2].ID || !after[0].IsCurrent || after[0].UsedAt <= after[0].CreatedAt {
		t.Errorf("after a refresh: got %+v", after)
	}

	// Another's, an unknown one, and none.
	for _, id := range []string{all[0].ID, "x", "", strings.Repeat("x", 5000)} {
		s.refused(t, mallory.AccessToken, "endSession", map[string]string{"id": id}, http.StatusNotFound, "ERR_RECORD_NOT_FOUND")
	}
	s.refused(t, mallory.AccessToken, "endSession", map[string]string{"id": "\x00"}, http.StatusBadRequest, "ERR_")
	if n := len(s.sessions(t, laptop.AccessToken)); n != 3 {
		t.Errorf("%d sign-ins are left of 3", n)
	}

	// One that has ended is not refreshed, and is not there any more.
	s.must(t, laptop.AccessToken, "endSession", map[string]string{"id": all[0].ID})
	if got := s.refresh(t, tablet.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the refresh of an ended one: got %+v", got)
	}
	s.refused(t, laptop.AccessToken, "endSession", map[string]string{"id": all[0].ID}, http.StatusNotFound, "ERR_RECORD_NOT_FOUND")
	if !s.isSignedIn(t, tablet.AccessToken) {
		t.Error("the access token of an ended sign-in does not live to its expiry")
	}

	// The others, with their access tokens.
	s.must(t, laptop.AccessToken, "endOtherSessions", nil)
	if got := s.refresh(t, phone.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the refresh of another one: got %+v", got)
	}
	if s.act(t, phone.AccessToken, "listSessions", nil).status != http.StatusUnauthorized {
		t.Error("the access token of another one lives")
	}
	if got := s.refresh(t, laptop.RefreshToken); got.status != http.StatusOK {
		t.Errorf("the refresh of the present one: got %+v", got)
	}
	s.must(t, laptop.AccessToken, "endSession", map[string]string{"id": one.ID})
	if got := s.refresh(t, laptop.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the refresh of the own one, ended: got %+v", got)
	}
	if got := s.sessions(t, mallory.AccessToken); len(got) != 1 {
		t.Errorf("somebody else has %d sign-ins", len(got))
	}
}

// TestStaleSession steals a session: it ends no other, until its owner shows the password again.
func TestStaleSession(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	const stale = `{"code":"ERR_SECOND_FACTOR","message":"the caller must show a credential again","data":{"needs":"recentSignIn"}}`
	own := s.signUp(t, "ada@example.com", "correct-canary")
	other := s.password(t, "ada@example.com", "correct-canary")
	mallory := s.signUp(t, "mallory@example.com", "correct-canary")
	all := s.sessions(t, own.AccessToken)
	s.stale(t)
	refreshed := s.refresh(t, own.RefreshToken)
	for _, token := range []string{own.AccessToken, refreshed.AccessToken} {
		s.refused(t, token, "endOtherSessions", nil, http.StatusForbidden, stale)
		s.refused(t, token, "endSession", map[string]string{"id": all[0].ID}, http.StatusForbidden, stale)
		s.refused(t, token, "endSession", map[string]string{"id": "unknown"}, http.StatusForbidden, stale)
	}
	key := s.machineKey(t, "ada@example.com")
	s.refused(t, key, "endOtherSessions", nil, http.StatusForbidden, "ERR_PERMISSION_DENIED")

	for _, test := range []struct {
		name  string
		again url.Values
		want  string
	}{
		{"a wrong password", byPasswordAgain("ada@example.com", "wrong-canary", own.AccessToken), "invalid_grant"},
		{"somebody else's", byPasswordAgain("mallory@example.com", "correct-canary", own.AccessToken), "invalid_grant"},
		{"nobody's, which makes no account", byPasswordAgain("new@example.com", "correct-canary", own.AccessToken), "invalid_grant"},
		{"no access token", byPasswordAgain("ada@example.com", "correct-canary", own.AccessToken+"x"), "invalid_grant"},
		{"the key of a machine", byPasswordAgain("ada@example.com", "correct-canary", key), "invalid_grant"},
		{"somebody else's session", byPasswordAgain("ada@example.com", "correct-canary", mallory.AccessToken), "invalid_grant"},
	} {
		if got := s.grant(t, test.again); got.Error != test.want {
			t.Errorf("%s: got %+v, want %s", test.name, got, test.want)
		}
	}
	s.refused(t, own.AccessToken, "endOtherSessions", nil, http.StatusForbidden, stale)
	if n := value[int](t, s, `select count(*)::int from app.identity`); n != 2 {
		t.Errorf("there are %d identities, want 2", n)
	}

	raised := s.grant(t, byPasswordAgain("ada@example.com", "correct-canary", own.AccessToken))
	if raised.status != http.StatusOK || raised.RefreshToken != "" || !s.isSignedIn(t, raised.AccessToken) {
		t.Fatalf("the right password: got %+v, want an access token alone", raised)
	}
	if got := s.sessions(t, raised.AccessToken); len(got) != 2 {
		t.Errorf("there are %d sign-ins, want the two from before", len(got))
	}
	s.refused(t, other.AccessToken, "endOtherSessions", nil, http.StatusForbidden, stale)
	s.must(t, own.AccessToken, "endOtherSessions", nil) // the session is raised, not a token
	if got := s.refresh(t, other.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the refresh of the other: got %+v", got)
	}
	if got := s.refresh(t, refreshed.RefreshToken); got.status != http.StatusOK {
		t.Errorf("the own refresh token: got %+v", got)
	}

	// One that has ended cannot be raised.
	s.must(t, own.AccessToken, "endSession", map[string]string{"id": s.sessions(t, own.AccessToken)[0].ID})
	if got := s.grant(t, byPasswordAgain("ada@example.com", "correct-canary", own.AccessToken)); got.Error != "invalid_grant" {
		t.Errorf("an ended session: got %+v", got)
	}
	if got := fmt.Sprint(s.sessions(t, s.password(t, "ada@example.com", "correct-canary").AccessToken)); strings.Count(got, "false") != 0 {
		t.Errorf("only the new one is there: got %s", got)
	}
}
