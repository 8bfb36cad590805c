package server

import (
	"net/http"

	"github.com/gofiber/fiber/v2"
)

// routes lists every path. Paths match exactly: case counts, and a trailing slash
// is another path. Every method is routed, since a wrong one is refused here and
// not by Fiber.
func (s *Server) routes(app *fiber.App) {
	app.All("/healthz", s.page(s.healthz))
	app.All("/readyz", s.page(s.readyz))
	app.All("/auth/token", s.token)
	app.All("/auth/revoke", s.revoke)
	app.All("/auth/authorize/:name", s.authorize)
	app.All("/auth/callback/:name", s.callback)
	app.All("/auth/providers", s.page(s.providers))
	app.All("/.well-known/oauth-authorization-server", s.page(s.metadata))
	app.All("/.well-known/jwks.json", s.page(s.jwks))
	app.All("/:api/json/openapi.json", s.openAPI)
	app.All("/:api/json/:action", s.call)
	app.All("/:api/json/:action/upload/:field", s.upload)
	app.All(uploadPath+":key", s.receiveUpload)
	if s.pages != nil {
		s.docsRoutes(app)
	}
	app.Use(func(*fiber.Ctx) error { return &actionNotFound })
}

// page makes the handler of a route that is there to be looked at.
func (s *Server) page(show fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch {
		case c.Method() == fiber.MethodGet, c.Method() == fiber.MethodHead:
			return show(c)
		case s.headers.isPreflight(c):
			return preflight(c, nil)
		default:
			return notAllowed("GET, HEAD")
		}
	}
}

// route finds the API of a path of the shape of an action's.
func (s *Server) route(c *fiber.Ctx, r *served) (*api, error) {
	if r == nil {
		return nil, &unavailable
	}
	exposed := r.apis[c.Params("api")]
	if exposed == nil {
		return nil, &actionNotFound
	}
	return exposed, nil
}

// checkMethod refuses what no action can be called by.
func checkMethod(c *fiber.Ctx) error {
	if m := c.Method(); m != fiber.MethodPost && m != fiber.MethodGet {
		return notAllowed("GET, POST")
	}
	return nil
}

// headerNames are the headers that the schema reads, as preflights list them.
func (r *served) headerNames() []string {
	var names []string
	for _, h := range r.headers {
		names = append(names, http.CanonicalHeaderKey(h.name))
	}
	for _, name := range r.sealed {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	return names
}

// isProbe tells whether a path is one of those that are answered while the server
// stops.
func isProbe(path []byte) bool {
	return string(path) == "/healthz" || string(path) == "/readyz"
}
