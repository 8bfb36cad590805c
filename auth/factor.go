package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Second factors: the grant that shows one, and the actions that add and remove them.

// Secrets encrypts what a server must be able to read again, and a reader of the database must not.
type Secrets interface {
	Encrypt(text string) string
	Decrypt(stored string) (string, error)
}

// FactorStore keeps second factors. The rules for a Store apply, but a change by a caller who has not shown a credential
// lately fails. isDone is false if there is nothing to change.
type FactorStore interface {
	// TryFactor counts an attempt to show a second factor, by the hash of a token from the grant
	// password, or without one for the sign-in of a caller. The identity is empty if that is over.
	TryFactor(ctx context.Context, pendingHash []byte, raised Identity, address string) (wait time.Duration, tried Tried, err error)

	// AcceptFactor begins a family, or raises that of a caller, by a second factor that was right. It refuses what was
	// used before.
	AcceptFactor(ctx context.Context, identityID string, pendingHash []byte, session string, by Factored, family Family) (wait time.Duration, isAccepted bool, err error)

	// Now returns the time of its clock.
	Now(ctx context.Context) (time.Time, error)

	// MayChange fails for a caller who may not change factors, and returns the time.
	MayChange(ctx context.Context, caller Identity) (time.Time, error)

	// Passkey returns the passkey of that id.
	Passkey(ctx context.Context, id string) (Passkey, error)

	// ConfirmPasskey gives the caller a passkey, unless its challenge was answered before.
	ConfirmPasskey(ctx context.Context, caller Identity, a Answered) (isDone bool, err error)

	// ProposeTOTP keeps the encrypted secret of an authenticator until it is confirmed.
	ProposeTOTP(ctx context.Context, caller Identity, secret string) error

	// ProposedTOTP returns that secret, empty if there is none, and the time.
	ProposedTOTP(ctx context.Context, identityID string) (secret string, now time.Time, err error)

	// ConfirmTOTP makes it the authenticator of the caller, whose code of a step was right, with new recovery codes.
	ConfirmTOTP(ctx context.Context, caller Identity, secret string, step int64, recovery [][]byte) (isDone bool, err error)

	// RemoveFactor removes a passkey of the caller or, for nil, the authenticator.
	RemoveFactor(ctx context.Context, caller Identity, passkey *string) (isDone bool, err error)

	// RenewRecovery replaces the recovery codes of the caller.
	RenewRecovery(ctx context.Context, caller Identity, recovery [][]byte) (isDone bool, err error)

	// Shown tells what was shown in a sign-in.
	Shown(ctx context.Context, identity Identity) (Shown, error)

	// Factors lists the second factors of an identity, as JSON.
	Factors(ctx context.Context, identityID string) (json.RawMessage, error)
}

// Tried is an attempt to show a second factor.
type Tried struct {
	IdentityID string    // empty if the token or the session is over
	Secret     string    // of the authenticator, encrypted; empty if there is none
	At         time.Time // by the store's clock
}

// Factored is a second factor that was right: one of these.
type Factored struct {
	Step     int64  // at which the code of an authenticator app matched
	Recovery []byte // the hash of a recovery code, which the store compares
	Passkey  *Answered
}

// passkeyGrant is the name of the grant for a passkey without a password.
const passkeyGrant = "passkey"

// The refusals of the grants, one text each for all causes.
const (
	refusedFactor  = "the second factor is not valid"
	refusedPasskey = "the passkey is not valid"
)

// needsFactor answers a right password of an identity that has second factors.
func (g *Grants) needsFactor(ctx context.Context, token string, kinds []string) error {
	needs := &Error{
		Status: http.StatusUnauthorized, Code: "second_factor_required", Description: "a second factor is required",
		FactorToken: token, Factors: kinds,
	}
	if slices.Contains(kinds, "passkey") && g.accounts.passkeys.party != nil {
		var err error
		if needs.PublicKey, err = g.accounts.PasskeyRequest(ctx); err != nil {
			return err
		}
	}
	return needs
}

