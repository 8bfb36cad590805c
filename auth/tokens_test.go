package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

const baseURL = "https://api.example.com"

// start is the time at which tests begin.
var start = time.Date(2026, 3, 31, 21, 40, 10, 500e6, time.UTC)

func pemBlock(t testing.TB, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func pkcs8(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pemBlock(t, "PRIVATE KEY", der, err)
}

func pkix(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	return pemBlock(t, "PUBLIC KEY", der, err)
}

func newRSA(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newEC(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newEd25519(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// clock is a time that tests move.
type clock struct {
	mutex sync.Mutex
	time  time.Time
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.time
}

func (c *clock) add(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.time = c.time.Add(d)
}

func newTokens(t testing.TB, options TokenOptions) *Tokens {
	t.Helper()
	if options.SigningKey == nil {
		key, err := GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		options.SigningKey = key
	}
	if options.BaseURL == "" {
		options.BaseURL = baseURL
	}
	if options.Lifetime == 0 {
		options.Lifetime = time.Hour
	}
	tokens, err := NewTokens(options)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func issue(t testing.TB, tokens *Tokens, identityID string) string {
	t.Helper()
	token, _, err := tokens.Issue(identityID)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestRoundTripOfEachKind(t *testing.T) {
	t.Parallel()
	rsaKey, ecKey := newRSA(t, 2048), newEC(t, elliptic.P256())
	sec1, err := x509.MarshalECPrivateKey(ecKey)
	ec := pemBlock(t, "EC PRIVATE KEY", sec1, err)
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}})
	generated, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		key       []byte
		algorithm string
		kty       string
	}{
		{"RSA in PKCS#8", pkcs8(t, rsaKey), "RS256", "RSA"},
		{"RSA in PKCS#1", pemBlock(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey), nil), "RS256", "RSA"},
		{"EC in PKCS#8", pkcs8(t, ecKey), "ES256", "EC"},
		{"EC in SEC 1", ec, "ES256", "EC"},
		{"EC in SEC 1 after its parameters", append(parameters, ec...), "ES256", "EC"},
		{"Ed25519 in PKCS#8", pkcs8(t, newEd25519(t)), "EdDSA", "OKP"},
		{"generated", generated, "ES256", "EC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			time := &clock{time: start}
			tokens := newTokens(t, TokenOptions{SigningKey: c.key, Now: time.now})
			token, expires, err := tokens.Issue("identity-1")
			if err != nil {
				t.Fatal(err)
			}
			if want := start.Truncate(1e9).Add(3600e9); !expires.Equal(want) {
				t.Errorf("expires: got %s, want %s", expires, want)
			}
			got, err := tokens.Identify(t.Context(), []string{"Bearer " + token})
			if err != nil || got.ID != "identity-1" {
				t.Errorf("identify: got %v, %v, want identity-1", got, err)
			}

			// A client sees the header, the claims and a published key that verifies.
			message, err := jws.Parse([]byte(token))
			if err != nil {
				t.Fatal(err)
			}
			header := message.Signatures()[0].ProtectedHeaders()
			if string(header.Algorithm()) != c.algorithm || header.Type() != "at+jwt" || header.KeyID() == "" {
				t.Errorf("header: got %s %s %s, want %s at+jwt and a kid", header.Algorithm(), header.Type(), header.KeyID(), c.algorithm)
			}
			set, err := jwk.Parse(tokens.JWKS())
			if err != nil || set.Len() != 1 {
				t.Fatalf("key set %s: %v", tokens.JWKS(), err)
			}
			payload, err := jws.Verify([]byte(token), jws.WithKeySet(set))
			if err != nil {
				t.Fatalf("verify by the key set: %v", err)
			}
			var claims map[string]any
			if err := json.Unmarshal(payload, &claims); err != nil {
				t.Fatal(err)
			}
			if jti, _ := claims["jti"].(string); len(jti) < 22 {
				t.Errorf("jti: got %q, want at least 128 random bits", jti)
			}
			delete(claims, "jti")
			want := map[string]any{"iss": baseURL, "aud": baseURL, "sub": "identity-1",
				"iat": float64(start.Unix()), "exp": float64(start.Unix() + 3600)}
			if !maps.Equal(claims, want) {
				t.Errorf("claims: got %v, want %v", claims, want)
			}
			var published struct{ Keys []map[string]any }
			if err := json.Unmarshal(tokens.JWKS(), &published); err != nil {
				t.Fatal(err)
			}
			key := published.Keys[0]
			if key["kty"] != c.kty || key["alg"] != c.algorithm || key["use"] != "sig" || key["kid"] != header.KeyID() || key["d"] != nil {
				t.Errorf("published key: got %v", key)
			}
		})
	}
}

