package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// Family is the beginning of a family of refresh tokens: what one sign-in is kept by.
type Family struct {
	Token     string // for the client, which alone has it
	TokenHash []byte // by which it is known again
	Key       []byte // makes each token from the one before
	Lifetime  time.Duration
}

func newFamily(lifetime time.Duration) Family {
	token, key := NewSecret(), make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return Family{Token: token, TokenHash: HashSecret(token), Key: key, Lifetime: lifetime}
}

// NewSecret returns 256 random bits in 43 characters of base64url, to be handed to
// a client.
func NewSecret() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// HashSecret returns what is kept of a secret that NewSecret made. One round is
// enough: there is nothing to guess.
func HashSecret(secret string) []byte {
	hash := sha256.Sum256([]byte(secret))
	return hash[:]
}

// isSecret tells whether a text has the form of what NewSecret returns.
func isSecret(text string) bool {
	bits, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(bits) == 32
}

// successor returns the refresh token that follows on one. Requests that race with
// the same token all find the same successor, and nobody finds it who has only what
// the database keeps.
func successor(key []byte, token string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
