package signin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sternpost/sternpost/auth"
)

// The store methods for second factors.

// TryFactor counts an attempt.
func (s *passwordStore) TryFactor(_ context.Context, pendingHash []byte, raised auth.Identity, address string) (time.Duration, auth.Tried, error) {
	var wait int32
	var id, secret *string
	var tried auth.Tried
	err := s.db.QueryRow(`select wait, identity_id, secret, tried_at from platform.auth_factor_try($1, $2, $3, $4, $5, $6, $7, $8)`,
		append([]any{pendingHash, orNull(raised.ID), orNull(raised.Family), address}, s.limits()...), &wait, &id, &secret, &tried.At)
	tried.IdentityID, tried.Secret = orEmpty(id), orEmpty(secret)
	return inSeconds(wait), tried, err
}

// AcceptFactor begins or raises a family.
func (s *passwordStore) AcceptFactor(_ context.Context, identityID string, pendingHash []byte, session string, by auth.Factored, f auth.Family) (time.Duration, bool, error) {
	var wait int32
	var isAccepted bool
	passkey := auth.Answered{}
	if by.Passkey != nil {
		passkey = *by.Passkey
	}
	err := s.db.QueryRow(`select wait, is_accepted from platform.auth_factor_accept($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		append([]any{identityID, pendingHash, orNull(session), by.Step, by.Recovery, orNull(passkey.Passkey.ID), passkey.Counter, passkey.Hash, passkey.Ends,
			f.TokenHash, f.Key, f.Lifetime, orNull(f.Client.Agent), f.Client.Address}, s.limits()...),
		&wait, &isAccepted)
	return inSeconds(wait), isAccepted, err
}

// ProposeTOTP keeps a secret.
func (s *passwordStore) ProposeTOTP(_ context.Context, caller auth.Identity, secret string) error {
	return s.db.QueryRow(`select platform.auth_totp_propose($1, $2, $3)::text`, []any{caller.ID, caller.Token, secret}, new(*string))
}

// ProposedTOTP looks it up.
func (s *passwordStore) ProposedTOTP(_ context.Context, identityID string) (string, time.Time, error) {
	var secret *string
	var now time.Time
	err := s.db.QueryRow(`select secret, asked_at from platform.auth_totp_proposed($1)`, []any{identityID}, &secret, &now)
	return orEmpty(secret), now, err
}

// ConfirmTOTP makes it the authenticator.
func (s *passwordStore) ConfirmTOTP(_ context.Context, caller auth.Identity, secret string, step int64, recovery [][]byte) (bool, error) {
	return s.change(`select platform.auth_totp_confirm($1, $2, $3, $4, $5)`, caller.ID, caller.Token, secret, step, recovery)
}

// Now returns the time of the database.
func (s *passwordStore) Now(context.Context) (now time.Time, err error) {
	err = s.db.QueryRow(`select now()`, nil, &now)
	return now, err
}

// MayChange returns the time to a caller who may change factors.
func (s *passwordStore) MayChange(_ context.Context, caller auth.Identity) (now time.Time, err error) {
	err = s.db.QueryRow(`select now() from platform.auth_require($1, $2)`, []any{caller.ID, caller.Token}, &now)
	return now, err
}

// Passkey looks a passkey up.
func (s *passwordStore) Passkey(_ context.Context, id string) (auth.Passkey, error) {
	found := auth.Passkey{ID: id}
	var identityID *string
	var isShared *bool
	err := s.db.QueryRow(`select identity_id, public_key, is_shared from platform.auth_passkey_find($1)`, []any{id}, &identityID, &found.PublicKey, &isShared)
	found.IdentityID, found.IsShared = orEmpty(identityID), isShared != nil && *isShared
	return found, err
}

// ConfirmPasskey keeps a passkey.
func (s *passwordStore) ConfirmPasskey(_ context.Context, caller auth.Identity, a auth.Answered) (bool, error) {
	return s.change(`select platform.auth_passkey_confirm($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		caller.ID, caller.Token, a.Passkey.ID, a.Passkey.Name, a.Passkey.PublicKey, a.Passkey.IsShared, a.Counter, a.Hash, a.Ends)
}

// RemoveFactor removes a passkey, or the authenticator.
func (s *passwordStore) RemoveFactor(_ context.Context, caller auth.Identity, passkey *string) (bool, error) {
	return s.change(`select platform.auth_factor_remove($1, $2, $3)`, caller.ID, caller.Token, passkey)
}

// RenewRecovery replaces recovery codes.
func (s *passwordStore) RenewRecovery(_ context.Context, caller auth.Identity, recovery [][]byte) (bool, error) {
	return s.change(`select platform.auth_recovery_renew($1, $2, $3)`, caller.ID, caller.Token, recovery)
}

// Shown tells what was shown.
func (s *passwordStore) Shown(_ context.Context, identity auth.Identity) (shown auth.Shown, err error) {
	var at *int64
	err = s.db.QueryRow(`select extract(epoch from shown_at)::bigint, methods from platform.auth_shown($1, $2)`,
		[]any{identity.ID, identity.Family}, &at, &shown.Methods)
	if at != nil {
		shown.At = *at
	}
	return shown, err
}

// Factors lists them.
func (s *passwordStore) Factors(_ context.Context, identityID string) (json.RawMessage, error) {
	var factors string
	err := s.db.QueryRow(`select platform.auth_factor_list($1)`, []any{identityID}, &factors)
	return json.RawMessage(factors), err
}

// change calls a function that tells whether there was something to change.
func (s *passwordStore) change(statement string, arguments ...any) (isDone bool, err error) {
	err = s.db.QueryRow(statement, arguments, &isDone)
	return isDone, err
}
