package server

import (
	"bytes"
	"math"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/signin"
)

// routes lists every path. Paths match exactly: case counts, and a trailing slash makes
// another path. Every method is routed, since this server refuses a wrong one, not Fiber.
func (s *Server) routes(app *fiber.App) {
	app.All("/healthz", s.policy.Page(s.healthz))
	app.All("/readyz", s.policy.Page(s.readyz))
	s.signIn.Routes(app)
	app.All("/:api/json/openapi.json", s.openAPI)
	app.All("/:api/json/:action", s.call)
	app.All("/:api/mcp", s.mcp)
	app.All(resourceMetadata+":api/mcp", s.policy.Page(s.describeResource))
	app.All("/:api/json/:action/upload/:field", s.upload)
	app.All(files.UploadPath+":key", s.files.Receive)
	app.All(files.DownloadPath+":key", s.files.Send)
	if s.docs != nil {
		s.docs.Routes(app)
	}
	app.Use(func(*fiber.Ctx) error { return &refusal.ActionNotFound })
}

// route finds the API for a path that has the form of an action's path.
func (s *Server) route(c *fiber.Ctx, r *served) (*api, error) {
	if r == nil {
		return nil, &refusal.Unavailable
	}
	exposed := r.apis[c.Params("api")]
	if exposed == nil {
		return nil, &refusal.ActionNotFound
	}
	return exposed, nil
}

// checkMethod refuses the methods that no action takes.
func checkMethod(c *fiber.Ctx) error {
	if m := c.Method(); m != fiber.MethodPost && m != fiber.MethodGet {
		return refusal.NotAllowed("GET, POST")
	}
	return nil
}

// headerNames lists the headers that the schema reads, for preflights.
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

// isProbe tells whether a path is still answered while the server stops.
func isProbe(path []byte) bool {
	return string(path) == "/healthz" || string(path) == "/readyz"
}

// bodyLimit returns the maximum length of a request body. An upload to a disk has its
// announced length as limit, which its route checks.
func (s *Server) bodyLimit(path []byte) int64 {
	switch {
	case bytes.HasPrefix(path, []byte("/auth/")):
		return signin.AuthBodyLimit
	case bytes.HasPrefix(path, []byte(files.UploadPath)):
		return math.MaxInt64
	}
	return int64(s.config.BodyLimit)
}
