package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/signin"
)

func TestSignInThrottle(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) {
		c.Throttle = auth.ThrottleOptions{PerAccountAndAddress: 2, PerAccount: 4, PerAddress: 6, TriesPerAccountAndAddress: 12, Window: 15 * time.Minute}
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	const tooMany = `{"error":"temporarily_unavailable","error_description":"too many failed attempts"}`
	signIn := func(from, email, password string) (*http.Response, string) {
		t.Helper()
		return s.formFrom(t, "/auth/token", map[string]string{"X-Forwarded-For": "203.0.113.99, " + from},
			"grant_type", "password", "username", email, "password", password, "create_if_not_exists", "false")
	}
	fail := func(from, email string, times int) {
		t.Helper()
		for range times {
			if resp, body := signIn(from, email, "canary-wrong-horse"); resp.StatusCode != 400 {
				t.Errorf("%s from %s: got %d %s, want 400", email, from, resp.StatusCode, body)
			}
		}
	}
	throttled := func(from, email string) {
		t.Helper()
		before := s.signIn.Passwords.Computed()
		resp, body := signIn(from, email, "canary-horse")
		if after := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || body != tooMany || len(after) != 3 || after > "900" {
			t.Errorf("%s from %s: got %d %s, Retry-After %s; want 429 for 15 minutes", email, from, resp.StatusCode, body, after)
		}
		if s.signIn.Passwords.Computed() != before {
			t.Errorf("%s from %s: a hash was computed", email, from)
		}
	}
	succeed := func(from, email string) {
		t.Helper()
		if resp, body := signIn(from, email, "canary-horse"); resp.StatusCode != 200 {
			t.Errorf("%s from %s: got %d %s, want 200", email, from, resp.StatusCode, body)
		}
	}
	reset := func() {
		d.exec(t, `delete from platform.auth_failure; delete from platform.auth_try; delete from platform.auth_known_address`)
	}
	s.signUp(t, "ada@example.com")
	s.signUp(t, "bo@example.com")
	reset()

	t.Log("per account and address; a success clears it")
	fail("10.0.0.1", "ada@example.com", 1)
	succeed("10.0.0.1", "ada@example.com")
	fail("10.0.0.1", "ada@example.com", 2)
	throttled("10.0.0.1", "ada@example.com")
	throttled("10.0.0.1", "Ada@Example.com")
	succeed("10.0.0.1", "bo@example.com")
	succeed("10.0.0.2", "ada@example.com")

	t.Log("per account, which a success does not clear; but where the account was signed in to, it does not count")
	fail("10.0.0.2", "ada@example.com", 1)
	throttled("10.0.0.3", "ada@example.com")
	throttled("10.0.0.1", "ada@example.com") // for its own failures
	succeed("10.0.0.2", "ada@example.com")
	succeed("10.0.0.3", "bo@example.com")

	t.Log("per address, whatever the account; IPv6 by network")
	reset()
	for i := range 6 {
		fail(fmt.Sprintf("[2001:db8::%d]:4711", i), fmt.Sprintf("nobody%d@example.com", i), 1)
	}
	throttled("2001:db8::7", "bo@example.com")
	succeed("2001:db8:0:1::7", "bo@example.com")

	t.Log("other grants are counted apart, and what is right is looked at first")
	const refused, isRefused = "invalid_grant", 400
	token := s.signUp(t, "cy@example.com").RefreshToken
	header := map[string]string{"X-Forwarded-For": "2001:db8::ffff"}
	grants := [][]string{{"refresh_token", "refresh_token"}, {"authorization_code", "code"}, {"token_exchange", "subject_token"}}
	for i := range 9 {
		grant := grants[i%3]
		resp, body := s.formFrom(t, "/auth/token", header, "grant_type", grant[0], grant[1], "x")
		if i < 6 && (resp.StatusCode != isRefused || !strings.Contains(body, refused)) || i >= 6 && (resp.StatusCode != 429 || body != tooMany) {
			t.Errorf("refusal %d, %s: got %d %s", i, grant[0], resp.StatusCode, body)
		}
	}
	if resp, body := s.formFrom(t, "/auth/token", header, "grant_type", "refresh_token", "refresh_token", token); resp.StatusCode != 200 {
		t.Errorf("a right one after that: got %d %s", resp.StatusCode, body)
	}
	reset()
	for range 8 {
		s.formFrom(t, "/auth/token", header, "grant_type", "refresh_token", "refresh_token", "x")
	}
	succeed("2001:db8::ffff", "bo@example.com")

	t.Log("tries that succeed")
	reset()
	for range 12 {
		succeed("10.0.0.4", "ada@example.com")
	}
	throttled("10.0.0.4", "ada@example.com")
	succeed("10.0.0.4", "bo@example.com")
	succeed("10.0.0.5", "ada@example.com")
	reset()

	t.Log("created identities")
	reset()
	for i := range 6 {
		if resp, body := s.form(t, "/auth/token", "grant_type", "password", "username", fmt.Sprintf("p%d@example.com", i), "password", "canary-horse"); resp.StatusCode != 200 {
			t.Errorf("identity %d: got %d %s", i, resp.StatusCode, body)
		}
	}
	s.refused(t, 429, tooMany, "grant_type", "password", "username", "p7@example.com", "password", "canary-horse")

	t.Log("the counts cannot be read")
	d.exec(t, `revoke execute on function platform.auth_fail(text, text, integer, integer, integer, interval) from sternpost_server;
		revoke execute on function platform.auth_password(text, text, text, integer, integer, integer, integer, interval) from sternpost_server`)
	const away = `{"error":"temporarily_unavailable","error_description":"the service is temporarily unavailable"}`
	for _, parameters := range [][]string{
		{"grant_type", "password", "username", "bo@example.com", "password", "canary-horse"},
		{"grant_type", "refresh_token", "refresh_token", "x"},
	} {
		if resp := s.refused(t, 503, away, parameters...); resp.Header.Get("Retry-After") == "" {
			t.Errorf("%q: there is no Retry-After", parameters)
		}
	}
	if resp, body := s.form(t, "/auth/token", "grant_type", "refresh_token", "refresh_token", token); resp.StatusCode != 200 {
		t.Errorf("a right refresh token: got %d %s", resp.StatusCode, body)
	}
}

