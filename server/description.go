package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// openAPI answers with the description of an API.
func (s *Server) openAPI(c *fiber.Ctx) error {
	if s.config.OpenAPI == config.OpenAPIOff {
		return &refusal.ActionNotFound
	}
	exposed, err := s.route(c, s.current.Load())
	if err != nil {
		return err
	}
	if s.policy.IsPreflight(c) {
		return request.Preflight(c, nil)
	}
	if s.config.OpenAPI == config.OpenAPIAuthenticated {
		who, err := s.identify(c)
		if err != nil {
			return err
		}
		if who.ID == "" {
			refused := refusal.AuthenticationFailed
			refused.Message, refused.Authenticate = auth.ErrHeader.Error(), auth.ErrHeader.WWWAuthenticate()
			return &refused
		}
	}
	if m := c.Method(); m != fiber.MethodGet && m != fiber.MethodHead {
		return refusal.NotAllowed("GET, HEAD")
	}
	description, err := exposed.description()
	if err != nil {
		return err
	}
	return description.Send(c)
}
