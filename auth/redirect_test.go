package auth

import "testing"

// TestRedirectTo checks how parameters are added to an address.
func TestRedirectTo(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"https://app.example.com/done":       "https://app.example.com/done?code=a+b&iss=https%3A%2F%2Fapi",
		"https://app.example.com":            "https://app.example.com?code=a+b&iss=https%3A%2F%2Fapi",
		"https://app.example.com/done?":      "https://app.example.com/done?code=a+b&iss=https%3A%2F%2Fapi",
		"https://app.example.com/done?tab=1": "https://app.example.com/done?tab=1&code=a+b&iss=https%3A%2F%2Fapi",
		"https://app.example.com/done?a&":    "https://app.example.com/done?a&code=a+b&iss=https%3A%2F%2Fapi",
		"com.example.app:/done":              "com.example.app:/done?code=a+b&iss=https%3A%2F%2Fapi",
	} {
		got := redirectTo(target, parameter{"code", "a b"}, parameter{"state", ""}, parameter{"iss", "https://api"})
		if got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// FuzzRedirects checks that every reader takes an allowed but unlisted address for the
// client's own machine, and that it breaks no header.
func FuzzRedirects(f *testing.F) {
	for _, uri := range []string{"http://localhost/", "http://127.0.0.1:1/a?b", "http://[::1]:3000", "http://localhost@evil.example", "http://localhost\\.evil"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !(redirects{}).allows(uri) {
			return
		}
		for i := range len(uri) {
			if c := uri[i]; c <= ' ' || c >= 0x7f || c == '\\' || c == '#' || c == '"' || c == '<' {
				t.Fatalf("%q is allowed with the byte %q", uri, c)
			}
		}
		if host := hostByHand(uri); host != "localhost" && host != "127.0.0.1" && host != "[::1]" {
			t.Fatalf("%q is allowed with the host %q", uri, host)
		}
	})
}

// hostByHand reads a host as the most careless reader would: up to the first character
// that may end one.
func hostByHand(uri string) string {
	rest := uri[len("http://"):]
	for i := range len(rest) {
		switch rest[i] {
		case '/', '?', '@', '#':
			rest = rest[:i]
			return trimPort(rest)
		}
	}
	return trimPort(rest)
}

func trimPort(host string) string {
	end := len(host)
	for end > 0 && host[end-1] >= '0' && host[end-1] <= '9' {
		end--
	}
	if end > 0 && end < len(host) && host[end-1] == ':' && host[0] != '[' {
		return host[:end-1]
	}
	for i := range len(host) {
		if host[i] == ']' {
			return host[:i+1]
		}
	}
	return host
}
