package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

// minRSABits is the size below which an RSA key is refused.
const minRSABits = 2048

// publicKey is a key that verifies tokens.
type publicKey struct {
	id        string // its RFC 7638 thumbprint
	algorithm jwa.SignatureAlgorithm
	raw       crypto.PublicKey
	jwk       jwk.Key // in its published form
	verifier  jws.Verifier
}

// GenerateKey makes a key for signing, as PEM, for use in development. It is one
// for ES256.
func GenerateKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("generate a signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// CheckSigningKey returns why a text is not a key that tokens can be signed with: a private
// key in PEM, as TokenOptions takes it.
func CheckSigningKey(text []byte) error {
	signer, err := parseSigningKey(text)
	if err != nil {
		return err
	}
	_, err = algorithmOf(signer.Public())
	return err
}

// CheckVerificationKey returns why a text is not a key that tokens can be verified with: a
// public key in PEM, as TokenOptions takes it.
func CheckVerificationKey(text []byte) error {
	key, err := parseVerificationKey(text)
	if err != nil {
		return err
	}
	_, err = algorithmOf(key)
	return err
}

// parseSigningKey reads a private key in PEM: PKCS#8, PKCS#1 or SEC 1.
func parseSigningKey(text []byte) (crypto.Signer, error) {
	block, err := onlyBlock(text)
	if err != nil {
		return nil, err
	}
	var key any
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("it is encrypted")
	default:
		return nil, fmt.Errorf("a block %s does not hold a private key", block.Type)
	}
	if err != nil {
		return nil, errDamaged
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("it cannot sign")
	}
	return signer, nil
}

// parseVerificationKey reads a public key in PEM: PKIX or PKCS#1.
func parseVerificationKey(text []byte) (crypto.PublicKey, error) {
	block, err := onlyBlock(text)
	if err != nil {
		return nil, err
	}
	var key any
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	default:
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil, errors.New("it is a private key; give its public key")
		}
		return nil, fmt.Errorf("a block %s does not hold a public key", block.Type)
	}
	if err != nil {
		return nil, errDamaged
	}
	return key, nil
}

var errDamaged = errors.New("it is damaged: the lines between BEGIN and END are not a key")

// onlyBlock reads the one block of a PEM text. The parameters that openssl writes
// before an EC key are skipped: the key names its curve itself.
func onlyBlock(text []byte) (*pem.Block, error) {
	block, rest := pem.Decode(text)
	if block != nil && block.Type == "EC PARAMETERS" {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, errors.New("it is not in PEM form")
	}
	if strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("it has more than one PEM block")
	}
	if block.Headers["DEK-Info"] != "" {
		return nil, errors.New("it is encrypted")
	}
	return block, nil
}

// newPublicKey works out how a key verifies. Its kind alone sets the algorithm,
// never what a token says.
func newPublicKey(raw crypto.PublicKey) (*publicKey, error) {
	algorithm, err := algorithmOf(raw)
	if err != nil {
		return nil, err
	}
	key, err := jwk.FromRaw(raw)
	if err != nil {
		return nil, err
	}
	thumbprint, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	id := base64.RawURLEncoding.EncodeToString(thumbprint)
	for name, value := range map[string]any{jwk.KeyIDKey: id, jwk.AlgorithmKey: algorithm, jwk.KeyUsageKey: jwk.ForSignature} {
		if err := key.Set(name, value); err != nil {
			return nil, err
		}
	}
	verifier, err := jws.NewVerifier(algorithm)
	if err != nil {
		return nil, err
	}
	return &publicKey{id: id, algorithm: algorithm, raw: raw, jwk: key, verifier: verifier}, nil
}

func algorithmOf(key crypto.PublicKey) (jwa.SignatureAlgorithm, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSABits {
			return "", fmt.Errorf("an RSA key needs at least %d bits, this one has %d", minRSABits, bits)
		}
		return jwa.RS256, nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return "", fmt.Errorf("an EC key must be on P-256, this one is on %s", k.Curve.Params().Name)
		}
		return jwa.ES256, nil
	case ed25519.PublicKey:
		return jwa.EdDSA, nil
	default:
		return "", errors.New("the key is neither RSA, nor EC on P-256, nor Ed25519")
	}
}
