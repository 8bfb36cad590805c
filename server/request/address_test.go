package request

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/listener"
)

func trusted(networks ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, n := range networks {
		list = append(list, netip.MustParsePrefix(n))
	}
	return list
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	proxies := trusted("10.0.0.0/8", "fd00::/8")
	for _, test := range []struct {
		name      string
		peer      string
		forwarded string
		want      string
	}{
		{"no proxy", "203.0.113.7", "", "203.0.113.7"},
		{"a stranger claims to be a proxy", "203.0.113.7", "198.51.100.1", "203.0.113.7"},
		{"one proxy", "10.0.0.1", "203.0.113.7", "203.0.113.7"},
		{"the client added one before", "10.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"},
		{"two proxies", "10.0.0.1", "203.0.113.7,10.0.0.2", "203.0.113.7"},
		{"proxies only", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
		{"a proxy that tells nothing", "10.0.0.1", "", "10.0.0.1"},
		{"a proxy that tells no address", "10.0.0.1", "unknown", "10.0.0.1"},
		{"a proxy before one that tells no address", "10.0.0.1", "203.0.113.7, unknown, 10.0.0.2", "10.0.0.2"},
		{"with a port", "10.0.0.1", "203.0.113.7:4711", "203.0.113.7"},
		{"IPv6", "fd00::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "fd00::1", "[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::/64"},
		{"IPv6 with a port", "fd00::1", "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"},
		{"IPv6 with a zone", "fd00::1", "fe80::1%eth0", "fe80::/64"},
		{"IPv4 in IPv6", "::ffff:10.0.0.1", "::ffff:203.0.113.7", "203.0.113.7"},
		{"IPv6 without proxy", "2001:db8::1", "", "2001:db8::/64"},
	} {
		var hops []string
		if test.forwarded != "" {
			hops = strings.Split(test.forwarded, ",")
		}
		if got := listener.NetworkOf(nearest(netip.MustParseAddr(test.peer), hops, proxies)); got != test.want {
			t.Errorf("%s: %s with %q: got %s, want %s", test.name, test.peer, test.forwarded, got, test.want)
		}
	}
	if got := listener.NetworkOf(nearest(netip.MustParseAddr("10.0.0.1"), []string{"203.0.113.7"}, nil)); got != "10.0.0.1" {
		t.Errorf("without trusted proxies: got %s", got)
	}
}
