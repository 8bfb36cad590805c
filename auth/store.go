package auth

import (
	"context"
	"time"
)

// Store keeps the data that the grants need between requests. All its times are of its
// own clock. Secrets reach it as hashes only. Its errors are failures of the store; its
// refusals are in its results.
//
// A wait of 0 lets the client go on. With any other wait the client has failed too often,
// and the other results mean nothing.
type Store interface {
	FactorStore

	// Fail counts a failed try: of a password, or, without an account, of a credential
	// that is counted separately. With a wait it did not count, and the client must not
	// learn the result of the try.
	Fail(ctx context.Context, attempt Attempt) (wait time.Duration, err error)

	// Password counts a try, and returns the identity that signs in with an e-mail
	// address, which is the account of the attempt.
	Password(ctx context.Context, attempt Attempt) (wait time.Duration, known Known, err error)

	// AcceptPassword begins a family for an identity whose password matched a hash, or raises the one
	// that session names. It replaces the hash unless the new one is empty, clears the failures of this
	// account at this address, and remembers the address. It refuses if the identity is gone or has
	// another hash by now, or if the session has ended. If the identity has second factors, it returns their kinds,
	// and keeps pendingHash, that of a token for showing one, instead of beginning or raising anything.
	AcceptPassword(ctx context.Context, attempt Attempt, identityID, hash, newHash string, family Family, session string, pendingHash []byte) (wait time.Duration, isAccepted bool, factors []string, err error)

	// CreatePassword creates an identity that signs in with the e-mail address of the
	// attempt, and begins its family, unless that has no token. It keeps a token that
	// proves the address, and the mail with it, if there are any. The id is empty if the
	// address is taken.
	CreatePassword(ctx context.Context, attempt Attempt, hash string, family Family, m Mailed) (wait time.Duration, identityID string, err error)

	// Start begins a family for an identity whose credential has been checked. It does
	// nothing if the identity is gone.
	Start(ctx context.Context, identityID string, family Family) (isStarted bool, err error)

	// FamilyKey returns the key of the family of a refresh token, nil if it is unknown.
	// mark is the hash of the prefix that its family shares.
	FamilyKey(ctx context.Context, tokenHash, mark []byte) ([]byte, error)

	// Refresh judges a refresh token. A successor replaces it if it is the newest of its
	// family, unless too many were replaced within the grace; nil means that tokens are
	// not rotated.
	Refresh(ctx context.Context, tokenHash, successorHash, mark []byte, grace time.Duration, client Client) (Refreshed, error)

	// Revoke revokes the family of a refresh token, if it has one.
	Revoke(ctx context.Context, tokenHash, mark []byte) error
}

// Attempt is the account and the client of an attempt to sign in.
type Attempt struct {
	Account string // an e-mail address; empty if the credential names none
	Address string // of the client
}

// Known is the identity that signs in with an e-mail address and a password. It is empty for an unknown address.
type Known struct {
	IdentityID string
	Hash       string // the password must match it
	IsVerified bool   // the address is proven
}

// Refreshed is the result for a refresh token.
type Refreshed struct {
	Outcome    RefreshOutcome
	IdentityID string
	Steps      int // from the token to the newest one of its family
}

// RefreshOutcome is the verdict on a refresh token.
type RefreshOutcome string

// The outcomes.
const (
	RefreshOK      RefreshOutcome = "ok"
	RefreshRefused RefreshOutcome = "refused"
	RefreshReused  RefreshOutcome = "reused" // replaced long ago; the family is revoked
)