// Passwords of clients that have left are not checked.
func TestPasswordOfClientThatLeft(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	s.signUp(t, "ada@example.com")
	before := s.signIn.Passwords.Computed()
	leave, err := s.signIn.Passwords.Enter(t.Context(), "127.0.0.1") // another sign-in is in progress
	if err != nil {
		t.Fatal(err)
	}
	const form = "grant_type=password&username=ada%40example.com&password=canary-horse"
	var leaving []*rawConn
	for range 5 {
		c := s.dial(t)
		before := s.inFlight.Load()
		c.write(t, fmt.Sprintf("POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", signin.FormBody, len(form), form))
		until(t, "the request is being answered", func() bool { return s.inFlight.Load() > before })
		leaving = append(leaving, c)
	}
	for _, c := range leaving {
		c.Close()
	}
	s.waitLogTimes(t, `"status":499`, 5)
	leave()
	if got := s.signIn.Passwords.Computed(); got != before {
		t.Errorf("%d hashes were computed for nobody", got-before)
	}
	var tries int
	if err := d.Superuser(t).QueryRow(t.Context(), `select count(*) from platform.auth_try`).Scan(&tries); err != nil || tries != 1 {
		t.Errorf("got %d tries, %v, want that of the beginning alone", tries, err)
	}
	if resp, body := s.form(t, "/auth/token", "grant_type", "password", "username", "ada@example.com", "password", "canary-horse"); resp.StatusCode != 200 {
		t.Errorf("afterwards: got %d %s", resp.StatusCode, body)
	}
}

// The log warns once of a proxy that is not trusted.
func TestUntrustedProxy(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for range 3 {
		s.formFrom(t, "/auth/token", map[string]string{"X-Forwarded-For": "10.0.0.1"}, "grant_type", "refresh_token", "refresh_token", "x")
	}
	s.waitLog(t, "server.trustedProxies")
	if n := strings.Count(s.log.String(), "server.trustedProxies"); n != 1 {
		t.Errorf("got %d warnings, want 1", n)
	}

	trusting, _ := startReady(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	trusting.formFrom(t, "/auth/token", map[string]string{"X-Forwarded-For": "10.0.0.1"}, "grant_type", "refresh_token", "refresh_token", "x")
	if strings.Contains(trusting.log.String(), "server.trustedProxies") {
		t.Error("a trusted proxy is warned of")
	}
}

// Concurrent guesses pass the limit no more than sequential ones.
func TestSignInThrottleTogether(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.Throttle.PerAccountAndAddress = 5; c.PoolWait = 30 * time.Second })
	s.signUp(t, "ada@example.com")
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for range 16 { // so many hashes are ready in time on a busy machine, too
		all.Go(func() {
			resp, _ := s.form(t, "/auth/token", "grant_type", "password", "username", "ada@example.com", "password", "canary-wrong-horse")
			mu.Lock()
			defer mu.Unlock()
			statuses[resp.StatusCode]++
		})
	}
	all.Wait()
	// A machine that is too busy to compute a hash in time returns an error, which does not count as a guess.
	if statuses[400] > 5 || statuses[400]+statuses[503] < 5 || statuses[400]+statuses[429]+statuses[503] != 16 {
		t.Errorf("got %v, want 5 times 400 and 11 times 429", statuses)
	}
}
