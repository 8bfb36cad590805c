package auth

import (
	"context"
	"time"
)

// Store keeps what the grants need from one request to the next. Every moment it
// speaks of is that of its own clock. Secrets reach it as hashes only. Its errors are
// failures of the store; what it refuses is in its results.
//
// Where a result is a wait, it is 0, or the client has failed too often and everything
// else in the result means nothing.
type Store interface {
	// Fail counts a try that failed: of a password, or without an account of what is
	// counted apart from those. With a wait it did not count, and the client must not
	// learn how the try went.
	Fail(ctx context.Context, attempt Attempt) (wait time.Duration, err error)

	// Password counts a try, and returns who signs in with an e-mail address, which is
	// the account of the attempt.
	Password(ctx context.Context, attempt Attempt) (wait time.Duration, known Known, err error)

	// AcceptPassword begins a family for an identity whose password matched a hash,
	// replaces the hash unless the new one is empty, clears the failures of this
	// account at this address, and remembers the address. It is not accepted if the identity has gone or
	// has another hash by now.
	AcceptPassword(ctx context.Context, attempt Attempt, identityID, hash, newHash string, family Family) (wait time.Duration, isAccepted bool, err error)

	// CreatePassword creates an identity that signs in with the e-mail address of
	// the attempt, and begins its family, unless that has no token. It keeps a token that
	// proves the address, and the mail that brings it, unless there is none. The id is
	// empty if the address is taken.
	CreatePassword(ctx context.Context, attempt Attempt, hash string, family Family, m Mailed) (wait time.Duration, identityID string, err error)

	// Start begins a family for an identity whose credential has been checked. It is
	// not started if the identity is gone.
	Start(ctx context.Context, identityID string, family Family) (isStarted bool, err error)

	// FamilyKey returns the key of the family of a refresh token, nil if it is
	// unknown. mark is what is kept of the beginning that its family has in common.
	FamilyKey(ctx context.Context, tokenHash, mark []byte) ([]byte, error)

	// Refresh judges a refresh token that is presented. A successor supersedes it if
	// it is the newest of its family, unless too many were superseded within the grace;
	// nil means that tokens are not rotated.
	Refresh(ctx context.Context, tokenHash, successorHash, mark []byte, grace time.Duration) (Refreshed, error)

	// Revoke revokes the family of a refresh token, if it has one.
	Revoke(ctx context.Context, tokenHash, mark []byte) error
}

// Attempt is who tries to sign in, from where.
type Attempt struct {
	Account string // an e-mail address; empty if the credential names none
	Address string // of the client
}

// Known is who signs in with an e-mail address and a password. It is empty for nobody.
type Known struct {
	IdentityID string
	Hash       string // that the password has to match
	IsVerified bool   // the address is proven
}

// Refreshed is what became of a refresh token that was presented.
type Refreshed struct {
	Outcome    RefreshOutcome
	IdentityID string
	Steps      int // from the token to the newest one of its family
}

// RefreshOutcome tells how a refresh token was judged.
type RefreshOutcome string

// The outcomes.
const (
	RefreshOK      RefreshOutcome = "ok"
	RefreshRefused RefreshOutcome = "refused"
	RefreshReused  RefreshOutcome = "reused" // superseded long ago; the family is revoked
)