// TestKeyIDIsTheThumbprint checks the kid against the example of RFC 7638.
func TestKeyIDIsTheThumbprint(t *testing.T) {
	t.Parallel()
	key, err := jwk.ParseKey([]byte(`{"kty":"RSA","e":"AQAB","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}`))
	if err != nil {
		t.Fatal(err)
	}
	var raw rsa.PublicKey
	if err := key.Raw(&raw); err != nil {
		t.Fatal(err)
	}
	got, err := newPublicKey(&raw)
	if want := "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"; err != nil || got.id != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

func TestNewTokensRefuses(t *testing.T) {
	t.Parallel()
	good, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	ecKey := newEC(t, elliptic.P256())
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"DEK-Info": "AES-128-CBC,00"}, Bytes: []byte{1}})
	for _, c := range []struct {
		name    string
		signing []byte
		further []byte
		want    string
	}{
		{"no key", nil, nil, "read the signing key: it is not in PEM form"},
		{"no PEM", []byte("secret"), nil, "read the signing key: it is not in PEM form"},
		{"RSA too small", pkcs8(t, newRSA(t, 1024)), nil, "read the signing key: an RSA key needs at least 2048 bits, this one has 1024"},
		{"other curve", pkcs8(t, newEC(t, elliptic.P384())), nil, "read the signing key: an EC key must be on P-256, this one is on P-384"},
		{"public key", pkix(t, ecKey.Public()), nil, "read the signing key: a block PUBLIC KEY does not hold a private key"},
		{"encrypted", encrypted, nil, "read the signing key: it is encrypted"},
		{"encrypted in PKCS#8", pemBlock(t, "ENCRYPTED PRIVATE KEY", []byte{1}, nil), nil, "read the signing key: it is encrypted"},
		{"two keys", append(pkcs8(t, ecKey), good...), nil, "read the signing key: it has more than one PEM block"},
		{"broken", pemBlock(t, "PRIVATE KEY", []byte{1, 2, 3}, nil), nil, "read the signing key: "},
		{"private verification key", good, pkcs8(t, ecKey), "read verification key 1: it is a private key; give its public key"},
		{"small verification key", good, pkix(t, newRSA(t, 1024).Public()), "read verification key 1: an RSA key needs at least 2048 bits, this one has 1024"},
		{"certificate", good, pemBlock(t, "CERTIFICATE", []byte{1}, nil), "read verification key 1: a block CERTIFICATE does not hold a public key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := TokenOptions{SigningKey: c.signing, BaseURL: baseURL, Lifetime: time.Hour}
			if c.further != nil {
				options.VerificationKeys = [][]byte{c.further}
			}
			_, err := NewTokens(options)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v, want %s", err, c.want)
			}
		})
	}
	if _, err := NewTokens(TokenOptions{SigningKey: good, Lifetime: time.Hour}); err == nil {
		t.Error("without a base URL: no error")
	}
	if _, err := NewTokens(TokenOptions{SigningKey: good, BaseURL: baseURL}); err == nil {
		t.Error("without a lifetime: no error")
	}
	if _, _, err := newTokens(t, TokenOptions{}).Issue(""); err == nil {
		t.Error("issue for no identity: no error")
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	oldKey, newKey, pkcs1Key := newEC(t, elliptic.P256()), newEd25519(t), newRSA(t, 2048)
	further := pemBlock(t, "RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&pkcs1Key.PublicKey), nil)
	const remembered = 100 // each caches its verified tokens, but only as long as the key is there
	before := newTokens(t, TokenOptions{SigningKey: pkcs8(t, oldKey), CacheSize: remembered})
	published := newTokens(t, TokenOptions{SigningKey: pkcs8(t, oldKey), VerificationKeys: [][]byte{pkix(t, newKey.Public())}, CacheSize: remembered})
	switched := newTokens(t, TokenOptions{SigningKey: pkcs8(t, newKey),
		VerificationKeys: [][]byte{pkix(t, oldKey.Public()), pkix(t, newKey.Public()), further}, CacheSize: remembered})
	after := newTokens(t, TokenOptions{SigningKey: pkcs8(t, newKey), CacheSize: remembered})
	for _, c := range []struct {
		name   string
		issuer *Tokens
		reader *Tokens
		want   error
	}{
		{"old token while the new key is published", before, published, nil},
		{"old token after the switch", published, switched, nil},
		{"new token where the new key was published", switched, published, nil},
		{"old token after the old key was dropped", before, after, ErrInvalid},
		{"new token where the new key is unknown", after, before, ErrInvalid},
		{"new token", switched, after, nil},
	} {
		values := []string{"Bearer " + issue(t, c.issuer, "x")}
		if _, err := c.issuer.Identify(t.Context(), values); err != nil || c.issuer.verified.size() == 0 {
			t.Errorf("%s: got %v from whoever issued it, which remembers %d", c.name, err, c.issuer.verified.size())
		}
		got, err := c.reader.Identify(t.Context(), values)
		if !errors.Is(err, c.want) || err == nil && got.ID != "x" {
			t.Errorf("%s: got %v, %v, want error %v", c.name, got, err, c.want)
		}
	}
	set, err := jwk.Parse(switched.JWKS())
	if err != nil || set.Len() != 3 {
		t.Fatalf("key set %s: %v", switched.JWKS(), err)
	}
	if first, _ := set.Key(0); first.KeyID() != switched.signing.id {
		t.Errorf("key set: got %s first, want the signing key", first.KeyID())
	}
}

// forge makes a token with any header and claims.
func forge(t testing.TB, header, claims map[string]any, sign func(signingInput []byte) []byte) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	input := part(header) + "." + part(claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(input)))
}

