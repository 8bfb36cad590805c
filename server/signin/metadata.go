package signin

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/request"
)

// serverMetadata is the document of RFC 8414 that describes the endpoints to clients.
type serverMetadata struct {
	Issuer                 string   `json:"issuer"`
	AuthorizationEndpoint  string   `json:"authorization_endpoint,omitempty"`
	AuthorizationEndpoints []string `json:"authorization_endpoints,omitempty"`
	TokenEndpoint          string   `json:"token_endpoint"`
	RevocationEndpoint     string   `json:"revocation_endpoint"`
	JWKSURI                string   `json:"jwks_uri"`
	ResponseTypes          []string `json:"response_types_supported"`
	GrantTypes             []string `json:"grant_types_supported"`
	ChallengeMethods       []string `json:"code_challenge_methods_supported"`
	TokenAuthMethods       []string `json:"token_endpoint_auth_methods_supported"`
	IssuerInResponse       bool     `json:"authorization_response_iss_parameter_supported"`
}

// listedProvider is a provider as clients see it.
type listedProvider struct {
	Name         string `json:"name"`
	Type         string `json:"type"`
	AuthorizeURL string `json:"authorizeUrl"`
	CallbackURL  string `json:"callbackUrl"`
}

// listedProviders returns the visible providers, in the order of the configuration.
func listedProviders(c *config.Config) []listedProvider {
	listed := []listedProvider{}
	for _, p := range c.Providers {
		if p.IsInternal {
			continue
		}
		listed = append(listed, listedProvider{
			Name:         p.Name,
			Type:         p.Type,
			AuthorizeURL: authorizeURL(c, p.Name),
			CallbackURL:  c.BaseURL + "/auth/callback/" + p.Name,
		})
	}
	return listed
}

// authorizeURL returns the address where sign-ins at a provider begin.
func authorizeURL(c *config.Config, name string) string {
	return c.BaseURL + "/auth/authorize/" + name
}

// metadataOf describes the configured endpoints.
func metadataOf(c *config.Config) serverMetadata {
	m := serverMetadata{
		Issuer:             c.BaseURL,
		TokenEndpoint:      c.BaseURL + "/auth/token",
		RevocationEndpoint: c.BaseURL + "/auth/revoke",
		JWKSURI:            c.BaseURL + "/.well-known/jwks.json",
		ResponseTypes:      []string{"code"},
		GrantTypes:         []string{"authorization_code", "refresh_token"},
		ChallengeMethods:   []string{"S256"},
		TokenAuthMethods:   []string{"none"},
		IssuerInResponse:   true,
	}
	if c.PasswordEnabled {
		m.GrantTypes = append(m.GrantTypes, "password")
	}
	m.GrantTypes = append(m.GrantTypes, "second_factor", "token_exchange")
	if c.Passkeys.RPID != "" {
		m.GrantTypes = append(m.GrantTypes, "passkey")
	}
	if c.PKCE != auth.PKCES256 {
		m.ChallengeMethods = append(m.ChallengeMethods, "plain")
	}
	// The single endpoint is for clients without knowledge of this service, the list for
	// clients that may also know its internal providers.
	if listed := listedProviders(c); len(listed) > 0 {
		m.AuthorizationEndpoint = listed[0].AuthorizeURL
	}
	if len(c.Providers) > 1 {
		for _, p := range c.Providers {
			m.AuthorizationEndpoints = append(m.AuthorizationEndpoints, authorizeURL(c, p.Name))
		}
	}
	return m
}

func (s *Service) metadata(c *fiber.Ctx) error {
	return s.SendPublic(c, metadataOf(s.Config))
}

func (s *Service) providers(c *fiber.Ctx) error {
	return s.SendPublic(c, listedProviders(s.Config))
}

func (s *Service) jwks(c *fiber.Ctx) error {
	return s.SendPublic(c, json.RawMessage(s.Tokens.JWKS()))
}

// SendPublic sends a document that is the same for everybody and seldom changes.
func (s *Service) SendPublic(c *fiber.Ctx, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	c.Set("Cache-Control", "public, max-age=300")
	if len(s.Policy.Origins) > 0 {
		c.Set("Vary", "Origin") // caches must not reuse the answer for another origin
	}
	return request.SendJSON(c, fiber.StatusOK, string(body))
}
