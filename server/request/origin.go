package request

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/refusal"
)

// ownOrigin returns the origin of the service's own pages.
func ownOrigin(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "" // the configuration has been checked; pages need a base URL
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// IsForeign tells whether a request comes from a page that is neither ours nor allowed to
// read our responses.
func (p *Policy) IsForeign(c *fiber.Ctx) bool {
	origin := c.Get("Origin")
	if origin == "" || origin == p.own {
		return false
	}
	_, isAdmitted := p.admitted(c.Context())
	return !isAdmitted
}

// TakesBody tells whether the header of a request declares a body that the server reads.
// A body without a type counts as JSON, but not from foreign pages: a browser lets them
// send one without a preflight.
func (p *Policy) TakesBody(c *fiber.Ctx) bool {
	header := &c.Request().Header
	if len(header.ContentType()) == 0 && Of(c).Body.length != 0 && p.IsForeign(c) {
		return false
	}
	return IsJSON(header)
}

// ForDevelopers makes the handler of a page about the running application. In development
// the service answers only under its own name: another Host belongs to a page that had its
// name resolved to this server, to read our pages.
func (p *Policy) ForDevelopers(show fiber.Handler) fiber.Handler {
	if !p.IsDevelopment {
		return show
	}
	own := []string{"localhost", "127.0.0.1", "::1"}
	if u, err := url.Parse(p.BaseURL); err == nil {
		own = append(own, strings.ToLower(u.Hostname()))
	}
	isOwn := func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && slices.Contains(own, strings.ToLower(u.Hostname()))
	}
	return func(c *fiber.Ctx) error {
		host, origin := string(c.Request().Host()), c.Get("Origin")
		switch {
		case !isOwn("http://" + host):
			return refusal.PermissionDenied.Saying("this page is for developers and is not available at the host %q: use localhost or the host of baseUrl", refusal.Cut(host, 64))
		case origin != "" && !isOwn(origin):
			return refusal.PermissionDenied.Saying("this page is for developers and is not available to pages of %q", refusal.Cut(origin, 64))
		}
		return show(c)
	}
}

// ForOwnOrigin makes the handler of a page with data in development. It refuses pages of other origins, even those of other
// programs on this machine, and lets people open the page.
func (p *Policy) ForOwnOrigin(what string, show fiber.Handler) fiber.Handler {
	return p.ForDevelopers(func(c *fiber.Ctx) error {
		if err := p.refuseForeign(c, what); err != nil {
			return err
		}
		return show(c)
	})
}

// refuseForeign refuses data to pages of other origins. They cannot read what they only lead to.
func (p *Policy) refuseForeign(c *fiber.Ctx, what string) error {
	if origin := c.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, string(c.Request().Host())) {
			return refusal.PermissionDenied.Saying("%s are not available to pages of %q", what, refusal.Cut(origin, 64))
		}
	}
	if site := c.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && (c.Get("Sec-Fetch-Mode") != "navigate" || c.Method() == fiber.MethodPost) {
		return refusal.PermissionDenied.Saying("%s are available only to pages of this server", what)
	}
	return nil
}

// ForOwnPages makes the handler of requests that only our pages send, in development on the
// developer's machine, since they can show and change everything. It refuses pages of other
// origins, even those of other programs on this machine, and other machines. A browser sends
// a preflight before JSON from a foreign page, and gets no answer.
func (p *Policy) ForOwnPages(do func(c *fiber.Ctx, body []byte) error) fiber.Handler {
	return p.ForDevelopers(func(c *fiber.Ctx) error {
		header := &c.Request().Header
		if c.Method() != fiber.MethodPost {
			return refusal.NotAllowed(fiber.MethodPost)
		}
		peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
		if !peer.Unmap().IsLoopback() || len(header.Peek("X-Forwarded-For"))+len(header.Peek("Forwarded")) > 0 {
			return refusal.PermissionDenied.Saying("rows are available only on the machine that runs the server")
		}
		if err := p.refuseForeign(c, "rows"); err != nil {
			return err
		}
		if len(header.ContentType()) == 0 || !IsJSON(header) {
			return &refusal.UnsupportedMediaType
		}
		body, err := p.ReadBody(c)
		if err != nil {
			return err
		}
		return do(c, body)
	})
}
