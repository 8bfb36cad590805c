package request

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
)

// Page makes the handler of a route for viewing.
func (p *Policy) Page(show fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch {
		case c.Method() == fiber.MethodGet, c.Method() == fiber.MethodHead:
			return show(c)
		case p.IsPreflight(c):
			return Preflight(c, nil)
		default:
			return refusal.NotAllowed("GET, HEAD")
		}
	}
}

// Document is the OpenAPI document of an API, ready to be sent.
type Document struct {
	text []byte
	ETag string
}

// NewDocument makes a document from its text.
func NewDocument(text []byte) Document {
	hash := sha256.Sum256(text)
	return Document{text, `"` + base64.RawURLEncoding.EncodeToString(hash[:]) + `"`}
}

// Send sends the description, unless the client has it already.
func (d *Document) Send(c *fiber.Ctx) error {
	c.Set("ETag", d.ETag)
	c.Set("Cache-Control", "no-cache")
	if IsKnown(c.Get("If-None-Match"), d.ETag) {
		c.Status(http.StatusNotModified)
		return nil
	}
	c.Response().Header.SetContentType(JSONType)
	c.Response().SetBodyRaw(d.text)
	return nil
}

// IsKnown tells whether an If-None-Match names an entity tag. The comparison is weak (RFC
// 9110, section 13.1.2), since compression on the way does not change the content.
func IsKnown(header, etag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for tag := range strings.SplitSeq(header, ",") { // our tags have no comma
		if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == etag {
			return true
		}
	}
	return false
}
