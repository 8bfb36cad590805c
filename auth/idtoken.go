package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

const (
	maxIDToken = 16 << 10         // bytes
	leeway     = 60 * time.Second // tolerated difference of clocks
)

// IDToken is the content of a verified ID token.
type IDToken struct {
	Issuer  string
	Subject string
	Nonce   string
	Claims  map[string]any // all of them; numbers are json.Number

	by    ProviderOptions // of the provider that it is from
	shown time.Time       // when its user has shown what Claims list in amr
}

// errIDToken refuses an ID token. The reason is for the log only.
var errIDToken = errors.New("the ID token is not valid")

func refuseIDToken(reason string, arguments ...any) error {
	return fmt.Errorf("%w: %s", errIDToken, fmt.Sprintf(reason, arguments...))
}

// VerifyIDToken verifies an ID token from a client, by any configured provider. For other
// issuers it contacts no server. It fails with an *unreachableError if the issuer's keys
// are not available.
func (p *Providers) VerifyIDToken(ctx context.Context, token string) (*IDToken, error) {
	parsed, err := parseIDToken(token)
	if err != nil {
		return nil, err
	}
	from := p.issuers[issuerKey(parsed.claims.issuer)]
	if from == nil {
		return nil, refuseIDToken("its issuer is not configured")
	}
	of := slices.DeleteFunc(slices.Clone(p.list), func(provider *Provider) bool { return provider.issuer != from })
	return parsed.verify(ctx, of, p.now())
}

// verifyOwn verifies an ID token that the provider returned for a code.
func (p *Provider) verifyOwn(ctx context.Context, token string, now time.Time) (*IDToken, error) {
	parsed, err := parseIDToken(token)
	if err != nil {
		return nil, err
	}
	if issuerKey(parsed.claims.issuer) != p.issuer.url {
		return nil, refuseIDToken("it is another issuer's")
	}
	return parsed.verify(ctx, []*Provider{p}, now)
}

// parsedToken is an ID token that is not verified yet.
type parsedToken struct {
	signed    string // header and payload, as they were signed
	signature []byte
	algorithm jwa.SignatureAlgorithm
	keyID     string // empty if the token names no key
	claims    idTokenClaims
	all       map[string]any
}

// idTokenClaims are the claims to check.
type idTokenClaims struct {
	issuer          string
	subject         string
	audience        []string
	authorizedParty *string // nil if the token names none
	expires         *time.Time
	issuedAt        *time.Time
	notBefore       *time.Time
	shown           *time.Time // auth_time; nil for none that can be read
	nonce           string
}

// readIDTokenClaims reads the claims to check. It compares their names exactly, unlike
// encoding/json with the fields of a struct: a provider may let its users choose the
// value of "Sub".
func readIDTokenClaims(all map[string]any) (c idTokenClaims, ok bool) {
	ok = true
	text := func(name string) *string {
		switch value := all[name].(type) {
		case nil:
		case string:
			return &value
		default:
			ok = false
		}
		return nil
	}
	moment := func(name string) *time.Time {
		switch value := all[name].(type) {
		case nil:
		case json.Number:
			seconds, err := value.Float64() // it may have a fraction
			if err == nil && math.Abs(seconds) < 1e12 {
				whole, fraction := math.Modf(seconds)
				at := time.Unix(int64(whole), int64(fraction*1e9))
				return &at
			}
			ok = false
		default:
			ok = false
		}
		return nil
	}
	optional := func(name string) string {
		if value := text(name); value != nil {
			return *value
		}
		return ""
	}

	c.issuer, c.subject, c.nonce = optional("iss"), optional("sub"), optional("nonce")
	c.authorizedParty = text("azp")
	c.expires, c.issuedAt, c.notBefore = moment("exp"), moment("iat"), moment("nbf")
	isRead := ok
	c.shown = moment("auth_time")
	ok = isRead
	switch value := all["aud"].(type) {
	case string:
		c.audience = []string{value}
	case []any:
		for _, one := range value {
			client, isText := one.(string)
			if !isText {
				return c, false
			}
			c.audience = append(c.audience, client)
		}
	default:
		return c, false
	}
	return c, ok
}