func signWith(t testing.TB, algorithm jwa.SignatureAlgorithm, key any) func([]byte) []byte {
	t.Helper()
	signer, err := jws.NewSigner(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return func(input []byte) []byte {
		signature, err := signer.Sign(input, key)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	key, rsaKey, foreign := newEC(t, elliptic.P256()), newRSA(t, 2048), newEC(t, elliptic.P256())
	rsaPublic := pkix(t, rsaKey.Public())
	clock := &clock{time: start}
	tokens := newTokens(t, TokenOptions{SigningKey: pkcs8(t, key), VerificationKeys: [][]byte{rsaPublic}, Now: clock.now, CacheSize: 100})
	rsaID := ""
	for id, k := range tokens.keys {
		if k.algorithm == jwa.RS256 {
			rsaID = id
		}
	}
	foreignKey, err := newPublicKey(foreign.Public())
	if err != nil {
		t.Fatal(err)
	}

	own := signWith(t, jwa.ES256, key)
	none := func([]byte) []byte { return nil }
	with := func(changes map[string]any) func(map[string]any) {
		return func(m map[string]any) {
			for name, value := range changes {
				if value == nil {
					delete(m, name)
				} else {
					m[name] = value
				}
			}
		}
	}
	same := with(nil)
	set := func(name string, value any) func(map[string]any) { return with(map[string]any{name: value}) }
	jwkOfForeign, err := json.Marshal(foreignKey.jwk)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name   string
		header func(map[string]any)
		claims func(map[string]any)
		sign   func([]byte) []byte
		want   error
	}{
		{"as issued", same, same, own, nil},
		{"jku, x5u and jwk are not followed", with(map[string]any{"jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/", "jwk": json.RawMessage(jwkOfForeign)}), same, own, nil},
		{"further claims", same, with(map[string]any{"scope": "a", "nbf": start.Unix() + 9999}), own, nil},
		{"alg none", set("alg", "none"), same, none, ErrInvalid},
		{"alg none with another spelling", set("alg", "nOnE"), same, none, ErrInvalid},
		{"alg empty", set("alg", ""), same, none, ErrInvalid},
		{"no alg", set("alg", nil), same, own, ErrInvalid},
		{"no signature", same, same, none, ErrInvalid},
		{"HS256 with the public key as secret", with(map[string]any{"alg": "HS256", "kid": rsaID}), same, signWith(t, jwa.HS256, rsaPublic), ErrInvalid},
		{"HS256 with the kid as secret", set("alg", "HS256"), same, signWith(t, jwa.HS256, []byte(tokens.signing.id)), ErrInvalid},
		{"another algorithm of the same key", with(map[string]any{"alg": "PS256", "kid": rsaID}), same, signWith(t, jwa.PS256, rsaKey), ErrInvalid},
		{"algorithm of the other key", with(map[string]any{"alg": "RS256"}), same, signWith(t, jwa.RS256, rsaKey), ErrInvalid},
		{"kid of the other key", set("kid", rsaID), same, own, ErrInvalid},
		{"signed by a verification key", with(map[string]any{"alg": "RS256", "kid": rsaID}), same, signWith(t, jwa.RS256, rsaKey), nil},
		{"foreign key under a known kid", same, same, signWith(t, jwa.ES256, foreign), ErrInvalid},
		{"foreign key under its own kid", set("kid", foreignKey.id), same, signWith(t, jwa.ES256, foreign), ErrInvalid},
		{"foreign key sent along", with(map[string]any{"kid": foreignKey.id, "jwk": json.RawMessage(jwkOfForeign)}), same, signWith(t, jwa.ES256, foreign), ErrInvalid},
		{"kid with a path", set("kid", "../../../../dev/null"), same, own, ErrInvalid},
		{"kid empty", set("kid", ""), same, own, ErrInvalid},
		{"no kid", set("kid", nil), same, own, ErrInvalid},
		{"kid of another type", set("kid", 5), same, own, ErrInvalid},
		{"typ JWT", set("typ", "JWT"), same, own, ErrInvalid},
		{"typ in upper case", set("typ", "AT+JWT"), same, own, ErrInvalid},
		{"no typ", set("typ", nil), same, own, ErrInvalid},
		{"crit", with(map[string]any{"crit": []string{"exp"}}), same, own, ErrInvalid},
		{"crit empty", with(map[string]any{"crit": []string{}}), same, own, ErrInvalid},
		{"crit null", set("crit", json.RawMessage("null")), same, own, ErrInvalid},
		{"unencoded payload", with(map[string]any{"b64": false, "crit": []string{"b64"}}), same, own, ErrInvalid},
		{"other issuer", same, set("iss", "https://evil.example"), own, ErrInvalid},
		{"issuer with a slash", same, set("iss", baseURL+"/"), own, ErrInvalid},
		{"no issuer", same, set("iss", nil), own, ErrInvalid},
		{"other audience", same, set("aud", "https://evil.example"), own, ErrInvalid},
		{"several audiences", same, set("aud", []string{baseURL, "https://evil.example"}), own, ErrInvalid},
		{"no audience", same, set("aud", nil), own, ErrInvalid},
		{"empty sub", same, set("sub", ""), own, ErrInvalid},
		{"no sub", same, set("sub", nil), own, ErrInvalid},
		{"sub of another type", same, set("sub", 7), own, ErrInvalid},
		{"no exp", same, set("exp", nil), own, ErrInvalid},
		{"exp as text", same, set("exp", "9999999999"), own, ErrInvalid},
		{"exp far away", same, set("exp", 1e300), own, ErrInvalid},
		{"expired", same, set("exp", start.Unix()-100), own, ErrExpired},
		{"expires now, without leeway", same, set("exp", start.Unix()), own, ErrExpired},
		{"expires in half a second", same, set("exp", start.Unix()+1), own, nil},
		{"expired and signed by a foreign key", same, set("exp", start.Unix()-100), signWith(t, jwa.ES256, foreign), ErrInvalid},
		{"expired and of another issuer", same, with(map[string]any{"exp": start.Unix() - 100, "iss": "x"}), own, ErrInvalid},
	} {
		header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": tokens.signing.id}
		claims := map[string]any{"iss": baseURL, "aud": baseURL, "sub": "victim", "iat": start.Unix(), "exp": start.Unix() + 3600, "jti": "x"}
		c.header(header)
		c.claims(claims)
		token := forge(t, header, claims, c.sign)
		for range 2 { // the second time perhaps from the cache
			got, err := tokens.Identify(t.Context(), []string{"Bearer " + token})
			if !errors.Is(err, c.want) || err == nil && got.ID != "victim" || err != nil && got.ID != "" {
				t.Errorf("%s: got %v, %v, want error %v", c.name, got, err, c.want)
			}
		}
	}
}

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, TokenOptions{CacheSize: 10})
	token := issue(t, tokens, "x")
	parts := strings.Split(token, ".")
	for _, c := range []struct {
		name   string
		values []string
		want   error
		id     string
	}{
		{"no header", nil, nil, ""},
		{"as it should be", []string{"Bearer " + token}, nil, "x"},
		{"lower case", []string{"bearer " + token}, nil, "x"},
		{"upper case", []string{"BEARER " + token}, nil, "x"},
		{"several spaces", []string{"Bearer   " + token}, nil, "x"},
		{"spaces around the value", []string{" Bearer " + token + "  \t"}, nil, "x"},
		{"twice", []string{"Bearer " + token, "Bearer " + token}, ErrHeader, ""},
		{"twice in one", []string{"Bearer " + token + ", Bearer " + token}, ErrHeader, ""},
		{"empty", []string{""}, ErrHeader, ""},
		{"blank", []string{"  "}, ErrHeader, ""},
		{"scheme alone", []string{"Bearer"}, ErrHeader, ""},
		{"scheme and spaces", []string{"Bearer  "}, ErrHeader, ""},
		{"token alone", []string{token}, ErrHeader, ""},
		{"other scheme", []string{"Basic dXNlcjpwYXNz"}, ErrHeader, ""},
		{"scheme that begins alike", []string{"BearerX " + token}, ErrHeader, ""},
		{"tab", []string{"Bearer\t" + token}, ErrHeader, ""},
		{"further word", []string{"Bearer " + token + " x"}, ErrHeader, ""},
		{"parameter", []string{`Bearer token="` + token + `"`}, ErrHeader, ""},
		{"line break", []string{"Bearer " + token[:20] + "\r\n" + token[20:]}, ErrHeader, ""},
		{"letter beyond ASCII", []string{"Bearer é"}, ErrHeader, ""},
		{"no JWT", []string{"Bearer abc"}, ErrInvalid, ""},
		{"dots alone", []string{"Bearer .."}, ErrInvalid, ""},
		{"two parts", []string{"Bearer " + parts[0] + "." + parts[1]}, ErrInvalid, ""},
		{"four parts", []string{"Bearer " + token + ".x"}, ErrInvalid, ""},
		{"padded", []string{"Bearer " + token + "="}, ErrInvalid, ""},
		{"other base64", []string{"Bearer " + parts[0] + "+/." + parts[1] + "." + parts[2]}, ErrInvalid, ""},
		{"signature of other bits", []string{"Bearer " + token[:len(token)-1] + otherLast(token)}, ErrInvalid, ""},
		{"claims swapped", []string{"Bearer " + parts[0] + "." + strings.Split(issue(t, tokens, "y"), ".")[1] + "." + parts[2]}, ErrInvalid, ""},
	} {
		got, err := tokens.Identify(t.Context(), c.values)
		if !errors.Is(err, c.want) || got.ID != c.id {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got.ID, err, c.id, c.want)
		}
	}
}

