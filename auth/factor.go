package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Second factors: the grant that shows one, and the actions that add and remove them.

// Secrets encrypts what a server must be able to read again, and a reader of the database must not.
type Secrets interface {
	Encrypt(text string) string
	Decrypt(stored string) (string, error)
}

// FactorStore keeps second factors. The rules for a Store apply.
type FactorStore interface {
	// TryFactor counts an attempt to show a second factor, by the hash of a token from the grant
	// password, or without one for the sign-in of a caller. The identity is empty if that is over.
	TryFactor(ctx context.Context, pendingHash []byte, raised Identity, address string) (wait time.Duration, tried Tried, err error)

	// AcceptFactor begins a family, or raises that of a caller, by a code that matched at a step or, if that
	// is 0, by the hash of a recovery code. It refuses what was used before.
	AcceptFactor(ctx context.Context, identityID string, pendingHash []byte, session string, step int64, recovery []byte, family Family) (wait time.Duration, isAccepted bool, err error)

	// ProposeTOTP keeps the encrypted secret of an authenticator until it is confirmed.
	ProposeTOTP(ctx context.Context, caller Identity, secret string) (Changed, error)

	// ProposedTOTP returns that secret, empty if there is none, and the time.
	ProposedTOTP(ctx context.Context, identityID string) (secret string, now time.Time, err error)

	// ConfirmTOTP makes it the authenticator of the caller, whose code of a step was right, with new recovery codes.
	ConfirmTOTP(ctx context.Context, caller Identity, secret string, step int64, recovery [][]byte) (Changed, error)

	// RemoveTOTP removes the authenticator of the caller.
	RemoveTOTP(ctx context.Context, caller Identity) (Changed, error)

	// RenewRecovery replaces the recovery codes of the caller.
	RenewRecovery(ctx context.Context, caller Identity, recovery [][]byte) (Changed, error)

	// Shown tells what was shown in a sign-in.
	Shown(ctx context.Context, identity Identity) (Shown, error)

	// Factors lists the second factors of an identity.
	Factors(ctx context.Context, identityID string) (Factors, error)
}

// Tried is an attempt to show a second factor.
type Tried struct {
	IdentityID string    // empty if the token or the session is over
	Secret     string    // of the authenticator, encrypted; empty if there is none
	At         time.Time // by the store's clock
}

// Factors are the second factors of an identity.
type Factors struct {
	Factors       []Factor `json:"factors"`
	RecoveryCodes int      `json:"recoveryCodes"` // that are left
}

// Factor is one of them.
type Factor struct {
	Kind      string  `json:"kind"`
	CreatedAt string  `json:"createdAt"`
	UsedAt    *string `json:"usedAt"`
}

// Changed is the result of a change for which the caller must have shown a credential lately.
type Changed string

// The results. Any other one is what the caller must show first.
const (
	ChangedOK      Changed = "ok"
	ChangedMissing Changed = "missing" // there is nothing to change
)

// refusal returns the refusal for a result; nil for success.
func (c Changed) refusal(missing error) error {
	switch c {
	case ChangedOK:
		return nil
	case ChangedMissing:
		return missing
	}
	return &StaleError{Needs: string(c)}
}

const refusedFactor = "the second factor is not valid"

// needsFactor answers a right password of an identity that has second factors.
func needsFactor(token string, kinds []string) *Error {
	return &Error{
		Status: http.StatusUnauthorized, Code: "second_factor_required", Description: "a second factor is required",
		FactorToken: token, Factors: kinds,
	}
}

// secondFactor accepts a second factor, after a right password or for a sign-in that goes on.
func (g *Grants) secondFactor(ctx context.Context, parameters map[string]string, client Client) (*TokenResponse, error) {
	token, code, recovery := parameters["factor_token"], parameters["code"], parameters["recovery_code"]
	switch {
	case parameters["credential"] != "":
		return nil, InvalidRequest("credential is not supported")
	case (code == "") == (recovery == ""):
		return nil, InvalidRequest("either code or recovery_code is required")
	case token == "" && parameters["access_token"] == "":
		return nil, InvalidRequest("factor_token is required")
	}
	raised, err := g.raised(ctx, parameters)
	if err != nil {
		return nil, err
	}
	var pendingHash []byte
	if token != "" {
		pendingHash = HashSecret(token)
	}
	wait, tried, err := g.store.TryFactor(ctx, pendingHash, raised, client.Address)
	if err := mustWait(wait, err); err != nil {
		return nil, err
	}
	refused := InvalidGrant(refusedFactor)
	if tried.IdentityID == "" || raised.ID != "" && raised.ID != tried.IdentityID {
		return nil, g.fail(ctx, Attempt{Address: client.Address}, refused)
	}
	attempt := Attempt{Account: "factor " + tried.IdentityID, Address: client.Address}

	var step int64
	var recoveryHash []byte
	if recovery != "" {
		recoveryHash = hashRecoveryCode(recovery)
	} else {
		var isRight bool
		if step, isRight, err = g.accounts.matchTOTP(tried.Secret, code, tried.At); err != nil {
			return nil, err
		}
		if !isRight {
			return nil, g.fail(ctx, attempt, refused)
		}
	}
	family := newFamily(g.options.RefreshTokenExpiry, client)
	wait, isAccepted, err := g.store.AcceptFactor(ctx, tried.IdentityID, pendingHash, raised.Family, step, recoveryHash, family)
	switch {
	case err != nil:
		return nil, err
	case wait > 0:
		return nil, tooMany(wait)
	case !isAccepted:
		return nil, g.fail(ctx, attempt, refused)
	case raised.ID != "":
		return g.respondTo(ctx, raised, "", false)
	}
	return g.respond(ctx, tried.IdentityID, family.Key, family.Token, false)
}

