package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
)

// TestKeyRotation rotates the signing key in the configuration: earlier sign-ins stay
// valid until the old key is dropped.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	private, public := make([]string, 2), make([]string, 2)
	for i := range private {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		inside, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		outside, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		private[i] = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: inside}))
		public[i] = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: outside}))
	}
	old := issuedBy(t, private[0])
	for _, step := range []struct {
		name    string
		signing string
		further []string
		keys    int   // published
		want    error // of a token of the old key
	}{
		{"the old key", private[0], nil, 1, nil},
		{"the new one is published", private[0], public[1:], 2, nil},
		{"the new one signs", private[1], public[:1], 2, nil},
		{"the old one is dropped", private[1], nil, 1, auth.ErrInvalid},
	} {
		s := start(t, d.ServerURL(), func(c *config.Config) { c.SigningKey, c.VerificationKeys = step.signing, step.further })
		who, err := s.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + old})
		if !errors.Is(err, step.want) || err == nil && who.ID != "ada" {
			t.Errorf("%s: got %v, %v, want error %v", step.name, who, err, step.want)
		}
		var published struct{ Keys []map[string]any }
		_, body := s.do(t, "GET", "/.well-known/jwks.json", "", nil)
		if err := json.Unmarshal([]byte(body), &published); err != nil || len(published.Keys) != step.keys {
			t.Errorf("%s: key set: got %s, want %d keys", step.name, body, step.keys)
		}
	}
}

// issuedBy returns a token of ada, signed with a key.
func issuedBy(t *testing.T, key string) string {
	t.Helper()
	tokens, err := auth.NewTokens(auth.TokenOptions{SigningKey: []byte(key), BaseURL: "http://localhost", Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := tokens.Issue("ada")
	if err != nil {
		t.Fatal(err)
	}
	return token
}
