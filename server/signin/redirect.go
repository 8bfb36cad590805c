package signin

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
)

// authorize begins a sign-in: it sends the browser to a provider. It is a page for
// navigation, not for scripts, so it is outside of CORS.
func (s *Service) authorize(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return refusal.NotAllowed("GET, HEAD")
	}
	if !s.hasRelease() { // identities come with a release
		return &refusal.Unavailable
	}
	departure, err := s.signIns.Begin(c.UserContext(), strings.Clone(c.Params("name")), string(c.Request().URI().QueryString()), s.readCookies(c))
	if err != nil {
		return refuseOAuth(err)
	}
	s.writeCookies(c, departure.Cookies, departure.FromOtherSite)
	return redirect(c, http.StatusFound, departure.Location)
}

// callback is the page to which a provider sends the browser back, with a query or with a
// form that its page posts.
func (s *Service) callback(c *fiber.Ctx) error {
	var text string
	status := http.StatusFound
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead:
		text = string(c.Request().URI().QueryString())
	case fiber.MethodPost:
		if bodyForm(&c.Request().Header) != FormBody {
			return refuseOAuth(auth.InvalidRequest("the content type must be application/x-www-form-urlencoded"))
		}
		body, err := s.Policy.ReadBody(c)
		if err != nil {
			return err
		}
		text, status = string(body), http.StatusSeeOther
	default:
		return refusal.NotAllowed("GET, HEAD, POST")
	}
	if !s.hasRelease() {
		return &refusal.Unavailable
	}
	parameters, err := url.ParseQuery(text)
	if err != nil {
		return refuseOAuth(auth.InvalidRequest("the parameters could not be read"))
	}
	back, err := s.signIns.Finish(c.UserContext(), strings.Clone(c.Params("name")), parameters, s.readCookies(c), s.Policy.ClientAddress(c))
	s.writeCookies(c, back.Cookies, false)
	if err != nil {
		return refuseOAuth(err)
	}
	return redirect(c, status, back.Location)
}

func redirect(c *fiber.Ctx, status int, location string) error {
	if strings.ContainsAny(location, "\r\n") { // targets are checked at their source
		return errors.New("a redirect breaks its line")
	}
	c.Status(status)
	c.Set("Location", location)
	return nil
}

// cookiePrefix is the prefix of the cookies that identify a browser after its visit to a
// provider. Browsers accept __Host- only from this host over TLS.
func (s *Service) cookiePrefix() string {
	if s.Policy.StrictTransport {
		return "__Host-sternpost-signin-"
	}
	return "sternpost-signin-"
}

var isCookieName = regexp.MustCompile(`^[0-9a-f]{12}(-[0-9])?$`).MatchString

func (s *Service) readCookies(c *fiber.Ctx) []auth.Cookie {
	var cookies []auth.Cookie
	c.Request().Header.VisitAllCookie(func(name, value []byte) {
		if rest, isOurs := strings.CutPrefix(string(name), s.cookiePrefix()); isOurs && isCookieName(rest) {
			cookies = append(cookies, auth.Cookie{Name: rest, Value: string(value)})
		}
	})
	return cookies
}

// writeCookies sets cookies, and deletes those without a value.
func (s *Service) writeCookies(c *fiber.Ctx, cookies []auth.Cookie, fromOtherSite bool) {
	for _, cookie := range cookies {
		age := auth.CookieLifetime
		if cookie.Value == "" {
			age = 0
		}
		b := fmt.Appendf(nil, "%s%s=%s; Path=/; Max-Age=%d", s.cookiePrefix(), cookie.Name, cookie.Value, int(age.Seconds()))
		if s.Policy.StrictTransport {
			b = append(b, "; Secure"...)
		}
		b = append(b, "; HttpOnly; SameSite="...)
		if fromOtherSite {
			b = append(b, "None"...)
		} else {
			b = append(b, "Lax"...)
		}
		c.Response().Header.AddBytesV("Set-Cookie", b)
	}
}

// IsOutsideCORS tells whether a path is a page for navigation, which scripts of other
// origins must not use.
func IsOutsideCORS(path []byte) bool {
	return bytes.HasPrefix(path, []byte("/auth/authorize/")) || bytes.HasPrefix(path, []byte("/auth/callback/"))
}
