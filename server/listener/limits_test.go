package listener

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"syscall"
	"testing"
)

func TestTrustedProxiesHaveNoShare(t *testing.T) {
	t.Parallel()
	limits := Limits{trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for address, want := range map[string]string{
		"10.1.2.3:9": "", "192.0.2.1:9": "192.0.2.1", "[2001:db8::1]:9": "2001:db8::/64", "[::ffff:10.1.2.3]:9": "",
	} {
		if got := limits.peerOf(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
	if got := limits.peerOf(&net.UnixAddr{Name: "x"}); got != "" {
		t.Errorf("a socket without address: got %q", got)
	}
}

func TestConnectionsOf(t *testing.T) {
	t.Parallel()
	const none = math.MaxInt64
	for _, test := range []struct {
		configured, pool    int
		descriptors, memory int64
		want                int
		problem             string
	}{
		{0, 8, 1024, none, 768, ""},
		{0, 8, 1 << 20, none, 20000, ""},
		{0, 8, none, none, 20000, ""},
		{0, 8, 1 << 20, 512 << 20, 4096, ""},
		{0, 8, 1 << 20, 1 << 20, 16, ""},
		{0, 100, 1024, none, 760, ""},
		{0, 8, 256, none, 176, ""},
		{0, 8, 80, none, 0, "the process may open only 80 files at once and needs 80 itself: raise the limit (ulimit -n)"},
		{30000, 8, 1 << 20, 512 << 20, 30000, ""},
		{1000, 8, 1024, none, 0, "server.maxConnections is 1000, but the process may open only 1024 files at once (ulimit -n) and needs 80 of them itself: lower it, or raise the limit"},
	} {
		got, err := connectionsOf(test.configured, test.pool, test.descriptors, test.memory)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if got != test.want || problem != test.problem {
			t.Errorf("%+v: got %d %s", test, got, problem)
		}
	}
}

func TestIsPassing(t *testing.T) {
	t.Parallel()
	if !isPassing(syscall.EMFILE) || isPassing(net.ErrClosed) || isPassing(errors.New("other")) {
		t.Error("errors are mistaken for one another")
	}
}
