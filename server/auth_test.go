package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/crypto/bcrypt"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/signin"
)

const refusedPasswordBody = `{"error":"invalid_grant","error_description":"the identity does not exist or the credentials are incorrect"}`

// form posts parameters to a path of /auth, given as name and value in turn.
func (s *testServer) form(t *testing.T, path string, parameters ...string) (*http.Response, string) {
	t.Helper()
	return s.formFrom(t, path, nil, parameters...)
}

func (s *testServer) formFrom(t *testing.T, path string, header map[string]string, parameters ...string) (*http.Response, string) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	all := map[string]string{"Content-Type": signin.FormBody}
	for name, value := range header {
		all[name] = value
	}
	return s.do(t, "POST", path, values.Encode(), all)
}

// granted is a response of the token endpoint.
type granted struct {
	AccessToken     string `json:"access_token"`
	TokenType       string `json:"token_type"`
	ExpiresIn       int    `json:"expires_in"`
	RefreshToken    string `json:"refresh_token"`
	IdentityCreated bool   `json:"identity_created"`
}

// grant posts to the token endpoint, which must not refuse.
func (s *testServer) grant(t *testing.T, parameters ...string) granted {
	t.Helper()
	resp, body := s.form(t, "/auth/token", parameters...)
	if resp.StatusCode != 200 {
		t.Fatalf("%q: got %d %s", parameters, resp.StatusCode, body)
	}
	return readGranted(t, body)
}

func readGranted(t *testing.T, body string) granted {
	t.Helper()
	var g granted
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return g
}

// signUp creates an identity and returns its tokens.
func (s *testServer) signUp(t *testing.T, email string) granted {
	t.Helper()
	return s.grant(t, "grant_type", "password", "username", email, "password", "canary-horse")
}

// refused expects a refusal.
func (s *testServer) refused(t *testing.T, status int, body string, parameters ...string) *http.Response {
	t.Helper()
	resp, got := s.form(t, "/auth/token", parameters...)
	if resp.StatusCode != status || got != body {
		t.Errorf("%q\n got %d %s\nwant %d %s", parameters, resp.StatusCode, got, status, body)
	}
	return resp
}

func TestPasswordGrant(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const name, password = "ada@example.com", "canary-horse"

	resp, body := s.form(t, "/auth/token", "grant_type", "password", "username", "Ada@Example.com", "password", password)
	first := readGranted(t, body)
	if resp.StatusCode != 200 || !first.IdentityCreated || first.TokenType != "Bearer" || first.ExpiresIn != 3600 || len(first.RefreshToken) != 43 {
		t.Errorf("sign-up: got %d %s", resp.StatusCode, body)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: got %q, want no-store", got)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: got %q, want application/json", got)
	}
	who, err := s.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + first.AccessToken})
	if err != nil || who.ID == "" {
		t.Errorf("the access token: got %v, %v", who, err)
	}

	again := s.grant(t, "grant_type", "password", "username", name, "password", password)
	if again.IdentityCreated || again.RefreshToken == first.RefreshToken {
		t.Errorf("sign-in: got %+v", again)
	}
	if same, err := s.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + again.AccessToken}); err != nil || same.ID != who.ID {
		t.Errorf("sign-in: got %v, %v, want %v", same, err, who)
	}
	resp, body = s.do(t, "POST", "/auth/token", `{"grant_type":"password","username":"`+name+`","password":"`+password+`","create_if_not_exists":false}`,
		map[string]string{"Content-Type": "application/json"})
	if resp.StatusCode != 200 || readGranted(t, body).IdentityCreated {
		t.Errorf("as JSON: got %d %s", resp.StatusCode, body)
	}
}

