package signin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/sternpost/sternpost/server"
)

// TestReadme reads the settings that server/README.md shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../server/README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(auth:\n.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("server/README.md shows no settings of providers")
	}
	file := filepath.Join(t.TempDir(), "sternpost.yaml")
	if err := os.WriteFile(file, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := server.LoadConfig(server.Source{File: file, Env: []string{
		"STERNPOST_MODE=development", "AUTH_PROVIDER_SECRET_GOOGLE=a", "AUTH_PROVIDER_SECRET_COMPANY=b",
	}})
	if err != nil {
		t.Fatal(err)
	}
	var secrets []string
	for _, p := range config.Providers {
		secrets = append(secrets, p.ClientSecret)
	}
	if want := []string{"a", "b"}; !slices.Equal(secrets, want) {
		t.Errorf("secrets of the providers: got %q, want %q", secrets, want)
	}
}
