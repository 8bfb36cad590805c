package auth

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// seal encrypts data that leaves this service: only a server of this service can read or
// change it.
type seal struct {
	aead  cipher.AEAD
	about []byte // authenticated with it
}

// newSeal makes a seal for one purpose. Its key is derived from the signing key, which all
// servers of a service share: one server opens what another closed. A new signing key opens
// nothing that was closed before.
func newSeal(signingKey []byte, baseURL, purpose string) (*seal, error) {
	key, err := DeriveKey(signingKey, purpose)
	if err != nil {
		return nil, err
	}
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("use the key derived from the signing key: %w", err)
	}
	return &seal{aead: aead, about: []byte(baseURL)}, nil
}

// DeriveKey derives a key of 256 bits for a purpose from the signing key, which all
// servers of a service share.
func DeriveKey(signingKey []byte, purpose string) ([]byte, error) {
	signer, err := parseSigningKey(signingKey)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(signer) // independent of the form of the PEM
	if err != nil {
		return nil, fmt.Errorf("write the signing key: %w", err)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, chacha20poly1305.KeySize)
	if err != nil {
		return nil, fmt.Errorf("derive a key from the signing key: %w", err)
	}
	return key, nil
}

// close seals data.
func (s *seal) close(plain []byte) []byte {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return s.aead.Seal(nonce, nonce, plain, s.about)
}

// open returns the sealed data.
func (s *seal) open(sealed []byte) (plain []byte, ok bool) {
	if len(sealed) < s.aead.NonceSize() {
		return nil, false
	}
	plain, err := s.aead.Open(nil, sealed[:s.aead.NonceSize()], sealed[s.aead.NonceSize():], s.about)
	return plain, err == nil
}
