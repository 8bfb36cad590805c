package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// Family is a new family of refresh tokens, which represents one sign-in.
type Family struct {
	Token     string // for the client, which alone has it
	TokenHash []byte // identifies the token later
	Key       []byte // makes each token from the one before
	Lifetime  time.Duration
	Client    Client     // that signs in
	SecondAt  *time.Time // when the user has shown a second factor to a provider; nil if none
}

func newFamily(lifetime time.Duration, client Client) Family {
	token, key := NewSecret(), make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return Family{Token: token, TokenHash: HashSecret(token), Key: key, Lifetime: lifetime, Client: client}
}

// NewSecret returns 256 random bits in 43 characters of base64url, for a client.
func NewSecret() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// HashSecret returns the stored hash of a secret from NewSecret. One round is enough:
// such a secret cannot be guessed.
func HashSecret(secret string) []byte {
	return hashOf([]byte(secret))
}

// hashOf returns the SHA-256 of bytes.
func hashOf(b []byte) []byte {
	hash := sha256.Sum256(b)
	return hash[:]
}

// familyName is the name of a sign-in's family in an access token: the SHA-256 of the
// family's key. It does not reveal the key.
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

// isSecret tells whether a text has the form of a secret from NewSecret.
func isSecret(text string) bool {
	bits, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(bits) == 32
}

// markSize is the number of leading bytes that all tokens of a family share.
const markSize = 16

// markOf returns the stored form of that prefix: its SHA-256. It identifies a token that
// is no longer stored, so that its family is revoked if the token comes back. Only a
// holder of a token of the family knows the prefix.
func markOf(token string) []byte {
	bits, _ := base64.RawURLEncoding.DecodeString(token)
	hash := sha256.Sum256(bits[:min(markSize, len(bits))])
	return hash[:]
}

// successor returns the refresh token that follows a token: the same prefix, and an HMAC
// of the token, 128 bits that cannot be guessed. Racing requests with the same token all
// get the same successor. The content of the database is not enough to compute it.
func successor(key []byte, token string) string {
	bits, _ := base64.RawURLEncoding.DecodeString(token)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(token))
	next := mac.Sum(nil)
	copy(next, bits[:min(markSize, len(bits))])
	return base64.RawURLEncoding.EncodeToString(next)
}