// An attempt must not reveal anything by its answer and by the work behind it. The work
// is counted in hashes, since times vary.
func TestPasswordAnswers(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.Throttle.PerAddress, c.Throttle.PerAccountAndAddress = 1000, 1000 })
	s.signUp(t, "ada@example.com")
	old, err := s.signIn.Passwords.Hash(t.Context(), "canary")
	if err != nil {
		t.Fatal(err)
	}
	d.exec(t, `insert into app.identity (email, issuer, password) values
		('old@example.com', 'http://localhost', '`+old+`'),
		('broken@example.com', 'http://localhost', 'canary, no hash'),
		('elsewhere@example.com', 'https://elsewhere', '`+old+`');
		insert into app.identity (email, issuer) values ('provided@example.com', 'http://localhost')`)
	const short = `{"error":"invalid_request","error_description":"the password is shorter than 8 characters"}`
	for _, test := range []struct {
		what            string
		email, password string
		create          string
		status          int
		body            string // of a refusal
		hashes          uint64
	}{
		{"wrong password", "ada@example.com", "canary-wrong-horse", "false", 400, refusedPasswordBody, 1},
		{"unknown address", "nobody@example.com", "canary-wrong-horse", "false", 400, refusedPasswordBody, 1},
		{"wrong password, might create", "ada@example.com", "canary-wrong-horse", "true", 400, refusedPasswordBody, 1},
		{"short wrong password", "ada@example.com", "canary0", "false", 400, refusedPasswordBody, 1},
		{"unknown address, short", "nobody@example.com", "canary0", "false", 400, refusedPasswordBody, 1},
		{"short wrong password, might create", "ada@example.com", "canary0", "true", 400, short, 1},
		{"unknown address, short, might create", "nobody@example.com", "canary0", "true", 400, short, 1},
		{"short, by characters", "nobody@example.com", "canaryé", "true", 400, short, 1},
		{"an old short password", "old@example.com", "canary", "true", 200, "", 1},
		{"an old short password, not to create", "old@example.com", "canary", "false", 200, "", 1},
		{"a hash that cannot be read", "broken@example.com", "canary, no hash", "false", 400, refusedPasswordBody, 1},
		{"of another base URL", "elsewhere@example.com", "canary", "false", 200, "", 1},
		{"of another base URL, wrong password", "elsewhere@example.com", "canary-wrong-horse", "false", 400, refusedPasswordBody, 1},
		{"of another base URL, wrong password, might create", "elsewhere@example.com", "canary-wrong-horse", "true", 400, refusedPasswordBody, 1},
		{"taken by an identity without password", "provided@example.com", "canary enough", "true", 400, refusedPasswordBody, 2},
		{"new", "new@example.com", "canary12", "true", 200, "", 1},
		{"of 1024 bytes", "long@example.com", "canary" + strings.Repeat("x", 1018), "true", 200, "", 1},
		{"of 1025 bytes", "longer@example.com", "canary" + strings.Repeat("x", 1019), "true", 400, `{"error":"invalid_request","error_description":"the password is longer than 1024 bytes"}`, 0},
	} {
		before := s.signIn.Passwords.Computed()
		resp, body := s.form(t, "/auth/token", "grant_type", "password", "username", test.email, "password", test.password, "create_if_not_exists", test.create)
		if resp.StatusCode != test.status || test.body != "" && body != test.body {
			t.Errorf("%s\n got %d %s\nwant %d %s", test.what, resp.StatusCode, body, test.status, test.body)
		}
		if got := s.signIn.Passwords.Computed() - before; got != test.hashes {
			t.Errorf("%s: got %d hashes, want %d", test.what, got, test.hashes)
		}
	}

	// The headers reveal no more than the body.
	header := func(email string) http.Header {
		resp, _ := s.form(t, "/auth/token", "grant_type", "password", "username", email, "password", "canary-wrong-horse", "create_if_not_exists", "false")
		resp.Header.Del("Date")
		if resp.Header.Get("X-Request-Id") == "" {
			t.Error("an answer has no X-Request-Id")
		}
		resp.Header.Del("X-Request-Id")
		return resp.Header
	}
	if known, unknown := header("ada@example.com"), header("nobody@example.com"); !reflect.DeepEqual(known, unknown) {
		t.Errorf("header of a wrong password: %v\nof an unknown address:     %v", known, unknown)
	}
}

func TestPasswordSettings(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.PasswordSignup = false })
	s.refused(t, 400, refusedPasswordBody, "grant_type", "password", "username", "ada@example.com", "password", "canary-horse", "create_if_not_exists", "true")
	off := start(t, d.ServerURL(), func(c *config.Config) { c.PasswordEnabled = false })
	off.waitReady(t, "")
	off.refused(t, 400, `{"error":"unsupported_grant_type","error_description":"the grant type is not supported"}`,
		"grant_type", "password", "username", "ada@example.com", "password", "canary-horse")
	if _, body := off.do(t, "GET", "/.well-known/oauth-authorization-server", "", nil); strings.Contains(body, "password") {
		t.Errorf("metadata: got %s, want no password", body)
	}
}

