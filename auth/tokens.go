package auth

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

// tokenType is the typ of an access token.
const tokenType = "at+jwt"

// TokenOptions configure access tokens, and which of them are accepted.
type TokenOptions struct {
	SigningKey       []byte           // PEM: PKCS#8, PKCS#1 or SEC 1; RSA from 2048 bits, EC P-256 or Ed25519
	VerificationKeys [][]byte         // PEM of further public keys whose tokens are accepted
	BaseURL          string           // the issuer and audience of every token
	Lifetime         time.Duration    // of a token, in whole seconds
	CacheSize        int              // the number of remembered tokens; below 2 none are
	Keys             KeyStore         // of machines; nil means that they have none
	Now              func() time.Time // nil means time.Now
}

// Tokens issues and verifies access tokens. It may be used concurrently. Its keys do not
// change: a key rotation needs a new Tokens, with a new cache.
type Tokens struct {
	baseURL  string
	lifetime time.Duration
	now      func() time.Time
	signer   crypto.Signer
	signing  *publicKey
	keys     map[string]*publicKey // by id
	jwks     []byte
	verified *cache
	machines KeyStore // nil means that machines have no keys
}

// Identity is the identity of a caller.
type Identity struct {
	ID     string // empty means anonymous
	Token  string // when the access token was issued, Family, and Shown; empty for a machine's key
	Family string // of the sign-in, named by familyName; empty if unknown

	Expires time.Time // of the access token; zero for a machine's key
}

// NewTokens reads the keys. It fails on a key of a kind that is not accepted.
func NewTokens(options TokenOptions) (*Tokens, error) {
	if options.BaseURL == "" {
		return nil, errors.New("make access tokens: the base URL is missing")
	}
	if options.Lifetime < time.Second {
		return nil, fmt.Errorf("make access tokens: the lifetime %s is shorter than a second", options.Lifetime)
	}
	t := &Tokens{
		baseURL:  options.BaseURL,
		lifetime: options.Lifetime.Truncate(time.Second),
		now:      options.Now,
		keys:     map[string]*publicKey{},
		verified: newCache(options.CacheSize),
		machines: options.Keys,
	}
	if t.now == nil {
		t.now = time.Now
	}
	if err := t.readKeys(options); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tokens) readKeys(options TokenOptions) error {
	signer, err := parseSigningKey(options.SigningKey)
	if err != nil {
		return fmt.Errorf("read the signing key: %w", err)
	}
	set := jwk.NewSet()
	if t.signing, err = t.addKey(set, signer.Public()); err != nil {
		return fmt.Errorf("read the signing key: %w", err)
	}
	t.signer = signer
	for i, text := range options.VerificationKeys {
		key, err := parseVerificationKey(text)
		if err != nil {
			return fmt.Errorf("read verification key %d: %w", i+1, err)
		}
		if _, err := t.addKey(set, key); err != nil {
			return fmt.Errorf("read verification key %d: %w", i+1, err)
		}
	}
	if t.jwks, err = json.Marshal(set); err != nil {
		return fmt.Errorf("write the key set: %w", err)
	}
	return nil
}

// addKey adds a verification key, unless it is present: in a rotation the new signing key
// was a verification key before.
func (t *Tokens) addKey(set jwk.Set, raw crypto.PublicKey) (*publicKey, error) {
	key, err := newPublicKey(raw)
	if err != nil {
		return nil, err
	}
	if known := t.keys[key.id]; known != nil {
		return known, nil
	}
	t.keys[key.id] = key
	return key, set.AddKey(key.jwk)
}

// JWKS is the set of all public keys, RFC 7517, as JSON. The signing key comes
// first. The caller must not change it.
func (t *Tokens) JWKS() []byte {
	return t.jwks
}

// claims are the claims of an access token.
type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Family   string `json:"sid,omitempty"`
	Shown
}

// Shown is what the owner of a sign-in has shown, by the names of OpenID Connect.
type Shown struct {
	At      int64    `json:"auth_time,omitempty"` // when that was, in seconds; of an identity with a second factor, only this one counts
	Methods []string `json:"amr,omitempty"`       // mfa if a second factor was shown
}

// TokenText is what functions of the database read of an access token.
func TokenText(issued time.Time, family string, shown Shown) string {
	text := fmt.Sprintf("%d %s", issued.Unix(), family)
	if shown.At != 0 {
		text += fmt.Sprintf(" %d %s", shown.At, strings.Join(shown.Methods, ","))
	}
	return text
}

// Issue makes a token without a sign-in for an identity, and returns its expiry.
func (t *Tokens) Issue(identityID string) (token string, expires time.Time, err error) {
	return t.issue(Identity{ID: identityID}, Shown{})
}

