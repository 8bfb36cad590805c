package server

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"mime"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const jsonType = "application/json"

// headers writes what stands on every response.
type headers struct {
	strictTransport bool
	own             string   // the origin of our own pages
	origins         []string // that may read responses in a browser
	anyOrigin       bool
}

func newHeaders(c *Config) headers {
	return headers{
		strictTransport: strings.HasPrefix(c.BaseURL, "https://"),
		own:             ownOrigin(c),
		origins:         c.CORSOrigins,
		anyOrigin:       slices.Contains(c.CORSOrigins, "*"),
	}
}

// write completes the header of a response.
func (h *headers) write(rc *fasthttp.RequestCtx, requestID string) {
	out := &rc.Response.Header
	out.Set("X-Request-Id", requestID)
	out.Set("X-Content-Type-Options", "nosniff")
	out.Set("Referrer-Policy", "no-referrer")
	if len(out.Peek("Content-Security-Policy")) == 0 {
		out.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	}
	if len(out.Peek("Cache-Control")) == 0 {
		out.Set("Cache-Control", "no-store")
	}
	if h.strictTransport {
		out.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if origin, ok := h.admitted(rc); ok {
		out.Set("Access-Control-Allow-Origin", origin)
		out.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After")
		out.Set("Vary", "Origin")
	}
}

// admitted returns the origin of the request if its pages may read responses.
func (h *headers) admitted(rc *fasthttp.RequestCtx) (string, bool) {
	if len(h.origins) == 0 || isOutsideCORS(rc.URI().PathOriginal()) {
		return "", false
	}
	origin := string(rc.Request.Header.Peek("Origin"))
	return origin, origin != "" && (h.anyOrigin || slices.Contains(h.origins, origin))
}

// isPreflight tells whether a browser asks if it may send a request of another
// origin.
func (h *headers) isPreflight(c *fiber.Ctx) bool {
	if c.Method() != fiber.MethodOptions || c.Get("Access-Control-Request-Method") == "" {
		return false
	}
	_, ok := h.admitted(c.Context())
	return ok
}

// preflight says what requests of another origin may carry. names are the headers
// that the schema reads.
func preflight(c *fiber.Ctx, names []string) error {
	allowed := append([]string{"Authorization", "Content-Type", "Time-Zone", "X-Request-Id"}, names...)
	c.Set("Access-Control-Allow-Methods", "GET, POST")
	c.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	c.Set("Access-Control-Max-Age", "600")
	c.Status(fiber.StatusNoContent)
	return nil
}

// requestID returns the request's own id if it is fit to be logged and repeated,
// else a new one.
func requestID(rc *fasthttp.RequestCtx) string {
	own := rc.Request.Header.Peek("X-Request-Id")
	if 1 <= len(own) && len(own) <= 64 && !slices.ContainsFunc(own, func(b byte) bool { return !isIDByte(b) }) {
		return string(own)
	}
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	return hex.EncodeToString(random[:])
}

func isIDByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '.' || b == '_' || b == '-'
}

// isJSON tells whether the request says that its body is what the server reads:
// JSON in UTF-8, not compressed.
func isJSON(in *fasthttp.RequestHeader) bool {
	for _, encoding := range in.PeekAll("Content-Encoding") {
		if len(encoding) > 0 && !strings.EqualFold(string(encoding), "identity") {
			return false
		}
	}
	declared := in.ContentType()
	if len(declared) == 0 || string(declared) == jsonType {
		return true
	}
	name, parameters, err := mime.ParseMediaType(string(declared))
	if err != nil || name != jsonType && !(strings.Contains(name, "/") && strings.HasSuffix(name, "+json")) {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}