// Hashes of bcrypt are verified, and replaced when their password is known.
func TestImportedHash(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	made, err := bcrypt.GenerateFromPassword([]byte("canary-horse"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"$2a$", "$2b$"} {
		email := strings.Trim(kind, "$") + "@example.com"
		d.exec(t, fmt.Sprintf(`insert into app.identity (id, email, issuer, password) values ('%s', '%[1]s', 'http://localhost', '%s')`,
			email, kind+string(made[4:])))
		hash := func() (text string) {
			if err := d.Superuser(t).QueryRow(t.Context(), `select password from app.identity where id = $1`, email).Scan(&text); err != nil {
				t.Fatal(err)
			}
			return text
		}
		s.refused(t, 400, refusedPasswordBody, "grant_type", "password", "username", email, "password", "canary-wrong-horse")
		if got := hash(); !strings.HasPrefix(got, kind) {
			t.Errorf("%s after a wrong password: got %s", kind, got)
		}
		for range 2 {
			if g := s.grant(t, "grant_type", "password", "username", email, "password", "canary-horse"); g.IdentityCreated {
				t.Errorf("%s: another identity was created", kind)
			}
			if got := hash(); !strings.HasPrefix(got, "$argon2id$v=19$m=19456,t=2,p=1$") {
				t.Errorf("%s after the right password: got %s", kind, got)
			}
		}
	}
}

// TestTokenErrors lists the requests that the endpoints refuse.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	invalid := func(description string) string {
		return `{"error":"invalid_request","error_description":"` + description + `"}`
	}
	const asForm, asJSON = "application/x-www-form-urlencoded", "application/json"
	const unreadable, repeated = "the body could not be read", "a parameter is repeated"
	const otherType = "the content type must be application/x-www-form-urlencoded or application/json"
	const notFlat = "the body is not a flat JSON object of texts"
	unsupported := `{"error":"unsupported_grant_type","error_description":"the grant type is not supported"}`
	badToken := `{"error":"invalid_grant","error_description":"the refresh token is not valid"}`
	type test struct{ contentType, body, want string }
	tests := []test{
		{"", "grant_type=password", invalid(otherType)},
		{"text/plain", "grant_type=password", invalid(otherType)},
		{"multipart/form-data; boundary=x", "--x--", invalid(otherType)},
		{asForm + "; charset=latin1", "grant_type=password", invalid(otherType)},
		{asJSON + "; charset=latin1", "{}", invalid(otherType)},
		{asForm + "; charset=UTF-8", "grant_type=refresh_token", invalid("refresh_token is required")},
		{asForm, "", invalid("grant_type is required")},
		{asForm, "grant_type=", invalid("grant_type is required")},
		{asForm, "&&grant_type=refresh_token&", invalid("refresh_token is required")},
		{asForm, "grant_type=refresh_token&refresh_token=", invalid("refresh_token is required")},
		{asForm, "grant_type=password&password=canary", invalid("username is required")},
		{asForm, "grant_type=password&username=ada%40example.com", invalid("password is required")},
		{asForm, "grant_type=password&username=ada&password=canary-horse", invalid("invalid email address")},
		{asForm, "grant_type=authorization_code", invalid("code is required")},
		{asForm, "grant_type=token_exchange", invalid("subject_token is required")},
		{asForm, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange", invalid("subject_token is required")},
		{asForm, "grant_type=client_credentials", unsupported},
		{asForm, "grant_type=Password", unsupported},
		{asForm, "grant_type=a&grant_type=b", invalid(repeated)},
		{asForm, "grant_type=a&grant_type=", invalid(repeated)},
		{asForm, "grant%5ftype=a&grant_type=b", invalid(repeated)},
		{asForm, "grant_type=%zz", invalid(unreadable)},
		{asForm, "grant_type=%ff", invalid(unreadable)},
		{asForm, "grant_type=a%00", invalid(unreadable)},
		{asForm, "grant_type=refresh_token&refresh_token=x&colour=red", badToken},
		{asForm, "grant_type=refresh_token&refresh_token=x&create_if_not_exists=maybe", invalid("create_if_not_exists must be true or false")},
		{asForm, "grant_type=refresh_token&refresh_token=x&create_if_not_exists=1", invalid("create_if_not_exists must be true or false")},
		{asForm, "grant_type=token_exchange&subject_token=x&subject_token_type=saml2", `{"error":"unsupported_token_type","error_description":"subject_token_type is not supported"}`},
		{asForm, "grant_type=token_exchange&subject_token=x&requested_token_type=id_token", `{"error":"unsupported_token_type","error_description":"requested_token_type is not supported"}`},
		{asForm, "grant_type=token_exchange&subject_token=x", `{"error":"invalid_grant","error_description":"the identity does not exist or the ID token is not valid"}`},
		{asForm, "grant_type=authorization_code&code=x", `{"error":"invalid_grant","error_description":"the code, its verifier or its redirect URI is not valid"}`},
		{asJSON, "", invalid("the body is not a JSON object")},
		{asJSON, "[]", invalid("the body is not a JSON object")},
		{asJSON, "{}", invalid("grant_type is required")},
		{asJSON, `{"grant_type":""}`, invalid("grant_type is required")},
		{asJSON, `{"grant_type":1}`, invalid(notFlat)},
		{asJSON, `{"grant_type":null}`, invalid(notFlat)},
		{asJSON, `{"grant_type":true}`, invalid(notFlat)},
		{asJSON, `{"grant_type":"refresh_token","extra":{}}`, invalid(notFlat)},
		{asJSON, `{"grant_type":"refresh_token","create_if_not_exists":0}`, invalid(notFlat)},
		{asJSON, `{"grant_type":"refresh_token","create_if_not_exists":false}`, invalid("refresh_token is required")},
		{asJSON, `{"grant_type":"refresh_token","create_if_not_exists":"true"}`, invalid("refresh_token is required")},
		{asJSON, `{"grant_type":"a","grant_type":"b"}`, invalid(repeated)},
		{asJSON, `{"grant_type":"a"} {}`, invalid(unreadable)},
		{asJSON, `{"grant_type":"a"`, invalid(unreadable)},
		{asJSON, `{"grant_type":"a\u0000"}`, invalid(unreadable)},
		{asJSON, "{\"grant_type\":\"\xff\"}", invalid(unreadable)},
		{asJSON, `{"grant_type":"\ud800"}`, invalid(unreadable)},
		{"application/vnd.x+json", `{"grant_type":"refresh_token","refresh_token":"x"}`, badToken},
	}
	for _, test := range tests {
		header := map[string]string{"Content-Type": test.contentType, "Authorization": "Basic eDp5"} // it is ignored
		resp, body := s.do(t, "POST", "/auth/token?grant_type=refresh_token&refresh_token=y", test.body, header)
		if resp.StatusCode != 400 || body != test.want {
			t.Errorf("%s %q\n got %d %s\nwant 400 %s", test.contentType, test.body, resp.StatusCode, body, test.want)
		}
		if got := resp.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s %q: Cache-Control: got %q, want no-store", test.contentType, test.body, got)
		}
	}

	t.Run("revoke", func(t *testing.T) {
		for _, test := range []test{
			{asForm, "", invalid("token is required")},
			{asForm, "token=", invalid("token is required")},
			{asForm, "token=a&token=b", invalid(repeated)},
			{asJSON, `{"token":7}`, invalid(notFlat)},
			{"text/plain", "token=a", invalid(otherType)},
		} {
			resp, body := s.do(t, "POST", "/auth/revoke", test.body, map[string]string{"Content-Type": test.contentType})
			if resp.StatusCode != 400 || body != test.want {
				t.Errorf("%s %q\n got %d %s\nwant 400 %s", test.contentType, test.body, resp.StatusCode, body, test.want)
			}
		}
	})

	t.Run("methods", func(t *testing.T) {
		for _, path := range []string{"/auth/token", "/auth/revoke"} {
			for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
				resp, body := s.do(t, method, path, "", nil)
				if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" || method != "HEAD" && body != invalid("method not allowed") {
					t.Errorf("%s %s: got %d %s, Allow %q", method, path, resp.StatusCode, body, resp.Header.Get("Allow"))
				}
			}
		}
	})

	t.Run("encodings", func(t *testing.T) {
		for _, contentType := range []string{asForm, asJSON} {
			resp, body := s.do(t, "POST", "/auth/token", "x", map[string]string{"Content-Type": contentType, "Content-Encoding": "gzip"})
			if resp.StatusCode != 400 || body != invalid(otherType) {
				t.Errorf("%s: got %d %s", contentType, resp.StatusCode, body)
			}
		}
	})
}

