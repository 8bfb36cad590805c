package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

const passkeyOrigin = "https://app.example.com"

// withPasskeys are the options of a service with passkeys.
var withPasskeys = options{settings: "  passkeys: {rpId: example.com, origins: [" + passkeyOrigin + "]}\n"}

// passkey is a key in an authenticator, with what a browser adds to its answers.
type passkey struct {
	key     *ecdsa.PrivateKey
	id      []byte
	handle  string // of its owner
	counter uint32
	rpID    string
	origin  string
	flags   byte   // user present, user verified
	kind    string // of the ceremony, if it is another
	isCross bool   // the page is in a frame of another
}

func newPasskey(t *testing.T) *passkey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &passkey{key: key, id: make([]byte, 16), rpID: "example.com", origin: passkeyOrigin, flags: 1 | 4}
	_, _ = rand.Read(p.id)
	return p
}

var base64url = base64.RawURLEncoding.EncodeToString

// client returns what the browser signs with an answer.
func (p *passkey) client(kind, challenge string) []byte {
	if p.kind != "" {
		kind = p.kind
	}
	text, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": p.origin, "crossOrigin": p.isCross})
	return text
}

// data returns what the authenticator says of itself.
func (p *passkey) data(flags byte, more ...byte) []byte {
	hash := sha256.Sum256([]byte(p.rpID))
	return append(binary.BigEndian.AppendUint32(append(hash[:], p.flags|flags), p.counter), more...)
}

// credential returns the JSON of an answer.
func (p *passkey) credential(response map[string]string) string {
	text, _ := json.Marshal(map[string]any{
		"id": base64url(p.id), "rawId": base64url(p.id), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{}, "authenticatorAttachment": "platform",
	})
	return string(text)
}

// made answers a challenge for a new passkey.
func (p *passkey) made(t *testing.T, challenge string) string {
	t.Helper()
	point, err := p.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	public, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		t.Fatal(err)
	}
	more := append(make([]byte, 16), 0, byte(len(p.id)))
	more = append(append(more, p.id...), public...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": p.data(64, more...)})
	if err != nil {
		t.Fatal(err)
	}
	return p.credential(map[string]string{"clientDataJSON": base64url(p.client("webauthn.create", challenge)), "attestationObject": base64url(object)})
}

// shown answers a challenge.
func (p *passkey) shown(t *testing.T, challenge string) string {
	t.Helper()
	p.counter++
	data, client := p.data(0), p.client("webauthn.get", challenge)
	hash := sha256.Sum256(client)
	hash = sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, p.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	return p.credential(map[string]string{
		"clientDataJSON": base64url(client), "authenticatorData": base64url(data), "signature": base64url(signature), "userHandle": p.handle,
	})
}

// startPasskey asks for a challenge for a new passkey, and returns the handle of its owner too.
func (s *service) startPasskey(t *testing.T, token string) (challenge, handle string) {
	t.Helper()
	got := s.act(t, token, "startPasskey", nil)
	var answer struct {
		PublicKey struct {
			Challenge              string
			RP                     struct{ ID string }
			User                   struct{ ID string }
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		}
	}
	if err := json.Unmarshal([]byte(got.body), &answer); got.status != http.StatusOK || err != nil {
		t.Fatalf("startPasskey: got %d %s", got.status, got.body)
	}
	asked := answer.PublicKey
	if chosen := asked.AuthenticatorSelection; asked.RP.ID != "example.com" || chosen.ResidentKey != "required" || chosen.UserVerification != "required" {
		t.Errorf("startPasskey: got %s", got.body)
	}
	return asked.Challenge, asked.User.ID
}

// addPasskey gives a caller a passkey.
func (s *service) addPasskey(t *testing.T, token string) *passkey {
	t.Helper()
	p := newPasskey(t)
	var challenge string
	challenge, p.handle = s.startPasskey(t, token)
	s.must(t, token, "confirmPasskey", map[string]string{"credential": p.made(t, challenge), "name": "Ada's phone"})
	return p
}

