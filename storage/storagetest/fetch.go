package storagetest

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Fetch returns the contents behind a download URL, which may be a data URL.
func Fetch(t testing.TB, url string) []byte {
	t.Helper()
	if _, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(url, "data:") {
		contents, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatalf("read a data URL: %v", err)
		}
		return contents
	}
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	contents, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET: status %d, %v: %.300s", response.StatusCode, err, contents)
	}
	return contents
}