func (t *Tokens) issue(identity Identity, shown Shown) (token string, expires time.Time, err error) {
	if identity.ID == "" {
		return "", time.Time{}, errors.New("issue an access token: the identity is missing")
	}
	now := t.now().Truncate(time.Second)
	expires = now.Add(t.lifetime)
	payload, err := json.Marshal(claims{
		Issuer:   t.baseURL,
		Audience: t.baseURL,
		Subject:  identity.ID,
		IssuedAt: now.Unix(),
		Expires:  expires.Unix(),
		ID:       rand.Text(),
		Family:   identity.Family,
		Shown:    shown,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue an access token: %w", err)
	}
	headers := jws.NewHeaders()
	if err := errors.Join(headers.Set(jws.TypeKey, tokenType), headers.Set(jws.KeyIDKey, t.signing.id)); err != nil {
		return "", time.Time{}, fmt.Errorf("issue an access token: %w", err)
	}
	signed, err := jws.Sign(payload, jws.WithKey(t.signing.algorithm, t.signer, jws.WithProtectedHeaders(headers)))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue an access token: %w", err)
	}
	return string(signed), expires, nil
}

// Identify returns the sender of a request with these values of the Authorization header;
// without values it is anonymous. It queries nothing for an access token, and the store
// for the key of a machine. Its error is a *Refusal, or one of the store.
func (t *Tokens) Identify(ctx context.Context, authorization []string) (Identity, error) {
	switch len(authorization) {
	case 0:
		return Identity{}, nil
	case 1:
	default:
		return Identity{}, ErrHeader
	}
	token, ok := bearer(authorization[0])
	if !ok {
		return Identity{}, ErrHeader
	}
	if secret, isKey := machineSecret(token); isKey {
		return identifyMachine(ctx, t.machines, secret)
	}
	now := t.now()
	if v, ok := t.verified.get(token); ok {
		if !now.Before(v.expires) {
			return Identity{}, ErrExpired
		}
		return v.identified(), nil
	}
	v, err := t.verify(token)
	if err != nil {
		return Identity{}, err
	}
	if !now.Before(v.expires) {
		return Identity{}, ErrExpired
	}
	t.verified.put(token, v)
	return v.identified(), nil
}

// bearer returns the token of a header value: "Bearer", in any case, spaces and one word
// of the characters that RFC 9110 allows in a token. Spaces around a header value are not
// part of it.
func bearer(value string) (token string, ok bool) {
	scheme, rest, found := strings.Cut(strings.Trim(value, " \t"), " ")
	token = strings.TrimLeft(rest, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	for i := range len(token) {
		if !isTokenByte[token[i]] {
			return "", false
		}
	}
	return token, true
}

// isTokenByte tells of each byte whether a token may contain it. Tokens are long, and every request has one.
var isTokenByte = func() (is [256]bool) {
	for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~+/=") {
		is[c] = true
	}
	return is
}()

// verification is the content of a verified token.
type verification struct {
	identity Identity
	expires  time.Time
}

// identified is the identity, until when the token names it.
func (v verification) identified() Identity {
	v.identity.Expires = v.expires
	return v.identity
}

// verify checks everything about a token but its expiry. The token cannot choose how: its
// key id names a key, and the key sets the algorithm.
func (t *Tokens) verify(token string) (verification, error) {
	head, rest, _ := strings.Cut(token, ".")
	body, signature, found := strings.Cut(rest, ".")
	if !found || strings.Contains(signature, ".") {
		return verification{}, ErrInvalid
	}

	var header struct {
		Algorithm string          `json:"alg"`
		Type      string          `json:"typ"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if !decodePart(head, &header) || header.Type != tokenType || header.Critical != nil {
		return verification{}, ErrInvalid
	}
	key := t.keys[header.KeyID]
	if key == nil || header.Algorithm != string(key.algorithm) {
		return verification{}, ErrInvalid
	}
	signed, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || key.verifier.Verify([]byte(token[:len(head)+1+len(body)]), signed, key.raw) != nil {
		return verification{}, ErrInvalid
	}

	var c claims
	if !decodePart(body, &c) || c.Issuer != t.baseURL || c.Audience != t.baseURL || c.Subject == "" || c.Expires == 0 {
		return verification{}, ErrInvalid
	}
	return verification{
		identity: Identity{ID: c.Subject, Token: TokenText(time.Unix(c.IssuedAt, 0), c.Family, c.Shown), Family: c.Family},
		expires:  time.Unix(c.Expires, 0),
	}, nil
}

// decodePart reads a part of a token: a JSON object in base64url.
func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}