// otherLast returns a last character that decodes to the same bytes as the token's: two
// of its bits are ignored.
func otherLast(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, token[len(token)-1])^1])
}

func TestRefusalsTellTheClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refusal               *Refusal
		message, authenticate string
	}{
		{ErrHeader, "the Authorization header must be of the form Bearer <token>", `Bearer`},
		{ErrInvalid, "the access token is not valid", `Bearer error="invalid_token"`},
		{ErrExpired, "the access token has expired", `Bearer error="invalid_token", error_description="the access token has expired"`},
		{ErrNoIdentity, "the identity does not exist", `Bearer error="invalid_token"`},
	} {
		if c.refusal.Error() != c.message || c.refusal.WWWAuthenticate() != c.authenticate {
			t.Errorf("got %s, %s\nwant %s, %s", c.refusal, c.refusal.WWWAuthenticate(), c.message, c.authenticate)
		}
	}
}

func TestCachedTokensExpire(t *testing.T) {
	t.Parallel()
	clock := &clock{time: start}
	tokens := newTokens(t, TokenOptions{Now: clock.now, CacheSize: 10, Lifetime: time.Minute})
	values := []string{"Bearer " + issue(t, tokens, "x")}
	for range 2 {
		if got, err := tokens.Identify(t.Context(), values); err != nil || got.ID != "x" {
			t.Fatalf("before it expires: got %v, %v", got, err)
		}
	}
	if got := tokens.verified.size(); got != 1 {
		t.Fatalf("cached: got %d tokens, want 1", got)
	}
	clock.add(time.Minute)
	if got, err := tokens.Identify(t.Context(), values); !errors.Is(err, ErrExpired) || got.ID != "" {
		t.Errorf("after it expired: got %v, %v, want %v", got, err, ErrExpired)
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, TokenOptions{SigningKey: pkcs8(t, newEd25519(t)), CacheSize: 10})
	first := []string{"Bearer " + issue(t, tokens, "first")}
	for i := range 100 {
		id := fmt.Sprint(i)
		if got, err := tokens.Identify(t.Context(), []string{"Bearer " + issue(t, tokens, id)}); err != nil || got.ID != id {
			t.Fatalf("identify %s: got %v, %v", id, got, err)
		}
		if got, err := tokens.Identify(t.Context(), first); err != nil || got.ID != "first" {
			t.Fatalf("identify first: got %v, %v", got, err)
		}
		if got := tokens.verified.size(); got > 10 {
			t.Fatalf("cached after %d tokens: got %d, want at most 10", i, got)
		}
		if _, ok := tokens.verified.get(strings.TrimPrefix(first[0], "Bearer ")); !ok {
			t.Fatalf("a token in use was dropped after %d others", i)
		}
	}
	for range 100 {
		if _, err := tokens.Identify(t.Context(), []string{"Bearer " + issue(t, tokens, "x") + "x"}); !errors.Is(err, ErrInvalid) {
			t.Fatalf("a broken token: got %v, want %v", err, ErrInvalid)
		}
	}
	if got := tokens.verified.size(); got > 10 {
		t.Errorf("cached after broken tokens: got %d, want at most 10", got)
	}
}