func parseIDToken(token string) (*parsedToken, error) {
	if len(token) > maxIDToken {
		return nil, refuseIDToken("it is too long")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, refuseIDToken("it is not a signed JWT")
	}
	var header struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if !decodePart(parts[0], &header) {
		return nil, refuseIDToken("its header could not be read")
	}
	parsed := &parsedToken{
		signed:    token[:len(parts[0])+1+len(parts[1])],
		algorithm: jwa.SignatureAlgorithm(header.Algorithm),
		keyID:     header.KeyID,
	}
	switch {
	case header.Critical != nil:
		return nil, refuseIDToken("its header has critical extensions")
	case keyTypeOf(parsed.algorithm) == "":
		return nil, refuseIDToken("its algorithm is not an asymmetric one")
	}
	var err error
	var ok bool
	if parsed.signature, err = base64.RawURLEncoding.Strict().DecodeString(parts[2]); err != nil {
		return nil, refuseIDToken("its signature could not be read")
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return nil, refuseIDToken("its claims could not be read")
	}
	exact := json.NewDecoder(bytes.NewReader(payload))
	exact.UseNumber()
	isRead := exact.Decode(&parsed.all) == nil && !exact.More()
	if parsed.claims, ok = readIDTokenClaims(parsed.all); !isRead || !ok {
		return nil, refuseIDToken("its claims could not be read")
	}
	return parsed, nil
}

// keyTypeOf returns the key type for an algorithm. It returns nothing for algorithms that
// are not accepted: those without a signature, and those with a key that verifier and
// signer share.
func keyTypeOf(algorithm jwa.SignatureAlgorithm) jwa.KeyType {
	switch algorithm {
	case jwa.RS256, jwa.RS384, jwa.RS512, jwa.PS256, jwa.PS384, jwa.PS512:
		return jwa.RSA
	case jwa.ES256, jwa.ES384, jwa.ES512:
		return jwa.EC
	case jwa.EdDSA:
		return jwa.OKP
	}
	return ""
}

// verify checks everything about a token. providers are those of its issuer, one for each
// client of this service.
func (p *parsedToken) verify(ctx context.Context, providers []*Provider, now time.Time) (*IDToken, error) {
	from := providers[0].issuer
	keys, err := from.keySet(ctx)
	if err != nil {
		return nil, err
	}
	isKnown := p.isSigned(keys)
	if !isKnown && !p.hasKey(keys) {
		if keys, err = from.newerKeySet(ctx); err != nil {
			return nil, err
		}
		isKnown = p.isSigned(keys)
	}
	if !isKnown {
		return nil, refuseIDToken("no key of its issuer has signed it")
	}
	by, err := p.claims.check(providers, now)
	if err != nil {
		return nil, err
	}
	shown := p.claims.shown
	if shown == nil {
		shown = p.claims.issuedAt
	}
	return &IDToken{
		Issuer: p.claims.issuer, Subject: p.claims.subject, Nonce: p.claims.nonce, Claims: p.all, by: by.options, shown: *shown,
	}, nil
}

// hasKey tells whether a set has the key that the token names. If the token names no key
// and none of the set has signed it, its key may be newer than the set.
func (p *parsedToken) hasKey(keys jwk.Set) bool {
	if p.keyID == "" {
		return false
	}
	_, found := keys.LookupKeyID(p.keyID)
	return found
}

// isSigned tells whether one of the keys has signed the token. A token that names no key
// is accepted only if the issuer has a single possible key.
func (p *parsedToken) isSigned(keys jwk.Set) bool {
	var candidates []jwk.Key
	for i := range keys.Len() {
		if key, ok := keys.Key(i); ok && p.mayBeSignedBy(key) {
			candidates = append(candidates, key)
		}
	}
	if p.keyID == "" && len(candidates) != 1 {
		return false
	}
	verifier, err := jws.NewVerifier(p.algorithm)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(candidates, func(key jwk.Key) bool {
		var raw any
		return key.Raw(&raw) == nil && verifier.Verify([]byte(p.signed), p.signature, raw) == nil
	})
}