// Bodies of these endpoints are limited, independent of the limit for actions.
func TestAuthBodyLimit(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const want = `{"error":"invalid_request","error_description":"the request body is too large"}`
	for _, test := range []struct {
		name, request string
		status        int
	}{
		{"declared", "POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65537\r\n\r\n", 413},
		{"sent in pieces", "POST /auth/revoke HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"10001\r\n" + strings.Repeat("x", 0x10001) + "\r\n0\r\n\r\n", 413},
		{"an absolute address", "POST http://x/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65537\r\n\r\n" +
			strings.Repeat("x", 65537), 413},
		{"the longest", "POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n" +
			strings.Repeat(" ", 65536), 400},
	} {
		c := s.dial(t)
		c.write(t, test.request)
		resp, body := c.response(t, "POST")
		if resp.StatusCode != test.status || test.status == 413 && (body != want || !resp.Close) {
			t.Errorf("%s: got %d %s, close %t", test.name, resp.StatusCode, body, resp.Close)
		}
	}
}

// TestRefreshGrant is the table of refresh tokens, from the view of clients.
func TestRefreshGrant(t *testing.T) {
	t.Parallel()
	const refused = `{"error":"invalid_grant","error_description":"the refresh token is not valid"}`
	rotating, d := startReady(t, nil)
	keeping := start(t, d.ServerURL(), func(c *config.Config) { c.RefreshTokenRotation = false })
	keeping.waitReady(t, "")
	refresh := func(s *testServer, token string) string {
		t.Helper()
		g := s.grant(t, "grant_type", "refresh_token", "refresh_token", token)
		if g.IdentityCreated || g.ExpiresIn != 3600 || len(g.RefreshToken) != 43 {
			t.Errorf("refresh: got %+v", g)
		}
		if _, err := s.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + g.AccessToken}); err != nil {
			t.Errorf("access token: %v", err)
		}
		return g.RefreshToken
	}
	refuse := func(token string) {
		t.Helper()
		rotating.refused(t, 400, refused, "grant_type", "refresh_token", "refresh_token", token)
	}
	age := func() {
		d.exec(t, `update platform.auth_refresh_token set superseded_at = superseded_at - interval '61 seconds'`)
	}

	t0 := rotating.signUp(t, "ada@example.com").RefreshToken
	t1 := refresh(rotating, t0)
	if t1 == t0 {
		t.Error("rotating: got the same token")
	}
	if again := refresh(rotating, t0); again != t1 {
		t.Errorf("superseded just now: got %s, want the successor %s", again, t1)
	}
	t2 := refresh(rotating, t1)
	if newest := refresh(rotating, t0); newest != t2 {
		t.Errorf("superseded just now, two ago: got %s, want the newest %s", newest, t2)
	}
	if kept := refresh(keeping, t2); kept != t2 {
		t.Errorf("not rotating: got %s, want the same token %s", kept, t2)
	}
	if newest := refresh(keeping, t1); newest != t2 {
		t.Errorf("not rotating, superseded just now: got %s, want the newest %s", newest, t2)
	}
	age()
	refuse(t0)
	refuse(t2)
	rotating.waitLog(t, "a superseded refresh token was used again; its family is revoked")

	// Neither that nor an invalid token affects another family.
	other := rotating.grant(t, "grant_type", "password", "username", "ada@example.com", "password", "canary-horse").RefreshToken
	for _, none := range []string{"x", strings.Repeat("A", 43), other + "A", other[:42], " " + other, strings.Repeat("x", 5000)} {
		refuse(none)
	}
	next := refresh(rotating, other)

	// Revocation, by the superseded one.
	for _, token := range []string{other, "unknown", strings.Repeat("A", 43)} {
		if resp, body := rotating.form(t, "/auth/revoke", "token", token, "token_type_hint", "whatever"); resp.StatusCode != 200 || body != "{}" {
			t.Errorf("revoke: got %d %s", resp.StatusCode, body)
		}
	}
	refuse(next)

	// As JSON. Further members make no difference, and an access token cannot be revoked.
	signedIn := rotating.signUp(t, "di@example.com")
	for _, token := range []string{signedIn.AccessToken, signedIn.RefreshToken} {
		resp, body := rotating.do(t, "POST", "/auth/revoke", `{"token":"`+token+`","token_type_hint":"access_token"}`,
			map[string]string{"Content-Type": "application/json", "Authorization": "Bearer none"})
		if resp.StatusCode != 200 || body != "{}" {
			t.Errorf("revoke as JSON: got %d %s", resp.StatusCode, body)
		}
		if token == signedIn.AccessToken {
			signedIn.RefreshToken = refresh(rotating, signedIn.RefreshToken)
		}
		if _, err := rotating.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + signedIn.AccessToken}); err != nil {
			t.Errorf("the access token after revoking: %v", err)
		}
	}
	refuse(signedIn.RefreshToken)

	// The end of the family, and of the identity.
	ending := rotating.signUp(t, "bo@example.com").RefreshToken
	d.exec(t, `update platform.auth_family set ends_at = now()`)
	refuse(ending)
	gone := rotating.signUp(t, "cy@example.com").RefreshToken
	d.exec(t, `delete from app.identity where email = 'cy@example.com'`)
	refuse(gone)
}

