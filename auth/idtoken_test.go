package auth

import (
	"crypto"
	"crypto/elliptic"
	"errors"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
)

// TestIDTokenAlgorithms checks the accepted algorithms for each key.
func TestIDTokenAlgorithms(t *testing.T) {
	t.Parallel()
	p := newTestIssuer(t)
	keys := map[string]crypto.Signer{
		"rsa": newRSA(t, 2048), "small": newRSA(t, 1024), "p256": newEC(t, elliptic.P256()), "p384": newEC(t, elliptic.P384()),
		"p521": newEC(t, elliptic.P521()), "ed25519": newEd25519(t),
	}
	for _, id := range []string{"rsa", "small", "p256", "p384", "p521", "ed25519"} {
		p.addKey(t, id, keys[id].Public())
	}
	secret := []byte("a secret that is not a secret once it has been published")
	p.addKey(t, "secret", secret)
	providers := p.providers(t, nil)
	if _, err := providers.VerifyIDToken(t.Context(), p.token(t, time.Now(), jwa.HS256, "secret", secret)); !errors.Is(err, errIDToken) {
		t.Errorf("HS256 by a published secret: got %v, want that it is refused", err)
	}
	if asked := p.takeAsked(); asked != "" {
		t.Errorf("asked for %s because of a token that no key can have signed", asked)
	}
	for _, c := range []struct {
		algorithm jwa.SignatureAlgorithm
		key       string
		want      bool
	}{
		{jwa.RS256, "rsa", true}, {jwa.RS384, "rsa", true}, {jwa.RS512, "rsa", true},
		{jwa.PS256, "rsa", true}, {jwa.PS384, "rsa", true}, {jwa.PS512, "rsa", true},
		{jwa.ES256, "p256", true}, {jwa.ES384, "p384", true}, {jwa.ES512, "p521", true}, {jwa.EdDSA, "ed25519", true},
		{jwa.RS256, "small", false}, // its bits can be factored
	} {
		_, err := providers.VerifyIDToken(t.Context(), p.token(t, time.Now(), c.algorithm, c.key, keys[c.key]))
		if (err == nil) != c.want || err != nil && !errors.Is(err, errIDToken) {
			t.Errorf("%s by key %s: got %v, want accepted %v", c.algorithm, c.key, err, c.want)
		}
	}
}

// TestIDTokenKeys checks which of the published keys are used.
func TestIDTokenKeys(t *testing.T) {
	t.Parallel()
	signer := newEC(t, elliptic.P256())
	set := func(name string, value any) func(key jwk.Key) {
		return func(key jwk.Key) {
			if err := key.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		id      string // in the token
		publish func(p *testIssuer)
		want    bool
	}{
		"as it is":                 {"1", func(*testIssuer) {}, true},
		"for signatures":           {"1", func(p *testIssuer) { set(jwk.KeyUsageKey, "sig")(p.keys[0]) }, true},
		"for encryption":           {"1", func(p *testIssuer) { set(jwk.KeyUsageKey, "enc")(p.keys[0]) }, false},
		"for this algorithm":       {"1", func(p *testIssuer) { set(jwk.AlgorithmKey, jwa.ES256)(p.keys[0]) }, true},
		"for another":              {"1", func(p *testIssuer) { set(jwk.AlgorithmKey, jwa.ES384)(p.keys[0]) }, false},
		"no name, one key":         {"", func(*testIssuer) {}, true},
		"no name, one of its kind": {"", func(p *testIssuer) { p.addKey(t, "2", newEd25519(t).Public()) }, true},
		"no name, two of its kind": {"", func(p *testIssuer) { p.addKey(t, "2", newEC(t, elliptic.P256()).Public()) }, false},
		"two of one name, second fits": {"1", func(p *testIssuer) {
			p.addKey(t, "1", newEC(t, elliptic.P256()).Public())
			p.keys[0], p.keys[1] = p.keys[1], p.keys[0]
		}, true},
		"another of this name": {"1", func(p *testIssuer) { p.keys = nil; p.addKey(t, "1", newEC(t, elliptic.P256()).Public()) }, false},
		"none":                 {"1", func(p *testIssuer) { p.keys = nil }, false},
	} {
		p := newTestIssuer(t)
		p.addKey(t, "1", signer.Public())
		c.publish(p)
		_, err := p.providers(t, nil).VerifyIDToken(t.Context(), p.token(t, time.Now(), jwa.ES256, c.id, signer))
		if (err == nil) != c.want || err != nil && !errors.Is(err, errIDToken) {
			t.Errorf("%s: got %v, want accepted %v", name, err, c.want)
		}
	}
}

// TestIDTokenTimes checks the leeway: a token is valid if a clock that is a minute off
// could consider it valid.
func TestIDTokenTimes(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *time.Time { m := start.Add(d); return &m }
	for _, c := range []struct {
		name                    string
		issued, begins, expires *time.Time
		want                    bool
	}{
		{"good", at(0), nil, at(time.Hour), true},
		{"expired within the leeway", at(-time.Hour), nil, at(-59 * time.Second), true},
		{"expired a minute ago", at(-time.Hour), nil, at(-time.Minute), false},
		{"issued in a minute", at(time.Minute), nil, at(time.Hour), true},
		{"issued later", at(time.Minute + time.Millisecond), nil, at(time.Hour), false},
		{"good in a minute", at(0), at(time.Minute), at(time.Hour), true},
		{"good later", at(0), at(time.Minute + time.Millisecond), at(time.Hour), false},
		{"no end", at(0), nil, nil, false},
		{"no beginning", nil, nil, at(time.Hour), false},
	} {
		claims := idTokenClaims{subject: "ada", audience: []string{testClient}, issuedAt: c.issued, notBefore: c.begins, expires: c.expires}
		if _, err := claims.check(clientsOf(testClient), start); (err == nil) != c.want {
			t.Errorf("%s: got %v, want accepted %v", c.name, err, c.want)
		}
	}
}

// TestIDTokenClients checks the accepted tokens if this service has several clients at
// one issuer.
func TestIDTokenClients(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	expires := start.Add(time.Hour)
	for _, c := range []struct {
		name     string
		audience []string
		party    *string
		want     bool
	}{
		{"one", []string{"web"}, nil, true},
		{"the other", []string{"phone"}, nil, true},
		{"a stranger's", []string{"stranger"}, nil, false},
		{"its own party", []string{"web"}, text("web"), true},
		{"a stranger's party", []string{"web"}, text("stranger"), false},
		{"a party that is not among the audience", []string{"web"}, text("phone"), false},
		{"an empty party", []string{"web"}, text(""), false},
		{"several without party", []string{"web", "stranger"}, nil, false},
		{"several of ours without party", []string{"web", "phone"}, nil, false},
		{"several with ours", []string{"stranger", "web"}, text("web"), true},
		{"several with a stranger", []string{"stranger", "web"}, text("stranger"), false},
		{"none", nil, nil, false},
	} {
		claims := idTokenClaims{subject: "ada", audience: c.audience, authorizedParty: c.party, issuedAt: &start, expires: &expires}
		if _, err := claims.check(clientsOf("web", "phone"), start); (err == nil) != c.want {
			t.Errorf("%s: got %v, want accepted %v", c.name, err, c.want)
		}
	}
}

// clientsOf are providers with these clients of the service.
func clientsOf(ids ...string) []*Provider {
	var list []*Provider
	for _, id := range ids {
		list = append(list, &Provider{options: ProviderOptions{ClientID: id}})
	}
	return list
}
