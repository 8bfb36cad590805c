package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/auth"
)

// rememberedTokens is how many verified tokens are kept, each some 500 bytes.
const rememberedTokens = 10000

// newTokens makes what issues and verifies access tokens.
func newTokens(c *Config) (*auth.Tokens, error) {
	if c.SigningKey == "" {
		return nil, errors.New("auth.signingKey is required")
	}
	options := auth.TokenOptions{
		SigningKey: []byte(c.SigningKey),
		BaseURL:    c.BaseURL,
		Lifetime:   c.AccessTokenExpiry,
		CacheSize:  rememberedTokens,
	}
	for _, key := range c.VerificationKeys {
		options.VerificationKeys = append(options.VerificationKeys, []byte(key))
	}
	return auth.NewTokens(options)
}

// newGrants makes what signs people in.
func (s *Server) newGrants() *auth.Grants {
	s.passwords = auth.NewPasswords()
	s.telemetry.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sternpost_password_hashes_total", Help: "Hashes of passwords computed, to make or to verify one.",
	}, func() float64 { return float64(s.passwords.Computed()) }))

	s.granted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_grants_total",
		Help: "Answers of the token endpoint, by grant and outcome: ok or the error.",
	}, []string{"grant", "outcome"})
	s.telemetry.registry.MustRegister(s.granted)

	return auth.NewGrants(s.tokens, s.authStore(), s.passwords, s.signIns, s.log, auth.GrantOptions{
		RefreshTokenExpiry: s.config.RefreshTokenExpiry,
		IsRotating:         s.config.RefreshTokenRotation,
		RefreshTokenGrace:  s.config.RefreshTokenGrace,
		IsPasswordEnabled:  s.config.PasswordEnabled,
		IsSignupEnabled:    s.config.PasswordSignup,
		MinPasswordLength:  s.config.PasswordMinLength,
	})
}

// authBodyLimit is how long the body of a request to /auth may be, in bytes.
const authBodyLimit = 64 << 10

// isOAuth tells whether a path is one of the endpoints whose errors have the form of
// RFC 6749.
func isOAuth(path []byte) bool {
	endpoint, found := bytes.CutPrefix(path, []byte("/auth/"))
	if !found {
		return false
	}
	switch name, provider, isLonger := strings.Cut(string(endpoint), "/"); name {
	case "token", "revoke":
		return !isLonger
	case "authorize", "callback":
		return provider != "" && !strings.Contains(provider, "/")
	}
	return false
}

// asOAuth returns a refusal as an OAuth endpoint answers it. Whatever is too slow is
// unavailable there.
func (r *refusal) asOAuth() *refusal {
	c := *r
	if c.status == http.StatusGatewayTimeout {
		c.status, c.message = unavailable.status, unavailable.message
	}
	if c.oauth != "" {
		return &c
	}
	switch {
	case c.status == http.StatusTooManyRequests, c.status == http.StatusServiceUnavailable:
		c.oauth = "temporarily_unavailable"
	case c.status < http.StatusInternalServerError:
		c.oauth = "invalid_request"
	default:
		c.oauth = "server_error"
	}
	return &c
}

// oauthBody writes the body of a refusal in the form of RFC 6749, section 5.2.
func (r *refusal) oauthBody() []byte {
	b := []byte(`{"error":`)
	b = quote(b, r.oauth)
	b = append(b, `,"error_description":`...)
	b = quote(b, r.message)
	return append(b, '}')
}

// retrySeconds is the value of Retry-After.
func (r *refusal) retrySeconds() string {
	if r.retryAfter <= 0 {
		return retryAfter
	}
	return strconv.FormatInt(int64((r.retryAfter+time.Second-1)/time.Second), 10)
}

// refuseOAuth says how an error of an OAuth endpoint is answered.
func refuseOAuth(err error) *refusal {
	var refused *auth.Error
	if !errors.As(err, &refused) {
		return refuseStore(err)
	}
	return &refusal{
		status:     refused.Status,
		message:    refused.Description,
		oauth:      refused.Code,
		retryAfter: refused.RetryAfter,
		cause:      refused.Unwrap(),
	}
}

// refuseStore says how an error is answered that may come from the database. There
// nothing is refused by raising: what is raised is trouble.
func refuseStore(err error) *refusal {
	var known *refusal
	if errors.As(err, &known) {
		return known
	}
	code := sqlstate(err)
	if r := databaseRefusals[code]; r != nil && !strings.HasPrefix(code, "SP") {
		return r.with(err)
	}
	if r := databaseRefusals[code[:min(2, len(code))]]; r != nil {
		return r.with(err)
	}
	if code == "25006" { // the database takes no writes now
		return unavailable.with(err)
	}
	return internal.with(err)
}

// token is the token endpoint.
func (s *Server) token(c *fiber.Ctx) error {
	parameters, err := s.readParameters(c)
	if err != nil || parameters == nil {
		return err
	}
	ctx := c.UserContext()
	if parameters["grant_type"] == "password" {
		var stop func()
		ctx, stop = whileThere(ctx, requestOf(c).client)
		defer stop()
	}
	response, err := s.grants.Token(ctx, parameters, s.clientAddress(c))
	s.countGrant(parameters["grant_type"], err)
	if err != nil {
		return refuseOAuth(err)
	}
	body, err := json.Marshal(response)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return sendJSON(c, http.StatusOK, string(body))
}

// countGrant counts an answer of the token endpoint, by grant and by what came of it.
func (s *Server) countGrant(grant string, err error) {
	switch grant {
	case "password", "refresh_token", "authorization_code", "token_exchange":
	case auth.ExchangeGrant:
		grant = "token_exchange"
	default: // whatever else a client may have written
		grant = "other"
	}
	outcome := "ok"
	if err != nil {
		outcome = refuseOAuth(err).asOAuth().oauth
	}
	s.granted.WithLabelValues(grant, outcome).Inc()
}

// revoke is the revocation endpoint (RFC 7009). It does not tell whether there was
// anything to revoke.
func (s *Server) revoke(c *fiber.Ctx) error {
	parameters, err := s.readParameters(c)
	if err != nil || parameters == nil {
		return err
	}
	token := parameters["token"]
	if token == "" {
		return refuseOAuth(auth.InvalidRequest("token is required"))
	}
	if err := s.grants.Revoke(c.UserContext(), token); err != nil {
		return refuseOAuth(err)
	}
	return sendJSON(c, http.StatusOK, "{}")
}

const (
	sweepInterval = time.Minute
	sweepMost     = 1000 // rows of a kind in one transaction
)

// sweepSignIns deletes rows that have had their time, now and then, until the context
// ends.
func (s *Server) sweepSignIns(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.current.Load() == nil {
			continue
		}
		if err := s.sweepAllSignIns(ctx, sweepMost); err != nil {
			s.log.Warn("delete old rows of sign-ins", "error", err)
		}
	}
}

// sweepAllSignIns deletes batches until none is full.
func (s *Server) sweepAllSignIns(ctx context.Context, most int) error {
	for ctx.Err() == nil {
		if isMore, err := s.authStore().sweep(most); err != nil || !isMore {
			return err
		}
	}
	return nil
}
