package auth

import (
	"testing"
	"time"
)

// TestChallengeEnds checks when a challenge ends, and whose it is.
func TestChallengeEnds(t *testing.T) {
	t.Parallel()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPasskeys(AccountOptions{BaseURL: "https://api.example.com", SigningKey: key, Passkeys: PasskeyOptions{RPID: "example.com", Origins: []string{"https://example.com"}}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var got Answered
	challenge := p.challenge("ada", now).String()
	if _, err := p.session(challenge, "ada", &got); err != nil || !got.Ends.Equal(now.Add(5*time.Minute)) || len(got.Hash) != 32 {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, other := range []string{"", "bo", "ada1"} {
		if _, err := p.session(challenge, other, &got); err == nil {
			t.Errorf("it is good for %q", other)
		}
	}
	if p.challenge("ada", now).String() == challenge {
		t.Error("the next one is the same")
	}
}
