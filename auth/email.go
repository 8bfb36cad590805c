package auth

import "strings"

// maxEmail limits an address, in bytes (RFC 5321, section 4.5.3.1).
const maxEmail = 254

// ParseEmail returns an e-mail address in lower case. It takes one bare address: words of
// letters, digits and a few signs, joined by dots, at a host name. It takes nothing that
// needs interpretation: quotes, comments, display names or IP addresses.
func ParseEmail(text string) (email string, ok bool) {
	local, host, found := strings.Cut(text, "@")
	if !found || len(text) > maxEmail || len(local) > 64 {
		return "", false
	}
	for _, word := range strings.Split(local, ".") {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !isASCIIAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
		}) {
			return "", false
		}
	}
	for _, label := range strings.Split(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, func(r rune) bool { return !isASCIIAlphanumeric(r) && r != '-' }) {
			return "", false
		}
	}
	return strings.ToLower(text), true
}

func isASCIIAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
