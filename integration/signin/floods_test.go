package signin

import (
	"net/http"
	"testing"
)

// later lets some time pass for tokens that were superseded.
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
