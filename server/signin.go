package server

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
)

// authorize begins a sign-in: it sends the browser to a provider. It is a page to go
// to, not one that scripts may ask, so it is outside of CORS.
func (s *Server) authorize(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return notAllowed("GET, HEAD")
	}
	if s.current.Load() == nil { // there are no identities without a release
		return &unavailable
	}
	departure, err := s.signIns.Begin(c.UserContext(), strings.Clone(c.Params("name")), string(c.Request().URI().QueryString()), s.readCookie(c))
	if err != nil {
		return refuseOAuth(err)
	}
	if departure.Cookie != "" {
		s.writeCookie(c, departure)
	}
	return redirect(c, http.StatusFound, departure.Location)
}

// callback is where a provider sends the browser back to, with a query or with a form
// that its page posts.
func (s *Server) callback(c *fiber.Ctx) error {
	var text string
	status := http.StatusFound
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead:
		text = string(c.Request().URI().QueryString())
	case fiber.MethodPost:
		if len(c.Request().Body()) > authBodyLimit {
			return &bodyTooLarge
		}
		if bodyForm(&c.Request().Header) != formBody {
			return refuseOAuth(auth.InvalidRequest("the content type is not application/x-www-form-urlencoded"))
		}
		text, status = string(c.Request().Body()), http.StatusSeeOther
	default:
		return notAllowed("GET, HEAD, POST")
	}
	if s.current.Load() == nil {
		return &unavailable
	}
	parameters, err := url.ParseQuery(text)
	if err != nil {
		return refuseOAuth(auth.InvalidRequest("the parameters could not be read"))
	}
	location, err := s.signIns.Finish(c.UserContext(), strings.Clone(c.Params("name")), parameters, s.readCookie(c), s.clientAddress(c))
	if err != nil {
		return refuseOAuth(err)
	}
	return redirect(c, status, location)
}

func redirect(c *fiber.Ctx, status int, location string) error {
	if strings.ContainsAny(location, "\r\n") { // targets are checked where they come from
		return errors.New("a redirect breaks its line")
	}
	c.Status(status)
	c.Set("Location", location)
	return nil
}

// cookieName is the cookie that ties a sign-in to the browser that began it. Browsers
// take the prefix from nobody but this host over TLS.
func (s *Server) cookieName() string {
	if s.headers.strictTransport {
		return "__Host-sternpost-signin"
	}
	return "sternpost-signin"
}

func (s *Server) readCookie(c *fiber.Ctx) string {
	return string(c.Request().Header.Cookie(s.cookieName()))
}

func (s *Server) writeCookie(c *fiber.Ctx, d auth.Departure) {
	b := []byte(s.cookieName() + "=" + d.Cookie + "; Path=/; Max-Age=600")
	if s.headers.strictTransport {
		b = append(b, "; Secure"...)
	}
	b = append(b, "; HttpOnly; SameSite="...)
	if d.FromOtherSite {
		b = append(b, "None"...)
	} else {
		b = append(b, "Lax"...)
	}
	c.Set("Set-Cookie", string(b))
}

// isOutsideCORS tells whether a path is a page that browsers go to and that scripts
// of other origins have no business with.
func isOutsideCORS(path []byte) bool {
	return bytes.HasPrefix(path, []byte("/auth/authorize/")) || bytes.HasPrefix(path, []byte("/auth/callback/"))
}