// matchTOTP compares a code with an encrypted secret. Without a secret, nothing matches.
func (a *Accounts) matchTOTP(secret, code string, at time.Time) (step int64, isRight bool, err error) {
	if secret == "" {
		return 0, false, nil
	}
	if a.options.Secrets == nil {
		return 0, false, errors.New("read the secret of an authenticator: encryption.key is not set")
	}
	text, err := a.options.Secrets.Decrypt(secret)
	if err != nil {
		return 0, false, fmt.Errorf("read the secret of an authenticator: %w", err)
	}
	key, err := base32Text.DecodeString(text)
	if err != nil {
		return 0, false, fmt.Errorf("read the secret of an authenticator: %w", err)
	}
	step, isRight = matchTOTP(key, code, at)
	return step, isRight, nil
}

// The refusals.
var (
	ErrNoFactor = &ConflictError{"the identity has no second factor"}
	errCode     = &InputError{Field: "code", Code: "incorrect", Problem: "is not the code"}
)

// StartAuthenticator makes the secret for a new authenticator app, and returns the address that the app takes. It does
// nothing until a code of the app is confirmed.
func (a *Accounts) StartAuthenticator(ctx context.Context, caller Caller) (address string, err error) {
	account, err := a.lookInPerson(ctx, caller)
	if err != nil {
		return "", err
	}
	secret := newTOTPSecret()
	changed, err := a.store.ProposeTOTP(ctx, caller.Identity, a.options.Secrets.Encrypt(secret))
	if err == nil {
		err = changed.refusal(nil)
	}
	if err != nil {
		return "", err
	}
	name := account.Email
	if name == "" {
		name = caller.ID
	}
	return totpURL(a.options.Name, name, secret), nil
}

// ConfirmAuthenticator makes the new authenticator app the one of the caller, who shows a code of it. It returns new
// recovery codes, and raises the caller's sign-in.
func (a *Accounts) ConfirmAuthenticator(ctx context.Context, code string, caller Caller) (recovery []string, err error) {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return nil, err
	}
	secret, now, err := a.store.ProposedTOTP(ctx, caller.ID)
	if err != nil {
		return nil, err
	}
	step, isRight, err := a.matchTOTP(secret, code, now)
	if err != nil {
		return nil, err
	}
	if !isRight {
		return nil, errCode
	}
	codes, hashes := newRecoveryCodes()
	changed, err := a.store.ConfirmTOTP(ctx, caller.Identity, secret, step, hashes)
	if err != nil {
		return nil, err
	}
	return codes, changed.refusal(errCode)
}

// RemoveAuthenticator removes the authenticator app of the caller.
func (a *Accounts) RemoveAuthenticator(ctx context.Context, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	changed, err := a.store.RemoveTOTP(ctx, caller.Identity)
	if err != nil {
		return err
	}
	return changed.refusal(ErrNoFactor)
}

// RenewRecoveryCodes gives the caller new recovery codes; the others are void.
func (a *Accounts) RenewRecoveryCodes(ctx context.Context, caller Caller) (codes []string, err error) {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	changed, err := a.store.RenewRecovery(ctx, caller.Identity, hashes)
	if err != nil {
		return nil, err
	}
	return codes, changed.refusal(ErrNoFactor)
}

// Factors lists the second factors of the caller.
func (a *Accounts) Factors(ctx context.Context, caller Caller) (Factors, error) {
	if _, err := a.look(ctx, caller); err != nil {
		return Factors{}, err
	}
	return a.store.Factors(ctx, caller.ID)
}

// lookInPerson returns the account of a caller who is not a machine.
func (a *Accounts) lookInPerson(ctx context.Context, caller Caller) (Account, error) {
	account, err := a.look(ctx, caller)
	if err == nil && caller.Token == "" {
		return Account{}, ErrMachine
	}
	return account, err
}
