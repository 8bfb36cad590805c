package auth

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"reflect"
	"testing"
	"time"
)

// TestDepartures opens departures sealed by servers with the same or other keys and
// addresses.
func TestDepartures(t *testing.T) {
	t.Parallel()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := parseSigningKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(signer.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	sameKey := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	otherKey, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := newDepartures(key, "https://api")
	if err != nil {
		t.Fatal(err)
	}
	transaction := &Transaction{
		Hash: HashSecret("s"), Provider: "p", Target: "https://app/?a=b", IsDynamic: true, State: "\x01 é", Challenge: "c",
		ChallengeMethod: "plain", Nonce: "n", Verifier: "v", Ends: time.UnixMicro(1_700_000_000_000_001),
	}
	cookies, err := sealer.seal(transaction)
	if err != nil || len(cookies) != 1 {
		t.Fatalf("got %v, %v", cookies, err)
	}
	for _, test := range []struct {
		name   string
		key    []byte
		url    string
		opens  bool
		change func(*Cookie)
	}{
		{"itself", key, "https://api", true, nil},
		{"the key in another form", sameKey, "https://api", true, nil},
		{"another key", otherKey, "https://api", false, nil},
		{"another service with the same key", key, "https://api2", false, nil},
		{"a bit is changed", key, "https://api", false, func(c *Cookie) { c.Value = flip(c.Value) }},
		{"the name is another's", key, "https://api", false, func(c *Cookie) { c.Name = cookieName(HashSecret("other"), 1) }},
		{"it is cut", key, "https://api", false, func(c *Cookie) { c.Value = c.Value[:20] }},
	} {
		opener, err := newDepartures(test.key, test.url)
		if err != nil {
			t.Fatal(err)
		}
		brought := cookies[0]
		if test.change != nil {
			test.change(&brought)
		}
		got := opener.find([]Cookie{brought}, transaction.Hash).transaction
		if test.opens && !reflect.DeepEqual(got, transaction) || !test.opens && got != nil {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
}

// TestDepart checks which cookies a browser keeps when it leaves once more.
func TestDepart(t *testing.T) {
	t.Parallel()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDepartures(key, "https://api")
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMicro(1_700_000_000_000_000)
	var brought []Cookie
	for name, left := range map[string]time.Duration{"over": 0, "soon over": time.Second, "long": time.Minute} {
		cookies, err := d.seal(&Transaction{Hash: HashSecret(name), Ends: now.Add(left)})
		if err != nil {
			t.Fatal(err)
		}
		brought = append(brought, cookies...)
	}
	brought = append(brought, Cookie{Name: "0123456789ab", Value: "junk"})
	changes, err := d.depart(&Transaction{Hash: HashSecret("new"), Ends: now.Add(time.Hour)}, brought, now)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, c := range changes {
		got[c.Name] = c.Value != ""
	}
	want := map[string]bool{cookieName(HashSecret("new"), 1): true, cookieName(HashSecret("over"), 1): false, "0123456789ab": false}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// flip returns a text with another first letter.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}