func TestCacheKeepsNothingOfTheHeader(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	header := []byte("first")
	c.put(unsafe.String(&header[0], len(header)), verification{identity: Identity{ID: "x"}})
	copy(header, "later")
	if v, ok := c.get("first"); !ok || v.identity.ID != "x" {
		t.Errorf("after the header was reused: got %v, %t", v, ok)
	}
}

func TestIdentifyConcurrently(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, TokenOptions{SigningKey: pkcs8(t, newEd25519(t)), CacheSize: 4})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			id := fmt.Sprint(i)
			token, _, err := tokens.Issue(id)
			if err != nil {
				t.Error(err)
				return
			}
			for range 100 {
				if got, err := tokens.Identify(context.Background(), []string{"Bearer " + token}); err != nil || got.ID != id {
					t.Errorf("identify %s: got %v, %v", id, got, err)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkIdentify(b *testing.B) {
	for _, kind := range []struct {
		name string
		key  crypto.Signer
	}{
		{"RS256", newRSA(b, 2048)},
		{"ES256", newEC(b, elliptic.P256())},
		{"EdDSA", newEd25519(b)},
	} {
		for _, size := range []int{0, 1000} {
			b.Run(fmt.Sprintf("%s/cache=%d", kind.name, size), func(b *testing.B) {
				tokens := newTokens(b, TokenOptions{SigningKey: pkcs8(b, kind.key), CacheSize: size})
				values := []string{"Bearer " + issue(b, tokens, "x")}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := tokens.Identify(b.Context(), values); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// size returns how many tokens are remembered. One in both generations counts twice.
func (c *cache) size() int {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return len(c.young) + len(c.older)
}
