package integration

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// parts are the parts of a forged token.
type parts struct {
	header, claims map[string]any
	sign           func(input []byte) []byte
}

func (p parts) token(t *testing.T) string {
	t.Helper()
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	input := encode(p.header) + "." + encode(p.claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(p.sign([]byte(input)))
}

// signES256 signs with a key.
func signES256(t *testing.T, key *ecdsa.PrivateKey) func([]byte) []byte {
	return func(input []byte) []byte {
		hash := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, key, hash[:])
		if err != nil {
			t.Fatal(err)
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature
	}
}

// signHS256 signs with a secret, as if the public key were one.
func signHS256(secret []byte) func([]byte) []byte {
	return func(input []byte) []byte {
		mac := hmac.New(crypto.SHA256.New, secret)
		mac.Write(input)
		return mac.Sum(nil)
	}
}

// TestForgedTokens calls an action that every caller may call, and one that requires a
// login, with every header that an attacker may make up. An invalid token has no
// effect.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	a := serveApp(t, appDir("workshop"))
	a.token(t, "victim")
	block, _ := pem.Decode(a.key)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	own := parsed.(*ecdsa.PrivateKey)
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(own.Public())
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	var published struct {
		Keys []map[string]any `json:"keys"`
	}
	_, jwks := a.send(t, "GET", "/.well-known/jwks.json", nil, "")
	if err := json.Unmarshal([]byte(jwks), &published); err != nil || len(published.Keys) != 1 {
		t.Fatalf("key set: got %s (%v)", jwks, err)
	}
	if published.Keys[0]["d"] != nil || published.Keys[0]["use"] != "sig" || published.Keys[0]["alg"] != "ES256" {
		t.Errorf("key set: got %s", jwks)
	}

	now := time.Now().Unix()
	forge := func(header, claims map[string]any, sign func([]byte) []byte) string {
		p := parts{
			header: map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": published.Keys[0]["kid"]},
			claims: map[string]any{"iss": a.url, "aud": a.url, "sub": "victim", "iat": now, "exp": now + 3600, "jti": "x"},
			sign:   sign,
		}
		maps.Copy(p.header, header)
		maps.Copy(p.claims, claims)
		return p.token(t)
	}
	type m = map[string]any
	signed, unsigned := signES256(t, own), func([]byte) []byte { return nil }
	genuine := forge(nil, nil, signed)
	bearer := func(token string) []string { return []string{"Bearer " + token} }

	const (
		accepted = ""
		header   = "the Authorization header must be of the form Bearer <token>"
		invalid  = "the access token is not valid"
		expired  = "the access token has expired"
		nobody   = "the identity does not exist"
	)
	challenges := map[string]string{
		header:  `Bearer`,
		invalid: `Bearer error="invalid_token"`,
		expired: `Bearer error="invalid_token", error_description="the access token has expired"`,
		nobody:  `Bearer error="invalid_token"`,
	}
	for _, attack := range []struct {
		name          string
		authorization []string
		want          string // the message of the refusal
	}{
		{"none at all is not an attack", bearer(genuine), accepted},

		{"alg none", bearer(forge(m{"alg": "none"}, nil, unsigned)), invalid},
		{"alg None", bearer(forge(m{"alg": "None"}, nil, unsigned)), invalid},
		{"alg empty", bearer(forge(m{"alg": ""}, nil, unsigned)), invalid},
		{"signature cut off", bearer(forge(nil, nil, unsigned)), invalid},
		{"alg confusion: HS256 with the public key in PEM", bearer(forge(m{"alg": "HS256"}, nil, signHS256(publicPEM))), invalid},
		{"alg confusion: HS256 with the public key in DER", bearer(forge(m{"alg": "HS256"}, nil, signHS256(public))), invalid},
		{"alg confusion: HS256 with the key id", bearer(forge(m{"alg": "HS256"}, nil, signHS256([]byte(published.Keys[0]["kid"].(string))))), invalid},
		{"alg confusion: another curve", bearer(forge(m{"alg": "ES384"}, nil, signed)), invalid},

		{"foreign key under a known kid", bearer(forge(nil, nil, signES256(t, foreign))), invalid},
		{"foreign kid", bearer(forge(m{"kid": "foreign"}, nil, signES256(t, foreign))), invalid},
		{"kid with the text of a path", bearer(forge(m{"kid": "../../../../dev/null"}, nil, signHS256(nil))), invalid},
		{"kid with the text of a query", bearer(forge(m{"kid": "x' or '1'='1"}, nil, signed)), invalid},
		{"no kid", bearer(forge(m{"kid": nil}, nil, signed)), invalid},
		{"a key sent along", bearer(forge(m{"kid": "x", "jwk": m{"kty": "EC", "crv": "P-256"}}, nil, signES256(t, foreign))), invalid},
		{"the address of a key sent along", bearer(forge(m{"kid": "x", "jku": a.url + "/.well-known/jwks.json"}, nil, signES256(t, foreign))), invalid},
		{"critical extension", bearer(forge(m{"crit": []string{"exp"}}, nil, signed)), invalid},

		{"expired", bearer(forge(nil, m{"exp": now - 1}, signed)), expired},
		{"expired and forged", bearer(forge(nil, m{"exp": now - 1}, signES256(t, foreign))), invalid},
		{"never expires", bearer(forge(nil, m{"exp": nil}, signed)), invalid},
		{"wrong iss", bearer(forge(nil, m{"iss": "https://evil.example"}, signed)), invalid},
		{"wrong aud", bearer(forge(nil, m{"aud": "https://evil.example"}, signed)), invalid},
		{"one aud of several", bearer(forge(nil, m{"aud": []string{a.url, "https://evil.example"}}, signed)), invalid},
		{"wrong typ: an ID token", bearer(forge(m{"typ": "JWT"}, nil, signed)), invalid},
		{"no sub", bearer(forge(nil, m{"sub": ""}, signed)), invalid},
		{"sub of nobody", bearer(forge(nil, m{"sub": "nobody"}, signed)), nobody},
		{"sub with the text of a query", bearer(forge(nil, m{"sub": "x' or '1'='1"}, signed)), nobody},

		{"two headers", []string{"Bearer " + genuine, "Bearer " + genuine}, header},
		{"two headers, one of them empty", []string{"", "Bearer " + genuine}, header},
		{"two tokens in one header", bearer(genuine + ", Bearer " + genuine), header},
		{"another scheme", []string{"Basic " + genuine}, header},
		{"no scheme", []string{genuine}, header},
		{"no token", []string{"Bearer "}, header},
		{"not a token", bearer("x"), invalid},
		{"a part too many", bearer(genuine + ".x"), invalid},
		{"other bits at the end of the signature", bearer(genuine + "="), invalid},
	} {
		for action, body := range map[string]string{"listMechanics": `{}`, "hireMechanic": `{"name":"Eve"}`} {
			request, err := http.NewRequestWithContext(t.Context(), "POST", a.url+"/api/json/"+action, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header["Authorization"] = attack.authorization
			status, message, challenge := a.answer(t, request)
			wantStatus := http.StatusUnauthorized
			if attack.want == accepted {
				wantStatus = http.StatusOK
			}
			if status != wantStatus || attack.want != accepted && message != attack.want || challenge != challenges[attack.want] {
				t.Errorf("%s, %s\n got %d %q, %q\nwant %d %q, %q", attack.name, action, status, message, challenge, wantStatus, attack.want, challenges[attack.want])
			}
		}
	}
	if _, got := a.send(t, "POST", "/api/json/listMechanics", nil, `{"totalCount":true}`); !strings.Contains(got, `"totalCount":1}`) {
		t.Errorf("mechanics afterwards: got %s, want the one that was hired with the genuine token", got)
	}
	if log := a.log.String(); strings.Contains(log, genuine) || strings.Contains(log, "Bearer") {
		t.Error("the log holds a token")
	}
}

// answer sends a request and returns the caller according to the response.
func (a *app) answer(t *testing.T, request *http.Request) (status int, message, challenge string) {
	t.Helper()
	response, err := a.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Message string `json:"message"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body.Message, response.Header.Get("WWW-Authenticate")
}

// TestOAuthClient logs in with the OAuth library of Go, which knows nothing of us.
func TestOAuthClient(t *testing.T) {
	t.Parallel()
	a := serveApp(t, appDir("workshop"))
	var metadata struct {
		Token string `json:"token_endpoint"`
	}
	_, document := a.send(t, "GET", "/.well-known/oauth-authorization-server", nil, "")
	if err := json.Unmarshal([]byte(document), &metadata); err != nil {
		t.Fatal(err)
	}
	config := oauth2.Config{ClientID: "any", Endpoint: oauth2.Endpoint{TokenURL: metadata.Token}}
	token, err := config.PasswordCredentialsToken(t.Context(), "ada@example.com", "canary-horse")
	if err != nil {
		t.Fatal(err)
	}
	if !token.Valid() || token.Type() != "Bearer" || token.RefreshToken == "" || token.Extra("identity_created") != true {
		t.Errorf("got %+v", token)
	}
	if left := time.Until(token.Expiry); left < 59*time.Minute || left > time.Hour {
		t.Errorf("expires in %s, want an hour", left)
	}

	call := func(client *http.Client, name string) int {
		t.Helper()
		response, err := client.Post(a.url+"/api/json/hireMechanic", "application/json", strings.NewReader(`{"name":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	if got := call(config.Client(t.Context(), token), "Mia"); got != 200 {
		t.Errorf("with the token: got %d, want 200", got)
	}
	if got := call(http.DefaultClient, "Max"); got != 403 {
		t.Errorf("without: got %d, want 403", got)
	}

	// A token that has expired is refreshed by the library itself.
	expired := *token
	expired.AccessToken, expired.Expiry = "expired", time.Now().Add(-time.Minute)
	source := config.TokenSource(t.Context(), &expired)
	fresh, err := source.Token()
	if err != nil || fresh.AccessToken == token.AccessToken || fresh.RefreshToken == token.RefreshToken {
		t.Fatalf("refresh: got %+v, %v", fresh, err)
	}
	if got := call(oauth2.NewClient(t.Context(), source), "Moe"); got != 200 {
		t.Errorf("with the fresh token: got %d, want 200", got)
	}

	_, err = config.PasswordCredentialsToken(t.Context(), "ada@example.com", "canary-wrong-horse")
	if refused, ok := err.(*oauth2.RetrieveError); !ok || refused.ErrorCode != "invalid_grant" || refused.ErrorDescription == "" {
		t.Errorf("wrong password: got %v, want invalid_grant", err)
	}
}
