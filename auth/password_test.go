package auth

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func TestHashAndVerify(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	for _, password := range []string{"correct-horse", "x", "pässwörd 🐎", strings.Repeat("x", 1024)} {
		hash, err := p.Hash(t.Context(), password)
		if err != nil {
			t.Fatal(err)
		}
		other, err := p.Hash(t.Context(), password)
		if err != nil || other == hash {
			t.Errorf("%q: a second hash is the same, or failed: %v", password, err)
		}
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || p.IsOutdated(hash) {
			t.Errorf("%q: got the hash %s", password, hash)
		}
		for _, test := range []struct {
			password string
			want     bool
		}{{password, true}, {password + "x", false}, {strings.ToUpper(password) + " ", false}, {"", false}} {
			if got, err := p.Verify(t.Context(), hash, test.password); err != nil || got != test.want {
				t.Errorf("%q against the hash of %q: got %t, %v, want %t", test.password, password, got, err, test.want)
			}
		}
	}
}

// These hashes come from other programs.
func TestVerifyHashesFromElsewhere(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	made, err := bcrypt.GenerateFromPassword([]byte("password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	// The argon2 reference implementation made it: its command with -id -t 2 -m 16 -p 1 and
	// the salt "somesalt".
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, test := range []struct {
		name, hash string
		want       bool
		outdated   bool
	}{
		{"argon2id of another cost", reference, true, false},
		{"bcrypt 2a", string(made), true, true},
		{"bcrypt 2b", "$2b$" + string(made[4:]), true, true},
		{"bcrypt 2y", "$2y$" + string(made[4:]), false, false},
		{"bcrypt, cut", string(made[:40]), false, true},
		{"nobody", "", false, false},
		{"the dummy", dummyHash, false, false},
		{"plain text", "password", false, false},
		{"argon2i", strings.Replace(reference, "argon2id", "argon2i", 1), false, false},
		{"another version", strings.Replace(reference, "v=19", "v=16", 1), false, false},
		{"too much memory", strings.Replace(reference, "m=65536", "m=4294967295", 1), false, false},
		{"no passes", strings.Replace(reference, "t=2", "t=0", 1), false, false},
		{"no threads", strings.Replace(reference, "p=1", "p=0", 1), false, false},
		{"256 threads", strings.Replace(reference, "p=1", "p=257", 1), false, false},
		{"an empty hash", reference[:strings.LastIndex(reference, "$")+1], false, false},
		{"more parts", reference + "$", false, false},
	} {
		before := p.Computed()
		if got, err := p.Verify(t.Context(), test.hash, "password"); err != nil || got != test.want {
			t.Errorf("%s: got %t, %v, want %t", test.name, got, err, test.want)
		}
		if got := p.Computed() - before; got != 1 {
			t.Errorf("%s: got %d computations, want 1", test.name, got)
		}
		if got := p.IsOutdated(test.hash); got != test.outdated {
			t.Errorf("%s: outdated: got %t, want %t", test.name, got, test.outdated)
		}
	}
}

// At most one hash per processor is computed at a time, and a caller that waits too long
// gets an error.
func TestPasswordGate(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	if got, want := cap(p.gate), runtime.GOMAXPROCS(0); got != want {
		t.Errorf("places: got %d, want %d", got, want)
	}
	for range cap(p.gate) {
		p.gate <- struct{}{} // another hash is being computed
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := p.Verify(gone, dummyHash, "x")
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("while all are taken: got %v, want an *Error of status 503", err)
	}
	if p.Computed() != 0 {
		t.Error("a hash was computed without a place")
	}

	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() {
			if _, err := p.Hash(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	for range cap(p.gate) {
		p.leave()
	}
	waiting.Wait()
	if got := p.Computed(); got != 5 || len(p.gate) != 0 {
		t.Errorf("afterwards: got %d computed and %d places taken, want 5 and none", got, len(p.gate))
	}
}

// A client address has one place. Callers that wait for it get it in turn, unless they
// leave or are too many.
func TestPasswordLines(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	ctx := t.Context()
	hold, err := p.Enter(ctx, "10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	join := func(ctx context.Context, into chan<- int, i int) {
		go func() {
			leave, err := p.Enter(ctx, "10.0.0.1")
			if err != nil {
				into <- -1
				return
			}
			into <- i
			leave()
		}()
	}
	await := func(members int) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			p.lines.mutex.Lock()
			got := p.lines.members
			p.lines.mutex.Unlock()
			if got == members {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %d members, want %d", got, members)
			}
		}
	}
	served := make(chan int, maxLine+1)
	leaving, cancel := context.WithCancelCause(ctx)
	left := errors.New("it has left")
	for i := range maxLine {
		c := ctx
		if i%2 == 1 {
			c = leaving
		}
		join(c, served, i)
		await(i + 2)
	}
	var refused *Error
	if _, err := p.Enter(ctx, "10.0.0.1"); !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		t.Errorf("one more than may wait: got %v, want an *Error of status 503", err)
	}

	// Another address has its place at once.
	leave, err := p.Enter(ctx, "10.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	leave()

	cancel(left)
	await(maxLine/2 + 1)
	if _, err := p.Enter(leaving, "10.0.0.1"); !errors.Is(err, left) {
		t.Errorf("after it has left: got %v", err)
	}
	hold()
	var order []int
	for range maxLine {
		if i := <-served; i >= 0 {
			order = append(order, i)
		}
	}
	if !slices.IsSorted(order) || len(order) != maxLine/2 {
		t.Errorf("got their turns: %v, want all that stayed, in order", order)
	}
	await(0)
	if len(p.lines.byAddress) != 0 {
		t.Errorf("lines that are left: %v", p.lines.byAddress)
	}
}

func TestParseEmail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, want string // want is empty for a refusal
	}{
		{"ada@example.com", "ada@example.com"},
		{"Ada.Quist+shop@EXAMPLE.co.uk", "ada.quist+shop@example.co.uk"},
		{"!#$%&'*+-/=?^_`{|}~@x", "!#$%&'*+-/=?^_`{|}~@x"},
		{"a@localhost", "a@localhost"},
		{"a@x-y.example", "a@x-y.example"},
		{"a@192.0.2.1", "a@192.0.2.1"},
		{strings.Repeat("a", 64) + "@example.com", strings.Repeat("a", 64) + "@example.com"},
		{"a@" + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 63) + "." + strings.Repeat("e", 60),
			"a@" + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 63) + "." + strings.Repeat("e", 60)},
		{"a@" + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 63) + "." + strings.Repeat("e", 61), ""},
		{strings.Repeat("a", 65) + "@example.com", ""},
		{"a@" + strings.Repeat("b", 64), ""},
		{"", ""}, {"@", ""}, {"ada", ""}, {"ada@", ""}, {"@example.com", ""},
		{"ada@@example.com", ""}, {"ada@b@example.com", ""},
		{".ada@example.com", ""}, {"ada.@example.com", ""}, {"a..b@example.com", ""},
		{"ada@.com", ""}, {"ada@example.", ""}, {"ada@exa..mple", ""},
		{"ada@-x.com", ""}, {"ada@x-.com", ""}, {"ada@x_y.com", ""},
		{" ada@example.com", ""}, {"ada@example.com ", ""}, {"a da@example.com", ""}, {"ada@example.com\n", ""},
		{`"ada"@example.com`, ""}, {"Ada <ada@example.com>", ""}, {"ada@[192.0.2.1]", ""}, {"ada(x)@example.com", ""},
		{"ädа@example.com", ""}, {"ada@exämple.com", ""}, {"ada@example.com\x00", ""},
		{"\u212a@example.com", ""}, // the Kelvin sign, which is k in lower case
	} {
		got, ok := ParseEmail(test.text)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%q: got %q, %t, want %q", test.text, got, ok, test.want)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		s := NewSecret()
		if len(s) != 43 || !isSecret(s) || seen[s] {
			t.Fatalf("got %q", s)
		}
		seen[s] = true
	}
	for _, s := range []string{"", "x", NewSecret() + "A", NewSecret()[:42], NewSecret()[:42] + "=", strings.Repeat("+", 43), strings.Repeat("A", 42) + "B"} {
		if isSecret(s) {
			t.Errorf("%q is taken for a secret", s)
		}
	}
	f, other := newFamily(1, Client{}), newFamily(1, Client{})
	if f.Token == other.Token || string(f.Key) == string(other.Key) || len(f.Key) != 32 || len(f.TokenHash) != 32 {
		t.Errorf("got families %v and %v", f, other)
	}
	next := successor(f.Key, f.Token)
	if !isSecret(next) || next != successor(f.Key, f.Token) {
		t.Errorf("successor: got %q, want the same secret each time", next)
	}
	if next == successor(other.Key, f.Token) || next == successor(f.Key, other.Token) || next == successor(f.Key, next) {
		t.Error("the successor does not depend on the key and the token")
	}
}
