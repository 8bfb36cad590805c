// Package encryption encrypts the values of Secret fields.
//
// It turns a text and keys into the form for the database, and back. A stored value names
// its key, so that keys can be rotated: the newest one encrypts, the previous ones only
// decrypt. A value that was changed or cut, or whose key is missing, is refused; it never
// decrypts to another text. The cipher is XChaCha20-Poly1305, with nonces long enough for
// random choice for any number of values.
package encryption

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// prefix begins a stored value and identifies its form: prefix, key id, nonce and
// ciphertext in one, separated by colons.
const prefix = "x1:"

// Keys encrypts with one key and decrypts with any. It is safe for concurrent use.
type Keys struct {
	newest string // its id
	byID   map[string]cipher.AEAD
}

// Missing explains that no key is set, and how to make one.
const Missing = "encryption.key is required to encrypt secrets: set it in sternpost.yaml, or STERNPOST_ENCRYPTION_KEY in the environment; make one with openssl rand -base64 32"

// GenerateKey makes a key in the form for New.
func GenerateKey() string {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// New takes the current key and the previous keys, each in base64.
func New(key string, previous []string) (*Keys, error) {
	k := &Keys{byID: map[string]cipher.AEAD{}}
	for _, text := range append([]string{key}, previous...) {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) != KeySize {
			return nil, fmt.Errorf("an encryption key is not %d bytes in base64", KeySize)
		}
		aead, err := chacha20poly1305.NewX(raw)
		if err != nil {
			return nil, fmt.Errorf("use an encryption key: %w", err)
		}
		id := idOf(raw)
		k.byID[id] = aead
		if k.newest == "" {
			k.newest = id
		}
	}
	return k, nil
}

// idOf names a key without revealing anything about it.
func idOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("sternpost encryption key\x00"), key...))
	return hex.EncodeToString(sum[:8])
}

// Encrypt returns the stored form of a text. Equal texts give different results.
func (k *Keys) Encrypt(text string) string {
	aead := k.byID[k.newest]
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	head := k.NewestPrefix()
	return head + base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(text), []byte(head)))
}

// NewestPrefix returns the prefix of all values under the newest key.
func (k *Keys) NewestPrefix() string { return prefix + k.newest + ":" }

// The errors of Decrypt.
var (
	ErrUnknownKey = errors.New("the value was encrypted with a key that is not configured")
	ErrDamaged    = errors.New("the encrypted value is damaged")
)

// Decrypt returns the text of a stored value. It fails with ErrUnknownKey or
// ErrDamaged.
func (k *Keys) Decrypt(stored string) (string, error) {
	rest, ok := strings.CutPrefix(stored, prefix)
	id, sealed, isWhole := strings.Cut(rest, ":")
	if !ok || !isWhole {
		return "", ErrDamaged
	}
	aead := k.byID[id]
	if aead == nil {
		return "", ErrUnknownKey
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < aead.NonceSize() {
		return "", ErrDamaged
	}
	text, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(prefix+id+":"))
	if err != nil {
		return "", ErrDamaged
	}
	return string(text), nil
}
