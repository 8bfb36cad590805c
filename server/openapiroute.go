package server

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
)

// OpenAPIAccess says who may read the description of an API.
type OpenAPIAccess string

// Who may read it: anyone, whoever has a token, or nobody.
const (
	OpenAPIPublic        OpenAPIAccess = "public"
	OpenAPIAuthenticated OpenAPIAccess = "authenticated"
	OpenAPIOff           OpenAPIAccess = "off"
)

// description is the OpenAPI document of an API, ready to be sent.
type description struct {
	text []byte
	etag string
}

func newDescription(text []byte) description {
	hash := sha256.Sum256(text)
	return description{text, `"` + base64.RawURLEncoding.EncodeToString(hash[:]) + `"`}
}

// openAPI answers with the description of an API.
func (s *Server) openAPI(c *fiber.Ctx) error {
	if s.config.OpenAPI == OpenAPIOff {
		return &actionNotFound
	}
	exposed, err := s.route(c, s.current.Load())
	if err != nil {
		return err
	}
	if s.headers.isPreflight(c) {
		return preflight(c, nil)
	}
	if s.config.OpenAPI == OpenAPIAuthenticated {
		who, err := s.identify(c)
		if err != nil {
			return err
		}
		if who == "" {
			refused := authenticationFailed
			refused.message, refused.authenticate = auth.ErrHeader.Error(), auth.ErrHeader.WWWAuthenticate()
			return &refused
		}
	}
	if m := c.Method(); m != fiber.MethodGet && m != fiber.MethodHead {
		return notAllowed("GET, HEAD")
	}
	return exposed.description.send(c)
}

// send sends the description, unless the client has it already.
func (d *description) send(c *fiber.Ctx) error {
	c.Set("ETag", d.etag)
	c.Set("Cache-Control", "no-cache")
	if isKnown(c.Get("If-None-Match"), d.etag) {
		c.Status(http.StatusNotModified)
		return nil
	}
	c.Response().Header.SetContentType(jsonType)
	c.Response().SetBodyRaw(d.text)
	return nil
}

// isKnown tells whether an If-None-Match names an entity tag. They are compared
// weakly (RFC 9110, section 13.1.2), since what was compressed on its way is the same.
func isKnown(header, etag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for tag := range strings.SplitSeq(header, ",") { // ours has no comma
		if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == etag {
			return true
		}
	}
	return false
}