// A family ends as its sign-in determined, even if it is refreshed often.
func TestRefreshKeepsTheEnd(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.RefreshTokenExpiry = 48 * time.Hour })
	ends := func() (at time.Time) {
		if err := d.Superuser(t).QueryRow(t.Context(), `select ends_at from platform.auth_family`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	token := s.signUp(t, "ada@example.com").RefreshToken
	end := ends()
	if left := time.Until(end); left < 47*time.Hour || left > 49*time.Hour {
		t.Errorf("end: got one in %s, want 48 h", left)
	}
	for range 3 {
		token = s.grant(t, "grant_type", "refresh_token", "refresh_token", token).RefreshToken
	}
	if got := ends(); !got.Equal(end) {
		t.Errorf("end after refreshing: got %s, want %s", got, end)
	}
}

// Browser tabs that all refresh at once agree afterwards.
func TestRefreshGrantTogether(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.PoolWait = 30 * time.Second })
	token := s.signUp(t, "ada@example.com").RefreshToken
	var mu sync.Mutex
	successors := map[string]int{}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			next := s.grant(t, "grant_type", "refresh_token", "refresh_token", token).RefreshToken
			mu.Lock()
			defer mu.Unlock()
			successors[next]++
		})
	}
	all.Wait()
	if len(successors) != 1 {
		t.Errorf("got %d successors (%v), want 1", len(successors), successors)
	}
}

