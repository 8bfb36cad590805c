package storage

import (
	"fmt"
	"mime"
	"strings"
)

// Disposition returns the Content-Disposition for serving a file (RFC 6266). A browser
// may show types without scripts: images, PDF, sound, video and plain text. Everything
// else is saved, above all HTML and XML, including SVG: they can contain scripts.
func Disposition(contentType, filename string) string {
	how := "attachment"
	if isShown(contentType) {
		how = "inline"
	}
	return fmt.Sprintf(`%s; filename="%s"; filename*=UTF-8''%s`, how, asciiName(filename), extendedValue(filename))
}

func isShown(contentType string) bool {
	parsed, _, err := mime.ParseMediaType(contentType)
	if err != nil || strings.HasSuffix(parsed, "+xml") {
		return false
	}
	switch kind, _, hasSubtype := strings.Cut(parsed, "/"); kind {
	case "image", "audio", "video":
		return hasSubtype
	}
	return parsed == "application/pdf" || parsed == "text/plain"
}

// asciiName returns a name for clients that support only ASCII. It also replaces
// characters that would end the quotes, or look like an escape.
func asciiName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, name)
}

// extendedValue encodes a text for a parameter with a name that ends in an asterisk (RFC
// 8187).
func extendedValue(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
