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
	return hashOf([]byte(secret))
}

// hashOf returns the SHA-256 of bytes.
func hashOf(b []byte) []byte {
	hash := sha256.Sum256(b)
	return hash[:]
}

// familyName is how an access token names the family of its sign-in: the SHA-256 of the
// family's key, which it does not reveal.
func familyName(key []byte) string {
	return base64.RawURLEncoding.EncodeToString(hashOf(key))
}

// keyHashOf returns the hash in the name of a family; nil for an empty one.
func keyHashOf(name string) []byte {
	hash, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil || len(hash) != sha256.Size {
		return nil
	}
	return hash
}

// isSecret tells whether a text has the form of what NewSecret returns.
func isSecret(text string) bool {
	bits, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(bits) == 32
}

// markSize is how many bytes of a token all of its family begin with.
const markSize = 16

// markOf returns what is kept of that beginning: SHA-256. A token that is no longer
// kept itself is known by it, so that its family is revoked when it comes back. Nobody
// knows the beginning who never had a token of the family.
func markOf(token string) []byte {
	bits, _ := base64.RawURLEncoding.DecodeString(token)
	hash := sha256.Sum256(bits[:min(markSize, len(bits))])
	return hash[:]
}

// successor returns the refresh token that follows on one: the same beginning, and
// then an HMAC of it, 128 bits that nobody guesses. Requests that race with the same
// token all find the same successor, and nobody finds it who has only what the
// database keeps.
func successor(key []byte, token string) string {
	bits, _ := base64.RawURLEncoding.DecodeString(token)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(token))
	next := mac.Sum(nil)
	copy(next, bits[:min(markSize, len(bits))])
	return base64.RawURLEncoding.EncodeToString(next)
}
