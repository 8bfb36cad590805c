package signin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// rememberedTokens is the number of verified tokens kept, each some 500 bytes.
const rememberedTokens = 10000

// newTokens makes the issuer and verifier of access tokens.
func newTokens(c *config.Config, keys auth.KeyStore) (*auth.Tokens, error) {
	if c.SigningKey == "" {
		return nil, config.Missing("auth.signingKey")
	}
	options := auth.TokenOptions{
		SigningKey: []byte(c.SigningKey),
		BaseURL:    c.BaseURL,
		Lifetime:   c.AccessTokenExpiry,
		CacheSize:  rememberedTokens,
		Keys:       keys,
	}
	for _, key := range c.VerificationKeys {
		options.VerificationKeys = append(options.VerificationKeys, []byte(key))
	}
	return auth.NewTokens(options)
}

// AuthBodyLimit limits the body of a request to /auth, in bytes.
const AuthBodyLimit = 64 << 10

// IsOAuth tells whether a path is an endpoint with errors in the form of RFC 6749.
func IsOAuth(path []byte) bool {
	endpoint, found := bytes.CutPrefix(path, []byte("/auth/"))
	if !found {
		return false
	}
	switch name, provider, isLonger := strings.Cut(string(endpoint), "/"); name {
	case "token", "revoke", "passkey":
		return !isLonger
	case "authorize", "callback":
		return provider != "" && !strings.Contains(provider, "/")
	}
	return false
}

// refuseOAuth converts an error of an OAuth endpoint to a refusal.
func refuseOAuth(err error) *refusal.Refusal {
	var refused *auth.Error
	if !errors.As(err, &refused) {
		return refusal.OfStore(err)
	}
	var more []byte
	if refused.FactorToken != "" {
		kinds, _ := json.Marshal(refused.Factors) // texts
		more = append([]byte(`,"factor_token":"`+refused.FactorToken+`","factors":`), kinds...)
		if refused.PublicKey != nil {
			more = append(append(more, `,"publicKey":`...), refused.PublicKey...)
		}
	}
	return &refusal.Refusal{
		More:       more,
		Status:     refused.Status,
		Message:    refused.Description,
		OAuth:      refused.Code,
		RetryAfter: refused.RetryAfter,
		Cause:      refused.Unwrap(),
	}
}

// token is the token endpoint.
func (s *Service) token(c *fiber.Ctx) error {
	parameters, err := s.readParameters(c)
	if err != nil || parameters == nil {
		return err
	}
	ctx := c.UserContext()
	if parameters["grant_type"] == "password" {
		var stop func()
		ctx, stop = request.WhileThere(ctx, request.Of(c).Client)
		defer stop()
	}
	response, err := s.Grants.Token(ctx, parameters, s.ClientOf(c))
	s.countGrant(parameters["grant_type"], err)
	if s.Config.Verification.SendsMail() {
		s.Mailed()
	}
	if err != nil {
		return refuseOAuth(err)
	}
	body, err := json.Marshal(response)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return request.SendJSON(c, http.StatusOK, string(body))
}

// ClientOf returns the client of a request.
func (s *Service) ClientOf(c *fiber.Ctx) auth.Client {
	agent := strings.ToValidUTF8(strings.ReplaceAll(c.Get("User-Agent"), "\x00", ""), "?")
	return auth.Client{Address: s.Policy.ClientAddress(c), Languages: strings.Clone(c.Get("Accept-Language")), Agent: strings.Clone(refusal.Cut(agent, 200))}
}

// countGrant counts an answer of the token endpoint, by grant and result.
func (s *Service) countGrant(grant string, err error) {
	switch grant {
	case "password", "second_factor", "passkey", "refresh_token", "authorization_code", "token_exchange":
	case auth.ExchangeGrant:
		grant = "token_exchange"
	default: // any other text of a client
		grant = "other"
	}
	outcome := "ok"
	if err != nil {
		outcome = refuseOAuth(err).AsOAuth().OAuth
	}
	s.Granted.WithLabelValues(grant, outcome).Inc()
}

// revoke is the revocation endpoint (RFC 7009). It does not reveal whether a token was
// revoked.
func (s *Service) revoke(c *fiber.Ctx) error {
	parameters, err := s.readParameters(c)
	if err != nil || parameters == nil {
		return err
	}
	token := parameters["token"]
	if token == "" {
		return refuseOAuth(auth.InvalidRequest("token is required"))
	}
	if err := s.Grants.Revoke(c.UserContext(), token); err != nil {
		return refuseOAuth(err)
	}
	return request.SendJSON(c, http.StatusOK, "{}")
}

// passkey gives anybody a challenge for a passkey.
func (s *Service) passkey(c *fiber.Ctx) error {
	parameters, err := s.readParameters(c)
	if err != nil || parameters == nil {
		return err
	}
	asked, err := s.Accounts.PasskeyRequest(c.UserContext())
	if err != nil {
		return refuseOAuth(err)
	}
	return request.SendJSON(c, http.StatusOK, `{"publicKey":`+string(asked)+`}`)
}
