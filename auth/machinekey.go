package auth

import (
	"context"
	"strings"
)

// keyPrefix begins the keys of machines, so that anyone who finds one knows what it is.
const keyPrefix = "sternpost_"

// KeyStore knows the keys of machines.
type KeyStore interface {
	// Key returns whose key this is, by its hash; nobody's if the id is empty.
	Key(ctx context.Context, hash []byte) (identityID string, isExpired bool, err error)
}

// NewMachineKey returns a key by which a machine calls with the rights of an identity, and
// the hash that is kept of it.
func NewMachineKey() (key string, hash []byte) {
	secret := NewSecret()
	return keyPrefix + secret, HashSecret(secret)
}

// identifyMachine returns whose key a token is. Its error is a *Refusal, or one of the store.
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

// machineSecret returns what follows the prefix of a key.
func machineSecret(token string) (secret string, isKey bool) {
	return strings.CutPrefix(token, keyPrefix)
}
