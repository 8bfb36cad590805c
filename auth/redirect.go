package auth

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxRedirectURI limits an address that a client names, in bytes.
const maxRedirectURI = 2048

// redirects are the addresses that a client may name for the end of a sign-in.
type redirects struct {
	entries []string // empty means those of the client's own machine
}

// allows tells whether a sign-in may end at an address. That address gets a code, so it
// is compared as written and never interpreted: one program may read a part as the host,
// another as a user name.
func (r redirects) allows(uri string) bool {
	if len(uri) > maxRedirectURI || !isPlainURI(uri) {
		return false
	}
	portless, isLoopback := withoutPort(uri)
	if len(r.entries) == 0 {
		return isLoopback
	}
	return slices.ContainsFunc(r.entries, func(entry string) bool {
		if entry == uri {
			return true
		}
		own, ok := withoutPort(entry)
		return ok && isLoopback && own == portless
	})
}

// isPlainURI tells whether a text is an absolute URI of only the characters of RFC 3986,
// without user part and without fragment.
func isPlainURI(uri string) bool {
	for i := 0; i < len(uri); i++ {
		switch c := uri[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~:/?[]@!$&'()*+,;=", c) >= 0:
		case c == '%' && i+2 < len(uri) && isHex(uri[i+1]) && isHex(uri[i+2]):
		default:
			return false
		}
	}
	u, err := url.Parse(uri)
	return err == nil && u.IsAbs() && u.User == nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// loopback is an address of the browser's own machine, spelled in one of three ways:
// host, port, and rest.
var loopback = regexp.MustCompile(`^(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?((?:[/?].*)?)$`)

// withoutPort returns an address without its port if it is on the client's own machine,
// where programs listen on any free port (RFC 8252, section 7.3).
func withoutPort(uri string) (portless string, ok bool) {
	parts := loopback.FindStringSubmatch(uri)
	if parts == nil {
		return "", false
	}
	if parts[2] != "" {
		if port, err := strconv.Atoi(parts[2]); err != nil || port < 1 || port > 65535 {
			return "", false
		}
	}
	return parts[1] + parts[3], true
}

// parameter is a query parameter of a redirect.
type parameter struct{ name, value string }

// redirectTo adds parameters to an address; those without a value are left out.
func redirectTo(target string, parameters ...parameter) string {
	var b strings.Builder
	b.WriteString(target)
	separator := byte('?')
	if at := strings.IndexByte(target, '?'); at >= 0 {
		separator = '&'
		if last := target[len(target)-1]; last == '?' || last == '&' {
			separator = 0
		}
	}
	for _, p := range parameters {
		if p.value == "" {
			continue
		}
		if separator != 0 {
			b.WriteByte(separator)
		}
		separator = '&'
		b.WriteString(p.name)
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.value))
	}
	return b.String()
}
