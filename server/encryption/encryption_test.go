package encryption

import (
	"errors"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	keys := mustNew(t, GenerateKey())
	for _, text := range []string{"", "a", "naïve ☃", strings.Repeat("long ", 10000)} {
		stored := keys.Encrypt(text)
		if len(text) > 3 && strings.Contains(stored, text) {
			t.Errorf("%.20q is stored as it is: %.40q", text, stored)
		}
		if again := keys.Encrypt(text); again == stored {
			t.Errorf("%.20q is stored twice as %.40q", text, stored)
		}
		if got, err := keys.Decrypt(stored); err != nil || got != text {
			t.Errorf("of %.20q got %.20q, %v", text, got, err)
		}
	}
}

// TestChangeOfKey: the newest key encrypts, the previous ones still decrypt.
func TestChangeOfKey(t *testing.T) {
	t.Parallel()
	first, second := GenerateKey(), GenerateKey()
	old := mustNew(t, first)
	stored := old.Encrypt("kept")
	both := mustNew(t, second, first)
	if got, err := both.Decrypt(stored); err != nil || got != "kept" {
		t.Errorf("with the previous key got %q, %v", got, err)
	}
	fresh := both.Encrypt("new")
	if _, err := old.Decrypt(fresh); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the previous key encrypted: got %v, want %v", err, ErrUnknownKey)
	}
	if got, err := mustNew(t, second).Decrypt(fresh); err != nil || got != "new" {
		t.Errorf("with the new key alone got %q, %v", got, err)
	}
	if _, err := mustNew(t, second).Decrypt(stored); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("without the previous key got %v, want %v", err, ErrUnknownKey)
	}
}

// TestDamaged changes every character of a stored value: each change is noticed.
func TestDamaged(t *testing.T) {
	t.Parallel()
	keys := mustNew(t, GenerateKey())
	stored := keys.Encrypt("what is kept")
	for i := range stored {
		other := byte('A')
		if stored[i] == other {
			other = 'B'
		}
		if got, err := keys.Decrypt(stored[:i] + string(other) + stored[i+1:]); err == nil {
			t.Errorf("with another character at %d got %q", i, got)
		}
		if got, err := keys.Decrypt(stored[:i]); err == nil {
			t.Errorf("of the first %d characters got %q", i, got)
		}
	}
	for _, text := range []string{"", "what is kept", "x1:", "x1::", stored + "A", stored + "=", "x2" + stored[2:]} {
		if got, err := keys.Decrypt(text); err == nil {
			t.Errorf("of %q got %q", text, got)
		}
	}
}

func TestBadKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "short", "AAAA", GenerateKey() + "A", "not base64!"} {
		if _, err := New(key, nil); err == nil {
			t.Errorf("%q is taken for a key", key)
		}
		if _, err := New(GenerateKey(), []string{key}); err == nil {
			t.Errorf("%q is taken for a previous key", key)
		}
	}
}

func mustNew(t *testing.T, key string, previous ...string) *Keys {
	t.Helper()
	keys, err := New(key, previous)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
