package auth

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"
)

// TestTOTP compares codes with the test vectors of RFC 6238 (appendix B) and RFC 4226 (appendix D).
func TestTOTP(t *testing.T) {
	t.Parallel()
	key := []byte("12345678901234567890")
	for at, want := range map[uint64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		if got := hotp(key, at/totpStep, 8); got != want {
			t.Errorf("at %d: got %s, want %s", at, got, want)
		}
	}
	for counter, want := range strings.Fields("755224 287082 359152 969429 338314 254676 287922 162583 399871 520489") {
		if got := hotp(key, uint64(counter), 6); got != want {
			t.Errorf("counter %d: got %s, want %s", counter, got, want)
		}
	}
}

// TestMatchTOTP accepts the code of a step and of those beside it, and says which step it was.
func TestMatchTOTP(t *testing.T) {
	t.Parallel()
	key := []byte("12345678901234567890")
	now := time.Unix(1111111111, 0)
	step := now.Unix() / totpStep
	for off, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		got, ok := matchTOTP(key, hotp(key, uint64(step+off), 6), now)
		if ok != want || ok && got != step+off {
			t.Errorf("%d steps away: got %d %t", off, got, ok)
		}
	}
	code := hotp(key, uint64(step), 6)
	for _, wrong := range []string{"", code[:5], code + "0", "x" + code[1:], "000000"} {
		if _, ok := matchTOTP(key, wrong, now); ok {
			t.Errorf("%q is taken for a code", wrong)
		}
	}
	if _, ok := matchTOTP(key, code[:3]+" "+code[3:], now); !ok {
		t.Error("a code in two groups is refused")
	}
}

func TestFactorSecrets(t *testing.T) {
	t.Parallel()
	secret := newTOTPSecret()
	if key, err := base32.StdEncoding.DecodeString(secret); err != nil || len(key) != 20 {
		t.Errorf("got the secret %q, %v", secret, err)
	}
	if got, want := totpURL("Our: notes", "ada@example.com", "ABC"), "otpauth://totp/Our%20%20notes:ada@example.com?secret=ABC&issuer=Our%3A%20notes"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	codes, hashes := newRecoveryCodes()
	seen := map[string]bool{}
	for i, code := range codes {
		if seen[code] || len(code) != 19 || string(hashRecoveryCode(strings.ToUpper(strings.ReplaceAll(code, "-", " ")))) != string(hashes[i]) {
			t.Errorf("got the code %q", code)
		}
		seen[code] = true
	}
	if len(codes) != 10 {
		t.Errorf("got %d codes", len(codes))
	}
}