// mayBeSignedBy tells whether a key has the id in the token, and fits its algorithm.
func (p *parsedToken) mayBeSignedBy(key jwk.Key) bool {
	if p.keyID != "" && key.KeyID() != p.keyID || key.KeyType() != keyTypeOf(p.algorithm) {
		return false
	}
	if use := key.KeyUsage(); use != "" && use != string(jwk.ForSignature) {
		return false
	}
	if own := key.Algorithm().String(); own != "" && own != string(p.algorithm) {
		return false
	}
	switch k := key.(type) {
	case jwk.RSAPublicKey:
		return len(k.N())*8 >= minRSABits
	case jwk.ECDSAPublicKey:
		return curveOf(p.algorithm) == k.Crv()
	case jwk.OKPPublicKey:
		return k.Crv() == jwa.Ed25519
	}
	return false // a private key, which should not be published
}

func curveOf(algorithm jwa.SignatureAlgorithm) jwa.EllipticCurveAlgorithm {
	switch algorithm {
	case jwa.ES256:
		return jwa.P256
	case jwa.ES384:
		return jwa.P384
	default:
		return jwa.P521
	}
}

// check checks the claims of a token with a valid signature. It returns the provider whose
// client the token is for.
func (c *idTokenClaims) check(providers []*Provider, now time.Time) (*Provider, error) {
	if c.subject == "" || strings.ContainsRune(c.subject, 0) || len(c.subject) > maxClaim {
		return nil, refuseIDToken("it has no subject that can be kept")
	}
	by := slices.IndexFunc(providers, func(p *Provider) bool {
		client := p.options.ClientID
		return slices.Contains(c.audience, client) && (c.authorizedParty == nil || *c.authorizedParty == client)
	})
	switch {
	case by < 0, len(c.audience) > 1 && c.authorizedParty == nil:
		return nil, refuseIDToken("it is for another client")
	case c.expires == nil || !now.Before(c.expires.Add(leeway)):
		return nil, refuseIDToken("it has expired")
	case c.issuedAt == nil || c.issuedAt.After(now.Add(leeway)):
		return nil, refuseIDToken("it was issued in the future")
	case c.notBefore != nil && c.notBefore.After(now.Add(leeway)):
		return nil, refuseIDToken("its time has not come")
	}
	return providers[by], nil
}

// maxClaim limits the stored bytes of a claim.
const maxClaim = 2048

// Text returns a claim as it is stored: texts unchanged, numbers and booleans as text. It
// is empty for a claim that cannot be stored: other kinds, texts longer than 2048 bytes,
// and texts with a NUL, which the database cannot hold.
func (t *IDToken) Text(claim string) string {
	var text string
	switch value := t.Claims[claim].(type) {
	case string:
		text = value
	case json.Number:
		text = value.String()
	case bool:
		text = fmt.Sprint(value)
	}
	if len(text) > maxClaim || strings.ContainsRune(text, 0) {
		return ""
	}
	return text
}

// IsEmailVerified tells whether the provider confirms that the e-mail address belongs to
// its user. It can do so for an address of its domains only.
func (t *IDToken) IsEmailVerified() bool {
	email, isEmail := ParseEmail(t.Text("email"))
	if !isEmail || t.Text("email_verified") != "true" {
		return false
	}
	_, domain, _ := strings.Cut(email, "@")
	return t.by.EmailDomains == nil || slices.Contains(t.by.EmailDomains, domain)
}

// secondFactorMethods are the values of amr (RFC 8176) that are proof of something that the user has: several factors, a
// one-time password, a key in hardware or software, a smart card. A telephone (sms, tel) is not: numbers are taken over.
var secondFactorMethods = []string{"mfa", "otp", "hwk", "swk", "sc"}

// SecondFactorAt returns when the user has shown the provider a second factor. It is nil if the provider does not say so, or
// is not trusted with it.
func (t *IDToken) SecondFactorAt() *time.Time {
	methods, _ := t.Claims["amr"].([]any)
	isShown := slices.ContainsFunc(methods, func(method any) bool {
		name, _ := method.(string)
		return slices.Contains(secondFactorMethods, name)
	})
	if !isShown || !t.by.TrustsSecondFactor {
		return nil
	}
	return &t.shown
}