// challenge asks for a challenge as anybody may.
func (s *service) challenge(t *testing.T) string {
	t.Helper()
	response, err := http.PostForm(s.url+"/auth/passkey", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		PublicKey struct{ Challenge, RPID, UserVerification string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %d, %v", response.StatusCode, err)
	}
	if asked := answer.PublicKey; asked.RPID != "example.com" || asked.UserVerification != "required" {
		t.Errorf("got %+v", asked)
	}
	return answer.PublicKey.Challenge
}

// byPasskey signs in with a passkey: names and values by turns.
func byPasskey(credential string, more ...string) url.Values {
	v := second(append([]string{"credential", credential}, more...)...)
	v.Set("grant_type", "passkey")
	return v
}

// withPasskey is a service with an account ada, which has a passkey.
func withPasskey(t *testing.T) (s *service, own tokens, p *passkey) {
	t.Helper()
	s = serve(t, withPasskeys)
	own = s.signUp(t, "ada@example.com", right)
	return s, own, s.addPasskey(t, own.AccessToken)
}

// TestPasskey adds passkeys, signs in with them alone and behind a password, raises a session, and removes them.
func TestPasskey(t *testing.T) {
	t.Parallel()
	s, own, p := withPasskey(t)
	if got := newBrowser(t).get(t, s.url+"/.well-known/oauth-authorization-server").body; !strings.Contains(got, `"passkey"`) {
		t.Errorf("the metadata: got %s", got)
	}
	other := s.another(t)
	for range 2 {
		in := other.grant(t, byPasskey(p.shown(t, s.challenge(t)))) // another server's challenge is as good
		if in.status != http.StatusOK || in.RefreshToken == "" || in.IdentityCreated || !s.isSignedIn(t, in.AccessToken) {
			t.Fatalf("the passkey alone: got %+v", in)
		}
		if got := s.act(t, in.AccessToken, "listSafely", nil); got.status != http.StatusOK {
			t.Errorf("a rule that asks for a second factor: got %d %s", got.status, got.body)
		}
	}

	got := s.grant(t, byPassword("ada", right))
	if got.Error != "second_factor_required" || strings.Join(got.Factors, " ") != "passkey" || got.PublicKey.Challenge == "" || got.PublicKey.RPID != "example.com" {
		t.Fatalf("the right password: got %+v", got)
	}
	in := s.grant(t, second("factor_token", got.FactorToken, "credential", p.shown(t, got.PublicKey.Challenge)))
	if in.status != http.StatusOK || in.RefreshToken == "" {
		t.Fatalf("the passkey behind the password: got %+v", in)
	}

	for _, grant := range []string{"second_factor", "passkey"} {
		s.exec(t, `update platform.auth_family set second_at = second_at - interval '6 minutes'`)
		s.refused(t, own.AccessToken, "startPasskey", nil, http.StatusForbidden, `"needs":"recentSignIn"`)
		v := byPasskey(p.shown(t, s.challenge(t)), "access_token", own.AccessToken)
		v.Set("grant_type", grant)
		if raised := s.grant(t, v); raised.status != http.StatusOK || raised.RefreshToken != "" || !s.isSignedIn(t, raised.AccessToken) {
			t.Fatalf("the passkey for the session: got %+v", raised)
		}
	}

	second := s.addPasskey(t, own.AccessToken)
	s.protect(t, own.AccessToken)
	var listed struct {
		Factors []struct {
			Kind, ID, Name string
			UsedAt         *string
		}
	}
	list := s.act(t, own.AccessToken, "listFactors", nil)
	if err := json.Unmarshal([]byte(list.body), &listed); err != nil || len(listed.Factors) != 3 {
		t.Fatalf("got %s", list.body)
	}
	if first := listed.Factors[0]; first.Kind != "passkey" || first.ID != base64url(p.id) || first.Name != "Ada's phone" || first.UsedAt == nil || listed.Factors[1].UsedAt != nil {
		t.Errorf("got %s", list.body)
	}
	for _, one := range []*passkey{p, second} {
		s.must(t, own.AccessToken, "removePasskey", map[string]string{"id": base64url(one.id)})
		expectFactor(t, s.grant(t, byPasskey(one.shown(t, s.challenge(t)))), "invalid_grant")
	}
	s.refused(t, own.AccessToken, "removePasskey", map[string]string{"id": base64url(p.id)}, http.StatusConflict, "the identity has no second factor")
	if got := s.grant(t, byPassword("ada", right)); strings.Join(got.Factors, " ") != "totp recovery" || got.PublicKey.Challenge != "" {
		t.Errorf("without passkeys: got %+v", got)
	}
}

// TestPasskeyOnce shows one answer to two servers at the same moment.
func TestPasskeyOnce(t *testing.T) {
	t.Parallel()
	s, _, p := withPasskey(t)
	other := s.another(t)
	credential := p.shown(t, s.challenge(t))
	var ended sync.WaitGroup
	accepted := make(chan int, 8)
	for i := range cap(accepted) {
		ended.Go(func() {
			got, err := []*service{s, other}[i%2].tryGrant(byPasskey(credential))
			if err != nil || got.status != http.StatusOK && got.Error != "invalid_grant" {
				t.Errorf("got %+v, %v", got, err)
			}
			accepted <- got.status
		})
	}
	ended.Wait()
	close(accepted)
	n := 0
	for status := range accepted {
		if status == http.StatusOK {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were accepted, want 1", n)
	}
}

// passkeyAttacks lists attempts to sign in with a passkey that is not right, or to add one.
var passkeyAttacks = []struct {
	name string
	try  func(t *testing.T, s *service, own tokens, p *passkey)
}{
	{"a page of another origin asks", func(t *testing.T, s *service, _ tokens, p *passkey) {
		for _, origin := range []string{"https://example.com", "http://app.example.com", "https://app.example.com.evil.example", "https://app.example.com:8443", s.url} {
			p.origin = origin
			expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
		}
	}},
	{"a page asks from within the page of another", func(t *testing.T, s *service, _ tokens, p *passkey) {
		p.isCross = true
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"the answer is for another domain", func(t *testing.T, s *service, _ tokens, p *passkey) {
		p.rpID = "app.example.com"
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"a request names an origin and a domain", func(t *testing.T, s *service, _ tokens, p *passkey) {
		p.origin, p.rpID = "https://evil.example", "evil.example"
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)), "origin", p.origin, "rpId", p.rpID)), "invalid_grant")
	}},
	{"the challenge is another service's, or made up", func(t *testing.T, s *service, own tokens, p *passkey) {
		other := serve(t, withPasskeys)
		for _, challenge := range []string{other.challenge(t), base64url(make([]byte, 64)), "", "!"} {
			expectFactor(t, s.grant(t, byPasskey(p.shown(t, challenge))), "invalid_grant")
		}
	}},
	{"the challenge for a new passkey is answered to sign in", func(t *testing.T, s *service, own tokens, p *passkey) {
		challenge, _ := s.startPasskey(t, own.AccessToken)
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, challenge))), "invalid_grant")
	}},
	{"the challenge for a sign-in is answered with a new passkey", func(t *testing.T, s *service, own tokens, _ *passkey) {
		s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": newPasskey(t).made(t, s.challenge(t))}, http.StatusBadRequest, "is not a new passkey")
	}},
	{"the challenge of somebody else is answered with a new passkey", func(t *testing.T, s *service, own tokens, _ *passkey) {
		challenge, _ := s.startPasskey(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": newPasskey(t).made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
	}},
	{"an answer is sent again", func(t *testing.T, s *service, _ tokens, p *passkey) {
		credential := p.shown(t, s.challenge(t))
		expectFactor(t, s.grant(t, byPasskey(credential)), "")
		expectFactor(t, s.grant(t, byPasskey(credential)), "invalid_grant")
	}},
	{"a challenge is answered twice", func(t *testing.T, s *service, own tokens, p *passkey) {
		challenge := s.challenge(t)
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, challenge))), "")
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, challenge))), "invalid_grant")
		challenge, _ = s.startPasskey(t, own.AccessToken)
		s.must(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": newPasskey(t).made(t, challenge)})
		s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": newPasskey(t).made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
	}},
	{"an authenticator has not verified its user", func(t *testing.T, s *service, own tokens, p *passkey) {
		p.flags = 1
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
		got := s.grant(t, byPassword("ada", right))
		expectFactor(t, s.grant(t, second("factor_token", got.FactorToken, "credential", p.shown(t, got.PublicKey.Challenge))), "invalid_grant")
		made := newPasskey(t)
		made.flags = 1
		challenge, _ := s.startPasskey(t, own.AccessToken)
		s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": made.made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
	}},
	{"the counter goes back, or stays", func(t *testing.T, s *service, _ tokens, p *passkey) {
		for _, c := range []struct {
			counter uint32
			want    string
		}{{7, ""}, {3, "invalid_grant"}, {7, "invalid_grant"}, {0, "invalid_grant"}, {8, ""}} {
			p.counter = c.counter - 1 // it counts when it signs
			expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), c.want)
		}
	}},
	{"a challenge is answered too late", func(t *testing.T, s *service, _ tokens, p *passkey) {
		const accept = `select is_accepted from platform.auth_factor_accept((select id from app.identity), null, null, 0, null, $1, 5, $2, now() + $3, $2, $2, '1 day', null, '::1', 10, 10, 10, '1 hour')`
		for after, want := range map[string]bool{"-1 second": false, "1 second": true} {
			hash := sha256.Sum256([]byte(after))
			if got := value[bool](t, s, accept, base64url(p.id), hash[:], after); got != want {
				t.Errorf("%s: got %t", after, got)
			}
		}
	}},
	{"the signature is another key's", func(t *testing.T, s *service, _ tokens, p *passkey) {
		p.key = newPasskey(t).key
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"the passkey is unknown", func(t *testing.T, s *service, _ tokens, p *passkey) {
		unknown := newPasskey(t)
		for _, unknown.handle = range []string{p.handle, "", base64url(make([]byte, 32))} {
			expectFactor(t, s.grant(t, byPasskey(unknown.shown(t, s.challenge(t)))), "invalid_grant")
		}
	}},
	{"the passkey names another owner, or none", func(t *testing.T, s *service, own tokens, p *passkey) {
		theirs := s.addPasskey(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		theirs.handle = p.handle
		expectFactor(t, s.grant(t, byPasskey(theirs.shown(t, s.challenge(t)))), "invalid_grant")
		p.handle = ""
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"somebody else's passkey is shown behind a password", func(t *testing.T, s *service, own tokens, _ *passkey) {
		theirs := s.addPasskey(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "credential", theirs.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"somebody else's passkey raises a session", func(t *testing.T, s *service, own tokens, _ *passkey) {
		theirs := s.addPasskey(t, s.signUp(t, "mallory@example.com", right).AccessToken)
		for _, grant := range []string{"passkey", "second_factor"} {
			v := byPasskey(theirs.shown(t, s.challenge(t)), "access_token", own.AccessToken)
			v.Set("grant_type", grant)
			expectFactor(t, s.grant(t, v), "invalid_grant")
		}
	}},
	{"somebody else's passkey is taken over", func(t *testing.T, s *service, _ tokens, p *passkey) {
		mallory := s.signUp(t, "mallory@example.com", right)
		theirs := newPasskey(t)
		theirs.id = p.id
		challenge, _ := s.startPasskey(t, mallory.AccessToken)
		s.refused(t, mallory.AccessToken, "confirmPasskey", map[string]string{"credential": theirs.made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
		s.refused(t, mallory.AccessToken, "removePasskey", map[string]string{"id": base64url(p.id)}, http.StatusConflict, "the identity has no second factor")
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "")
	}},
	{"the answer is of another ceremony", func(t *testing.T, s *service, own tokens, p *passkey) {
		p.kind = "webauthn.create"
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
		made := newPasskey(t)
		made.kind = "webauthn.get"
		challenge, _ := s.startPasskey(t, own.AccessToken)
		s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": made.made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
	}},
	{"a new passkey is of another origin or domain", func(t *testing.T, s *service, own tokens, _ *passkey) {
		for _, spoil := range []func(*passkey){func(p *passkey) { p.origin = "https://evil.example" }, func(p *passkey) { p.rpID = "evil.example" }} {
			made := newPasskey(t)
			spoil(made)
			challenge, _ := s.startPasskey(t, own.AccessToken)
			s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": made.made(t, challenge)}, http.StatusBadRequest, "is not a new passkey")
		}
	}},
	{"a token for the second factor is used for a sixth passkey", func(t *testing.T, s *service, _ tokens, p *passkey) {
		token := s.factorToken(t, "ada")
		for range 5 {
			expectFactor(t, s.grant(t, second("factor_token", token, "credential", "{}")), "invalid_grant")
		}
		expectFactor(t, s.grant(t, second("factor_token", token, "credential", p.shown(t, s.challenge(t)))), "invalid_grant")
	}},
	{"a passkey is shown with a code, or without anything else", func(t *testing.T, s *service, _ tokens, p *passkey) {
		credential := p.shown(t, s.challenge(t))
		expectFactor(t, s.grant(t, second("factor_token", s.factorToken(t, "ada"), "credential", credential, "code", "123456")), "invalid_request")
		expectFactor(t, s.grant(t, second("credential", credential)), "invalid_request")
		expectFactor(t, s.grant(t, byPasskey("")), "invalid_request")
	}},
	{"a stolen session adds a passkey, or removes one", func(t *testing.T, s *service, own tokens, p *passkey) {
		challenge, _ := s.startPasskey(t, own.AccessToken)
		for set, needs := range map[string]string{"second_at - interval '6 minutes'": "recentSignIn", "null": "secondFactor"} {
			s.exec(t, `update platform.auth_family set second_at = `+set)
			needs = `"needs":"` + needs + `"`
			s.refused(t, own.AccessToken, "startPasskey", nil, http.StatusForbidden, needs)
			s.refused(t, own.AccessToken, "confirmPasskey", map[string]string{"credential": newPasskey(t).made(t, challenge)}, http.StatusForbidden, needs)
			s.refused(t, own.AccessToken, "removePasskey", map[string]string{"id": base64url(p.id)}, http.StatusForbidden, needs)
			s.exec(t, `update platform.auth_family set second_at = now()`)
		}
	}},
	{"the key of a machine adds a passkey", func(t *testing.T, s *service, _ tokens, _ *passkey) {
		key := s.machineKey(t, "ada@example.com")
		s.refused(t, key, "startPasskey", nil, http.StatusForbidden, "ERR_PERMISSION_DENIED")
		s.refused(t, key, "confirmPasskey", map[string]string{"credential": "{}"}, http.StatusForbidden, "ERR_PERMISSION_DENIED")
	}},
	{"a passkey survives its identity", func(t *testing.T, s *service, _ tokens, p *passkey) {
		challenge := s.challenge(t)
		s.exec(t, `delete from app.identity`)
		expectFactor(t, s.grant(t, byPasskey(p.shown(t, challenge))), "invalid_grant")
		if n := value[int](t, s, `select count(*)::int from platform.auth_passkey`); n != 0 {
			t.Errorf("%d passkeys are left", n)
		}
	}},
}

func TestPasskeyAttacks(t *testing.T) {
	t.Parallel()
	for _, attack := range passkeyAttacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			s, own, p := withPasskey(t)
			attack.try(t, s, own, p)
		})
	}
}

// TestPasskeyAfterReset signs up with somebody else's address and adds a passkey, before the owner of the mailbox sets a
// password: the passkey stays as a factor, and signs in alone only after it was shown behind that password.
func TestPasskeyAfterReset(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, withPasskeys)
	p := s.addPasskey(t, s.signUp(t, "ada@example.com", right).AccessToken)
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	_, token := await(t, mails, 0)
	s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "another-canary"})
	expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	got := s.password(t, "ada@example.com", "another-canary")
	expectFactor(t, got, "second_factor_required")
	expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "invalid_grant")
	expectFactor(t, s.grant(t, second("factor_token", got.FactorToken, "credential", p.shown(t, got.PublicKey.Challenge))), "")
	expectFactor(t, s.grant(t, byPasskey(p.shown(t, s.challenge(t)))), "")
}

// TestPasskeysAreOff serves without passkeys: there is no challenge, no grant and no action.
func TestPasskeysAreOff(t *testing.T) {
	t.Parallel()
	s, own, _, _ := protected(t, options{})
	expectFactor(t, s.grant(t, byPasskey("{}")), "unsupported_grant_type")
	expectFactor(t, s.grant(t, second("access_token", own.AccessToken, "credential", "{}")), "invalid_request")
	s.refused(t, own.AccessToken, "startPasskey", nil, http.StatusNotFound, "ERR_")
	response, err := http.PostForm(s.url+"/auth/passkey", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("got %d, want 400", response.StatusCode)
	}
}