// The log contains no credentials, at any level.
func TestSignInSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	const password, wrong = "canary-password", "canary-wrong-password"
	first := s.grant(t, "grant_type", "password", "username", "ada@example.com", "password", password)
	second := s.grant(t, "grant_type", "refresh_token", "refresh_token", first.RefreshToken)
	s.form(t, "/auth/token", "grant_type", "password", "username", "ada@example.com", "password", wrong)
	s.form(t, "/auth/token", "grant_type", "refresh_token", "refresh_token", "canary-token")
	s.form(t, "/auth/token?password=canary-query", "grant_type", "authorization_code", "code", "canary-code", "code_verifier", "canary-verifier")
	s.form(t, "/auth/token", "grant_type", "token_exchange", "subject_token", "canary.id.token")
	s.form(t, "/auth/token", "grant_type", "canary-grant")
	s.do(t, "POST", "/auth/token", `{"password":"canary-json"`, map[string]string{"Content-Type": "application/json"})
	s.form(t, "/auth/revoke", "token", "canary-revoked")
	d.exec(t, `update platform.auth_refresh_token set superseded_at = superseded_at - interval '1 day'`)
	s.form(t, "/auth/token", "grant_type", "refresh_token", "refresh_token", first.RefreshToken) // reuse
	// The database fails, with the hash and the key as arguments.
	d.exec(t, `alter table platform.auth_family add constraint broken check (created_at > '2100-01-01') not valid`)
	if resp, body := s.form(t, "/auth/token", "grant_type", "password", "username", "ada@example.com", "password", password); resp.StatusCode != 500 ||
		body != `{"error":"server_error","error_description":"an internal error occurred"}` {
		t.Errorf("a failure: got %d %s", resp.StatusCode, body)
	}
	s.waitLog(t, `"constraint":"broken"`)

	log := s.log.String()
	for _, secret := range []string{"canary", "argon2id", first.AccessToken, first.RefreshToken, second.AccessToken, second.RefreshToken} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
	for _, want := range []string{`"path":"/auth/token"`, `"path":"/auth/revoke"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if strings.Contains(d.allPlatformText(t), "canary") || strings.Contains(d.allPlatformText(t), second.RefreshToken) {
		t.Error("the database holds a secret as it was sent")
	}
}

// allPlatformText returns all stored data of sign-ins, as text.
func (d *testDatabase) allPlatformText(t *testing.T) (text string) {
	t.Helper()
	err := d.Superuser(t).QueryRow(t.Context(), `select concat(
		(select json_agg(t) from platform.auth_family t), (select json_agg(t) from platform.auth_refresh_token t),
		(select json_agg(t) from platform.auth_failure t), (select json_agg(t) from platform.auth_try t), (select json_agg(t) from platform.auth_known_address t), (select json_agg(t) from app.identity t))`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGrantMetrics(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	s.signUp(t, "ada@example.com")
	s.form(t, "/auth/token", "grant_type", "password", "username", "ada@example.com", "password", "canary-wrong-horse")
	s.form(t, "/auth/token", "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token", "x")
	s.form(t, "/auth/token", "grant_type", "anything a client may write")
	s.form(t, "/auth/token")
	for _, test := range []struct {
		grant, outcome string
		want           float64
	}{
		{"password", "ok", 1}, {"password", "invalid_grant", 1}, {"token_exchange", "invalid_grant", 1},
		{"other", "unsupported_grant_type", 1}, {"other", "invalid_request", 1},
	} {
		if got := testutil.ToFloat64(s.signIn.Granted.WithLabelValues(test.grant, test.outcome)); got != test.want {
			t.Errorf("%s %s: got %v, want %v", test.grant, test.outcome, got, test.want)
		}
	}
	if _, body := s.do(t, "GET", "/healthz", "", nil); body == "" {
		t.Error("no answer")
	}
}

// A sweep continues until no expired row is left.
func TestSweepSignIns(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	d.exec(t, `insert into platform.auth_return (hash, ends_at)
		select sha256(i::text::bytea), now() + case when i > 105 then interval '1 hour' else interval '-1 second' end from generate_series(1, 107) as i`)
	if err := sweep(s.signIn.Sweep).all(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := d.Superuser(t).QueryRow(t.Context(), `select count(*) from platform.auth_return`).Scan(&left); err != nil || left != 2 {
		t.Errorf("got %d rows, %v, want 2", left, err)
	}
}

// Without a release there are no identities to sign in, and no sign-in succeeds while the
// database is away.
func TestSignInWithoutDatabase(t *testing.T) {
	t.Parallel()
	const away = `{"error":"temporarily_unavailable","error_description":"the service is temporarily unavailable"}`
	d := newDatabase(t)
	s := start(t, d.ServerURL(), nil)
	s.waitReady(t, reasonSchema)
	s.refused(t, 503, away, "grant_type", "password", "username", "ada@example.com", "password", "canary-horse")
	d.install(t, app())
	s.waitReady(t, "")
	token := s.signUp(t, "ada@example.com").RefreshToken

	slow := start(t, d.ServerURL(), func(c *config.Config) { c.LockTimeout = 50 * time.Millisecond })
	slow.waitReady(t, "")
	conn := d.Superuser(t)
	if _, err := conn.Exec(t.Context(), `begin; lock table platform.auth_failure, platform.auth_family in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	slow.refused(t, 503, away, "grant_type", "refresh_token", "refresh_token", token)
	if resp, body := slow.form(t, "/auth/revoke", "token", token); resp.StatusCode != 503 || body != away || resp.Header.Get("Retry-After") == "" {
		t.Errorf("revoke: got %d %s", resp.StatusCode, body)
	}
}
