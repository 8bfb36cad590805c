package input

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is the length of a file name or content type, in bytes.
const maxNameBytes = 255

const dataScheme = "data:"

// hasDataScheme distinguishes an inline file from an upload key.
func hasDataScheme(text []byte) bool {
	return len(text) >= len(dataScheme) && strings.EqualFold(string(text[:len(dataScheme)]), dataScheme)
}

// File is an inline file.
type File struct {
	Name        string
	ContentType string
	Contents    []byte
}

// dataURLProblem returns what is wrong with a data URL, or "".
func dataURLProblem(text []byte) string {
	_, _, problem := splitDataURL(text)
	return problem
}

// splitDataURL splits a data URL into the name and type of the file, and its data,
// still encoded; or says what is wrong:
//
//	data:TYPE/SUBTYPE[;PARAMETER=VALUE…];name=NAME;base64,DATA
//
// The name may be anywhere among the parameters of the type, once. Like their values, it
// may be quoted. Text after it without "=" belongs to the name: some encoders do not
// escape its semicolons, and a parameter has a value.
func splitDataURL(text []byte) (file File, data []byte, problem string) {
	if !hasDataScheme(text) {
		return File{}, nil, notDataURL
	}
	comma := bytes.LastIndexByte(text, ',') // data has no comma, a quoted parameter may
	if comma < 0 || !isBase64(text[comma+1:]) {
		return File{}, nil, notDataURL
	}
	parts := splitUnquoted(string(text[len(dataScheme):comma]))
	last := len(parts) - 1
	if parts[0] == "" || last == 0 || !strings.EqualFold(parts[last], "base64") {
		return File{}, nil, notDataURL
	}
	named := false
	file.ContentType = parts[0]
	parameters := parts[1:last]
	for i := 0; i < len(parameters); i++ {
		key, value, _ := strings.Cut(parameters[i], "=")
		if !strings.EqualFold(key, "name") {
			file.ContentType += ";" + parameters[i]
			continue
		}
		for ; i+1 < len(parameters) && !strings.Contains(parameters[i+1], "="); i++ {
			value += ";" + parameters[i+1]
		}
		decoded, err := url.PathUnescape(unquote(value))
		if named || err != nil || !utf8.ValidString(decoded) {
			return File{}, nil, notDataURL
		}
		file.Name, named = decoded, true
	}
	switch {
	case !named:
		return File{}, nil, notDataURL
	case !isContentType(file.ContentType):
		return File{}, nil, notContentType
	case FileNameProblem(file.Name) != "":
		return File{}, nil, FileNameProblem(file.Name)
	}
	return file, text[comma+1:], ""
}

// isInline tells whether a place holds an inline file.
func (p Place) isInline() bool {
	return (p.Format == "data-url" || p.Format == "file") && hasDataScheme(p.text())
}

// text returns the value without a copy, for large files.
func (p Place) text() []byte {
	text := p.json[1 : len(p.json)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(p.Text())
	}
	return text
}

// Inline returns the file in the value of a place, and false for an upload key. The place
// has been checked, so that it holds one or the other.
func (p Place) Inline() (File, bool) {
	text := p.text()
	if !hasDataScheme(text) {
		return File{}, false
	}
	file, data, problem := splitDataURL(text)
	if problem != "" {
		panic("input: a place holds a data URL that " + problem)
	}
	file.Contents = make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(file.Contents, data)
	if err != nil {
		panic("input: a place holds a data URL whose data is not base64: " + err.Error())
	}
	file.Contents = file.Contents[:n]
	return file, true
}

// ContentTypeProblem returns what is wrong with a content type, or "".
func ContentTypeProblem(contentType string) string {
	if !isContentType(contentType) {
		return notContentType
	}
	return ""
}

// splitUnquoted splits parameters at the semicolons outside quotes.
func splitUnquoted(text string) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ';' && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// unquote removes the quotes of a quoted value.
func unquote(value string) string {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value
	}
	var b strings.Builder
	inner := value[1 : len(value)-1]
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}

// isBase64 tells whether text is padded base64 of the standard alphabet without
// white space.
func isBase64(text []byte) bool {
	if len(text)%4 != 0 {
		return false
	}
	for range 2 {
		if len(text) > 0 && text[len(text)-1] == '=' {
			text = text[:len(text)-1]
		}
	}
	for _, c := range text {
		if !base64Alphabet[c] {
			return false
		}
	}
	return true
}

var base64Alphabet = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = true
	}
	return table
}()

// FileNameProblem returns what is wrong with the name of a file, or "". A name has 1 to 255 bytes, is not a path and
// does not disguise its text.
func FileNameProblem(name string) string {
	switch {
	case name == "":
		return notFileName + "it is empty"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("%sit has %d bytes, and at most %d are allowed", notFileName, len(name), maxNameBytes)
	case name == "." || name == "..":
		return notFileName + name + " is a folder"
	}
	for _, r := range name {
		switch {
		case r == '/' || r == '\\':
			return notFileName + "it has a " + string(r)
		case unicode.IsControl(r):
			return fmt.Sprintf("%sit has the control character %U", notFileName, r)
		case isBidirectionalOverride(r):
			return fmt.Sprintf("%sit has the character %U, which changes the direction of text", notFileName, r)
		}
	}
	return ""
}

// isBidirectionalOverride tells whether a character changes the direction of the
// text after it: embeddings, overrides and isolates.
func isBidirectionalOverride(r rune) bool {
	return '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}

// isContentType tells whether text is TYPE/SUBTYPE, names as in RFC 6838, with optional
// parameters, at most 255 bytes.
func isContentType(text string) bool {
	if len(text) > maxNameBytes {
		return false
	}
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	parsed, _, err := mime.ParseMediaType(text)
	kind, subtype, _ := strings.Cut(parsed, "/")
	return err == nil && isTypeName(kind) && isTypeName(subtype)
}

// isTypeName tells whether a text is the name of a type or subtype. A range such as
// image/* is not.
func isTypeName(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20
		isAlphanumeric := 'a' <= c && c <= 'z' || '0' <= name[i] && name[i] <= '9'
		if !isAlphanumeric && (i == 0 || strings.IndexByte("!#$&-^_.+", name[i]) < 0) {
			return false
		}
	}
	return name != ""
}
