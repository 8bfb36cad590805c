package request

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/listener"
)

// ClientAddress returns the address that failed sign-ins count for: the peer of the
// connection, or, if that is a trusted proxy, the nearest address in X-Forwarded-For that
// is not one. Any address before that comes from an unknown party. IPv6 counts by
// network, since every client with one address has 2^64.
func (p *Policy) ClientAddress(c *fiber.Ctx) string {
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	var hops []string
	for _, value := range c.Request().Header.PeekAll("X-Forwarded-For") {
		hops = append(hops, strings.Split(string(value), ",")...)
	}
	if len(hops) > 0 && !isTrusted(peer.Unmap(), p.Trusted) {
		p.untrusted.Do(func() {
			p.Log.Warn("ignored X-Forwarded-For from a peer that is not in server.trustedProxies; "+
				"if the peer is a proxy, add it there, or all its clients count as one", "peer", peer.Unmap().String())
		})
	}
	return listener.NetworkOf(nearest(peer, hops, p.Trusted))
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// nearest goes back from the peer of a connection, hop by hop, as long as the address is
// that of a trusted proxy.
func nearest(peer netip.Addr, hops []string, trusted []netip.Prefix) netip.Addr {
	at := peer.Unmap()
	for _, hop := range slices.Backward(hops) {
		if !isTrusted(at, trusted) {
			break
		}
		before, ok := parseHop(hop)
		if !ok {
			break // this proxy vouches for any address
		}
		at = before
	}
	return at
}

// parseHop reads an address in the form of proxies, some with a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.Addr().WithZone("").Unmap(), true
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.WithZone("").Unmap(), err == nil
}