// secondFactor accepts a second factor, after a right password or for a sign-in that goes on. A passkey needs neither.
func (g *Grants) secondFactor(ctx context.Context, parameters map[string]string, client Client) (*TokenResponse, error) {
	token, code, recovery, credential := parameters["factor_token"], parameters["code"], parameters["recovery_code"], parameters["credential"]
	isAlone := parameters["grant_type"] == passkeyGrant
	switch {
	case credential != "" && g.accounts.passkeys.party == nil:
		return nil, errNoPasskeys
	case isAlone && credential == "":
		return nil, InvalidRequest("credential is required")
	case isAlone:
		token, code, recovery = "", "", ""
	case cmp.Or(code, recovery, credential) != code+recovery+credential || code+recovery+credential == "":
		return nil, InvalidRequest("one of code, recovery_code and credential is required")
	case token == "" && parameters["access_token"] == "":
		return nil, InvalidRequest("factor_token is required")
	}
	raised, err := g.raised(ctx, parameters)
	if err != nil {
		return nil, err
	}
	refused, attempt := InvalidGrant(refusedFactor), Attempt{Address: client.Address}
	if isAlone {
		refused = InvalidGrant(refusedPasskey)
	}
	var pendingHash []byte
	if token != "" {
		pendingHash = HashSecret(token)
	}
	var tried Tried
	if !isAlone {
		var wait time.Duration
		wait, tried, err = g.store.TryFactor(ctx, pendingHash, raised, client.Address)
		if err := mustWait(wait, err); err != nil {
			return nil, err
		}
		if tried.IdentityID == "" {
			return nil, g.fail(ctx, attempt, refused)
		}
		attempt.Account = "factor " + tried.IdentityID
	}

	by, identityID, err := g.matchFactor(ctx, tried, code, recovery, credential)
	if err != nil {
		return nil, g.failIfRefused(ctx, attempt, err, refused.Description)
	}
	if isOther := func(id string) bool { return id != "" && id != identityID }; isOther(tried.IdentityID) || isOther(raised.ID) {
		return nil, g.fail(ctx, attempt, refused)
	}
	family := newFamily(g.options.RefreshTokenExpiry, client)
	wait, isAccepted, err := g.store.AcceptFactor(ctx, identityID, pendingHash, raised.Family, by, family)
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
	return g.respond(ctx, identityID, family.Key, family.Token, false)
}

// matchFactor checks the one second factor that is given, and returns whose it is. A store compares recovery codes.
func (g *Grants) matchFactor(ctx context.Context, tried Tried, code, recovery, credential string) (by Factored, identityID string, err error) {
	switch {
	case recovery != "":
		return Factored{Recovery: hashRecoveryCode(recovery)}, tried.IdentityID, nil
	case credential != "":
		answered, err := g.accounts.verifyPasskey(ctx, credential)
		return Factored{Passkey: &answered}, answered.Passkey.IdentityID, err
	}
	step, isRight, err := g.accounts.matchTOTP(tried.Secret, code, tried.At)
	if err == nil && !isRight {
		err = InvalidGrant(refusedFactor)
	}
	return Factored{Step: step}, tried.IdentityID, err
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
	err = a.store.ProposeTOTP(ctx, caller.Identity, a.options.Secrets.Encrypt(secret))
	return totpURL(a.options.Name, account.label(caller), secret), err
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
	isDone, err := a.store.ConfirmTOTP(ctx, caller.Identity, secret, step, hashes)
	return codes, unlessDone(isDone, err, errCode)
}

// RemoveFactor removes a passkey of the caller or, for nil, the authenticator app.
func (a *Accounts) RemoveFactor(ctx context.Context, passkey *string, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	isDone, err := a.store.RemoveFactor(ctx, caller.Identity, passkey)
	return unlessDone(isDone, err, ErrNoFactor)
}

// RenewRecoveryCodes gives the caller new recovery codes; the others are void.
func (a *Accounts) RenewRecoveryCodes(ctx context.Context, caller Caller) (codes []string, err error) {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	isDone, err := a.store.RenewRecovery(ctx, caller.Identity, hashes)
	return codes, unlessDone(isDone, err, ErrNoFactor)
}

// unlessDone returns why a change was not done; missing if there was nothing to change.
func unlessDone(isDone bool, err, missing error) error {
	if err == nil && !isDone {
		return missing
	}
	return err
}

// Factors lists the second factors of the caller, as JSON.
func (a *Accounts) Factors(ctx context.Context, caller Caller) (json.RawMessage, error) {
	if _, err := a.look(ctx, caller); err != nil {
		return nil, err
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
