package auth

import (
	"context"
	"strings"
)

// keyPrefix begins the keys of machines, so that a leaked key can be recognized.
const keyPrefix = "sternpost_"

// KeyStore knows the keys of machines.
type KeyStore interface {
	// Key returns the identity of a key, by its hash; the id is empty for an unknown key.
	Key(ctx context.Context, hash []byte) (identityID string, isExpired bool, err error)
}

// NewMachineKey returns a key for a machine to call with the rights of an identity, and
// the hash to store.
func NewMachineKey() (key string, hash []byte) {
	secret := NewSecret()
	return keyPrefix + secret, HashSecret(secret)
}

// identifyMachine returns the identity of a machine's key. Its error is a *Refusal, or one of the store.
func identifyMachine(ctx context.Context, keys KeyStore, secret string) (Identity, error) {
	if keys == nil || !isSecret(secret) {
		return Identity{}, ErrInvalid
	}
	id, isExpired, err := keys.Key(ctx, HashSecret(secret))
	switch {
	case err != nil:
		return Identity{}, err
	case id == "":
		return Identity{}, ErrInvalid
	case isExpired:
		return Identity{}, ErrExpired
	}
	return Identity{ID: id}, nil
}

// machineSecret returns a key without its prefix.
func machineSecret(token string) (secret string, isKey bool) {
	return strings.CutPrefix(token, keyPrefix)
}
