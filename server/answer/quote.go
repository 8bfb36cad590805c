package answer

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Quote appends a JSON string. Bytes that are not UTF-8 become U+FFFD, and so does
// NUL, which Postgres cannot hold.
func Quote[T string | []byte](b []byte, s T) []byte {
	t := []byte(s)
	if bytes.IndexByte(t, 0) >= 0 {
		t = bytes.ReplaceAll(t, []byte{0}, []byte("\uFFFD"))
	}
	b, _ = jsontext.AppendQuote(b, t) // the error is about the bytes that t has replaced
	return b
}

// Encode writes JSON without the escapes for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
