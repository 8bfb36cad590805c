package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// The cost of a new hash, as OWASP recommends it for argon2id.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	saltLength   = 16
	hashLength   = 32
)

// Limits for the cost of a hash that came from elsewhere.
const (
	maxArgonMemory = 1 << 20 // KiB
	maxArgonTime   = 64
)

// dummyHash costs as much as any other to verify. Its salt and hash are all zeros: nobody
// will find a password that matches it.
var dummyHash = encodeArgon(make([]byte, saltLength), make([]byte, hashLength))

// gateWait limits how long a password waits for its turn, and then for a processor. Users
// have given up by then.
const gateWait = 10 * time.Second

// Passwords hashes and verifies passwords. At most one hash per processor is computed at
// a time, so that sign-ins cannot starve other requests of processor or memory.
type Passwords struct {
	lines    lines
	gate     chan struct{} // in order of arrival
	computed atomic.Uint64
}

// NewPasswords makes a hasher. A process needs one.
func NewPasswords() *Passwords {
	return &Passwords{gate: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Computed returns the number of hashes computed, for hashing and for verifying.
func (p *Passwords) Computed() uint64 {
	return p.computed.Load()
}

// Hash returns the argon2id hash of a password under a new salt, in PHC form. It fails
// with an *Error if too many others wait.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if err := p.enter(ctx); err != nil {
		return "", err
	}
	defer p.leave()
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	p.computed.Add(1)
	return encodeArgon(salt, argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, hashLength)), nil
}

// Verify tells whether a password matches a hash of argon2id or bcrypt. An empty or
// unreadable hash matches nothing, at the same cost. It fails with an *Error if too many
// others wait.
func (p *Passwords) Verify(ctx context.Context, hash, password string) (bool, error) {
	if err := p.enter(ctx); err != nil {
		return false, err
	}
	defer p.leave()
	matches, err := p.compare(hash, password)
	if err != nil {
		_, _ = p.compare(dummyHash, password)
		return false, nil
	}
	return matches, nil
}

// compare tells whether a password matches a hash. It fails, without any computation, if
// the hash cannot be read.
func (p *Passwords) compare(hash, password string) (bool, error) {
	if !isBcrypt(hash) {
		return p.compareArgon(hash, password)
	}
	err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password))
	if err != nil && !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, err
	}
	p.computed.Add(1)
	return err == nil, nil
}

// IsOutdated tells whether a hash should be replaced once its password is known.
func (p *Passwords) IsOutdated(hash string) bool {
	return isBcrypt(hash)
}

// Enter waits for the turn of a client address. Each address has one place: a caller
// takes it before working on a password from there, and leaves it afterwards. It fails
// with an *Error if too many others wait, or with the cause of the context as its cause
// if the context ends first.
func (p *Passwords) Enter(ctx context.Context, address string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, gateWait)
	defer cancel()
	if leave, err = p.lines.enter(ctx, address); err != nil {
		return nil, unavailable("too many sign-ins are being checked").because(err)
	}
	return leave, nil
}

var errTooManyWait = errors.New("too many wait already")

// enter waits for a free processor for this password.
func (p *Passwords) enter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gateWait)
	defer cancel()
	if ctx.Err() == nil {
		select {
		case p.gate <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	return unavailable("too many sign-ins are being checked").because(context.Cause(ctx))
}

func (p *Passwords) leave() {
	<-p.gate
}

// isBcrypt tells whether a hash is of bcrypt. This package verifies such hashes and never
// makes them.
func isBcrypt(hash string) bool {
	return strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$")
}

// encodeArgon writes a hash of the current cost in PHC form.
func encodeArgon(salt, hash []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(hash))
}

// compareArgon compares a password with a hash of argon2id, of any cost.
func (p *Passwords) compareArgon(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false, errors.New("it is not of argon2id")
	}
	var version, memory, passes, threads uint32
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false, errors.New("it is of another version")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil ||
		memory < 8 || memory > maxArgonMemory || passes < 1 || passes > maxArgonTime || threads < 1 || threads > 255 {
		return false, errors.New("its cost could not be read")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("read the salt: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(want) < 16 || len(want) > 128 {
		return false, errors.New("the hash itself could not be read")
	}
	p.computed.Add(1)
	got := argon2.IDKey([]byte(password), salt, passes, memory, uint8(threads), uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
