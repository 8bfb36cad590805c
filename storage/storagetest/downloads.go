package storagetest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/storage"
)

// get sends a GET with an additional header, unless name is empty.
func get(t *testing.T, url, name, value string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// downloadURL signs a download. It skips the test if the address contains the contents
// instead of leading to them.
func downloadURL(t *testing.T, s storage.Store, key string, d storage.Download) string {
	t.Helper()
	url, err := s.DownloadURL(t.Context(), key, d)
	if err != nil {
		t.Fatalf("sign a download of %s: %v", key, err)
	}
	if strings.HasPrefix(url, "data:") {
		t.Skip("needs a store whose download URLs are requests")
	}
	return url
}

const alphabet = "abcdefghijklmnopqrstuvwxyz"

func downloads(t *testing.T, s storage.Store) {
	put(t, s, "files/handed-out", "text/html", alphabet)
	url := downloadURL(t, s, "files/handed-out", storage.Download{Filename: "a\"b\r\nX-Evil: 1;ü.png", ContentType: "image/png"})

	response, body := get(t, url, "", "")
	if response.StatusCode != http.StatusOK || body != alphabet {
		t.Fatalf("got %d %q", response.StatusCode, body)
	}
	etag := response.Header.Get("ETag")
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Length": "26", "Cache-Control": "private", "Accept-Ranges": "bytes", "X-Evil": "",
		"Content-Disposition": `inline; filename="a_b__X-Evil: 1;_.png"; filename*=UTF-8''a%22b%0D%0AX-Evil%3A%201%3B%C3%BC.png`,
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
	const longAgo, farAhead = "Thu, 01 Jan 1970 00:00:01 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
	for _, c := range []struct {
		name, value  string
		status       int
		body, ranges string
	}{
		{"Range", "bytes=0-3", 206, "abcd", "bytes 0-3/26"},
		{"Range", "bytes=23-", 206, "xyz", "bytes 23-25/26"},
		{"Range", "bytes=-2", 206, "yz", "bytes 24-25/26"},
		{"Range", "bytes=20-99", 206, "uvwxyz", "bytes 20-25/26"},
		{"Range", "bytes=26-30", 416, "", ""},
		{"If-None-Match", etag, 304, "", ""},
		{"If-None-Match", `"other"`, 200, alphabet, ""},
		{"If-Match", etag, 200, alphabet, ""},
		{"If-Match", `"other"`, 412, "", ""},
		{"If-Modified-Since", longAgo, 200, alphabet, ""},
		{"If-Unmodified-Since", longAgo, 412, "", ""},
		{"If-Unmodified-Since", farAhead, 200, alphabet, ""},
	} {
		response, body := get(t, url, c.name, c.value)
		if response.StatusCode != c.status || c.body != "" && body != c.body || c.ranges != "" && response.Header.Get("Content-Range") != c.ranges {
			t.Errorf("%s: %s\n got %d %q %q\nwant %d %q %q", c.name, c.value, response.StatusCode, body, response.Header.Get("Content-Range"), c.status, c.body, c.ranges)
		}
	}

	if err := s.Delete(t.Context(), "files/handed-out"); err != nil {
		t.Fatal(err)
	}
	if response, body := get(t, url, "", ""); response.StatusCode != http.StatusNotFound || strings.Contains(body, alphabet) {
		t.Errorf("what was deleted: got %d %q", response.StatusCode, body)
	}
}

func refusedDownloads(t *testing.T, s storage.Store) {
	put(t, s, "files/mine", "text/html", "mine")
	put(t, s, "files/theirs", "text/html", "theirs")
	put(t, s, "uploads/mine", "text/html", "mine")
	url := downloadURL(t, s, "files/mine", storage.Download{Filename: "a.png", ContentType: "image/png"})
	path, query, _ := strings.Cut(url, "?")
	for name, changed := range map[string]string{
		"another key":           strings.Replace(url, "files/mine", "files/theirs", 1),
		"an upload":             strings.Replace(url, "files/mine", "uploads/mine", 1),
		"a key above":           strings.Replace(url, "files/mine", "files/../files/theirs", 1),
		"a key above, in codes": strings.Replace(url, "files/mine", "files/%2e%2e%2ffiles%2ftheirs", 1),
		"another type":          strings.Replace(url, "image%2Fpng", "text%2Fhtml", 1),
		"another name":          strings.Replace(url, "a.png", "a.html", 1),
		"another signature":     changeSignature(url),
		"no signature":          path,
		"a longer life":         extendLife(url),
		"a second type":         path + "?" + query + "&type=text%2Fhtml&response-content-type=text%2Fhtml",
	} {
		if changed == url {
			t.Fatalf("%s: the address has nothing to be changed: %s", name, url)
		}
		response, body := get(t, changed, "", "")
		if response.StatusCode < 400 || response.StatusCode >= 500 || strings.Contains(body, "mine") && !strings.Contains(body, "<") {
			t.Errorf("%s: got %d %q, want a refusal", name, response.StatusCode, body)
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost} {
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("other"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s: got %d, want a refusal", method, response.StatusCode)
		}
	}
	if _, body := get(t, url, "", ""); body != "mine" {
		t.Errorf("after all that: got %q, want mine", body)
	}
}
