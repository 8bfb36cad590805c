package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptKeys makes the keys of development and finds them again. It refuses a file without a key,
// and names the file.
func TestKeptKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		key  func(home string) (string, error)
	}{
		{"signing-key.pem", signingKey},
		{"encryption-key", encryptionKey},
	} {
		home := t.TempDir()
		made, err := c.key(home)
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		if again, err := c.key(home); err != nil || again != made {
			t.Errorf("%s: read again: got %q, %v, want %q", c.file, again, err, made)
		}
		name := filepath.Join(home, c.file)
		if err := os.WriteFile(name, []byte("no key"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.key(home); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s without a key: got %v, want an error that names %s", c.file, err, name)
		}
	}
}
