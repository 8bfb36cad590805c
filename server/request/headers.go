package request

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

// JSONType is the content type of almost every answer.
const JSONType = "application/json"

// field is a field of a header with its name as written.
type field struct{ name, value []byte }

func newField(name, value string) field { return field{[]byte(name), []byte(value)} }

// The fields of every answer, and their defaults for answers without their own.
var (
	always = []field{
		newField("X-Content-Type-Options", "nosniff"),
		newField("Referrer-Policy", "no-referrer"),
	}
	unlessSet = []field{
		newField(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'"),
		newField(fiber.HeaderCacheControl, "no-store"),
	}
	strictTransport = newField(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
	requestIDName   = []byte("X-Request-Id")
)

// WriteHeaders completes the header of a response.
func (p *Policy) WriteHeaders(rc *fasthttp.RequestCtx, requestID string) {
	out := &rc.Response.Header
	out.SetCanonical(requestIDName, []byte(requestID))
	for _, f := range always {
		out.SetCanonical(f.name, f.value)
	}
	for _, f := range unlessSet {
		if len(out.PeekBytes(f.name)) == 0 {
			out.SetCanonical(f.name, f.value)
		}
	}
	if p.StrictTransport {
		out.SetCanonical(strictTransport.name, strictTransport.value)
	}
	if origin, ok := p.admitted(rc); ok {
		out.Set("Access-Control-Allow-Origin", origin)
		out.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, Idempotent-Replayed, Sternpost-Position")
		out.Set("Vary", "Origin")
	}
}

// admitted returns the origin of the request if its pages may read responses.
func (p *Policy) admitted(rc *fasthttp.RequestCtx) (string, bool) {
	if len(p.Origins) == 0 || p.IsOutsideCORS(rc.URI().PathOriginal()) {
		return "", false
	}
	origin := string(rc.Request.Header.Peek("Origin"))
	return origin, origin != "" && (p.anyOrigin || slices.Contains(p.Origins, origin))
}

// IsPreflight tells whether a browser asks if it may send a request of another origin.
func (p *Policy) IsPreflight(c *fiber.Ctx) bool {
	if c.Method() != fiber.MethodOptions || c.Get("Access-Control-Request-Method") == "" {
		return false
	}
	_, ok := p.admitted(c.Context())
	return ok
}

// Preflight answers what requests of another origin may contain. names are the headers
// that the schema reads.
func Preflight(c *fiber.Ctx, names []string) error {
	allowed := append([]string{"Authorization", "Content-Type", "Idempotency-Key", "Sternpost-Position", "Time-Zone", "X-Request-Id"}, names...)
	c.Set("Access-Control-Allow-Methods", "GET, POST")
	c.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	c.Set("Access-Control-Max-Age", "600")
	c.Status(fiber.StatusNoContent)
	return nil
}

// RequestID returns the request's own id if it is safe to log and repeat, else a new one.
func RequestID(rc *fasthttp.RequestCtx) string {
	own := rc.Request.Header.Peek("X-Request-Id")
	if 1 <= len(own) && len(own) <= 64 && !slices.ContainsFunc(own, func(b byte) bool { return !isIDByte(b) }) {
		return string(own)
	}
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	var id [2 * len(random)]byte
	hex.Encode(id[:], random[:])
	return string(id[:])
}

func isIDByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '.' || b == '_' || b == '-'
}

// IsJSON tells whether a request declares a body that the server reads: JSON in UTF-8,
// not compressed.
func IsJSON(in *fasthttp.RequestHeader) bool {
	for _, encoding := range in.PeekAll("Content-Encoding") {
		if len(encoding) > 0 && !strings.EqualFold(string(encoding), "identity") {
			return false
		}
	}
	declared := in.ContentType()
	if len(declared) == 0 || string(declared) == JSONType {
		return true
	}
	name, parameters, err := mime.ParseMediaType(string(declared))
	if err != nil || name != JSONType && !(strings.Contains(name, "/") && strings.HasSuffix(name, "+json")) {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}
