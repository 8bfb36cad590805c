package signin

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

// TestReadme reads the settings on the page about logging in: a sign-in may end where its
// examples do.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../guide/how-to/sign-in.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(auth:\n.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the page shows no settings of providers")
	}
	file := filepath.Join(t.TempDir(), "sternpost.yaml")
	ios := regexp.MustCompile("(?s)```yaml\n(    - {type: .*?)```").FindSubmatch(readme)
	if ios == nil {
		t.Fatal("the page shows no provider of an app's own")
	}
	if err := os.WriteFile(file, append(block[1], ios[1]...), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(config.Source{File: file, Env: []string{
		"STERNPOST_MODE=development", "AUTH_PROVIDER_SECRET_GOOGLE=a", "AUTH_PROVIDER_SECRET_COMPANY=b",
	}})
	if err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for _, p := range settings.Providers {
		secrets = append(secrets, p.ClientSecret)
	}
	if want := []string{"a", "b", ""}; !slices.Equal(secrets, want) {
		t.Errorf("secrets of the providers: got %q, want %q", secrets, want)
	}
	if len(settings.RedirectURIs) != 3 {
		t.Errorf("redirectUris: got %q, want three", settings.RedirectURIs)
	}
	for _, uri := range settings.RedirectURIs {
		if n := bytes.Count(readme, []byte(uri)) + bytes.Count(readme, []byte(url.QueryEscape(uri))); n < 2 && !strings.HasPrefix(uri, "http://localhost") {
			t.Errorf("no example ends at %s", uri)
		}
	}
}
