package storage_test

import (
	"mime"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/storage"
)

// Types that a browser would run must be saved, for any letter case, parameters or form
// of the type.
func TestDisposition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, want string }{
		{"image/png", "inline"},
		{"IMAGE/PNG", "inline"},
		{"image/jpeg; q=1", "inline"},
		{"application/pdf", "inline"},
		{"audio/mpeg", "inline"},
		{"video/mp4", "inline"},
		{"text/plain", "inline"},
		{"text/plain; charset=utf-8", "inline"},

		{"image/svg+xml", "attachment"},
		{"Image/SVG+XML", "attachment"},
		{"image/svg+xml; charset=utf-8", "attachment"},
		{"image/x+xml", "attachment"}, // any XML may contain XHTML
		{"text/html", "attachment"},
		{"text/html; a=image/png", "attachment"},
		{"application/xhtml+xml", "attachment"},
		{"text/xml", "attachment"},
		{"text/javascript", "attachment"},
		{"text/csv", "attachment"},
		{"application/octet-stream", "attachment"},
		{"application/pdf+xml", "attachment"},
		{"multipart/x-mixed-replace; boundary=a", "attachment"},
		{"image", "attachment"},
		{"image/png, text/html", "attachment"},
		{"image/png\r\nX: y", "attachment"},
		{"", "attachment"},
	} {
		got, _, _ := strings.Cut(storage.Disposition(c.contentType, "a"), ";")
		if got != c.want {
			t.Errorf("disposition of %q\n got %s\nwant %s", c.contentType, got, c.want)
		}
	}
}

func TestDispositionName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{"knots.png", `inline; filename="knots.png"; filename*=UTF-8''knots.png`},
		{`a"b\c%41.png`, `inline; filename="a_b_c_41.png"; filename*=UTF-8''a%22b%5Cc%2541.png`},
		{"Übung 1.png", `inline; filename="_bung 1.png"; filename*=UTF-8''%C3%9Cbung%201.png`},
		{"a';b.png", `inline; filename="a';b.png"; filename*=UTF-8''a%27%3Bb.png`},
	} {
		got := storage.Disposition("image/png", c.name)
		if got != c.want {
			t.Errorf("name %q\n got %s\nwant %s", c.name, got, c.want)
		}
		// A reader of the header gets the name back.
		_, parameters, err := mime.ParseMediaType(got)
		if err != nil || parameters["filename"] != c.name {
			t.Errorf("read back %s: %q, %v; want %q", got, parameters["filename"], err, c.name)
		}
	}
}
