package signin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sternpost/sternpost/auth"
)

// The store methods for accounts, beside those for grants.

// mailed returns the last arguments of functions that keep a token and its mail.
func (s *passwordStore) mailed(m auth.Mailed) []any {
	return append(s.limits(), m.TokenHash, m.Lifetime, m.Content)
}

// AskReset keeps a token that sets a new password.
func (s *passwordStore) AskReset(_ context.Context, a auth.Attempt, m auth.Mailed) (time.Duration, error) {
	var wait int32
	err := s.db.QueryRow(`select platform.auth_ask_reset($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		append([]any{a.Account, s.issuer, a.Address}, s.mailed(m)...), &wait)
	return inSeconds(wait), err
}

// AskVerification keeps a token that proves an address.
func (s *passwordStore) AskVerification(_ context.Context, identityID string, a auth.Attempt, m auth.Mailed) (time.Duration, error) {
	var wait int32
	err := s.db.QueryRow(`select platform.auth_ask_verification($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		append([]any{identityID, a.Account, a.Address}, s.mailed(m)...), &wait)
	return inSeconds(wait), err
}

// AskChange keeps a token that changes an address.
func (s *passwordStore) AskChange(_ context.Context, identityID, email, hash string, a auth.Attempt, m auth.Mailed, notice []byte) (time.Duration, bool, error) {
	var wait int32
	var isAsked bool
	err := s.db.QueryRow(`select wait, is_asked from platform.auth_ask_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		append(append([]any{identityID, email, hash, a.Account, a.Address}, s.mailed(m)...), notice), &wait, &isAsked)
	return inSeconds(wait), isAsked, err
}

// IsReset looks a token up.
func (s *passwordStore) IsReset(_ context.Context, tokenHash []byte) (is bool, err error) {
	err = s.db.QueryRow(`select platform.auth_is_proof($1)`, []any{tokenHash}, &is)
	return is, err
}

// Reset sets a new password.
func (s *passwordStore) Reset(_ context.Context, tokenHash []byte, newHash, address string) (isSet bool, err error) {
	err = s.db.QueryRow(`select platform.auth_reset($1, $2, $3)`, []any{tokenHash, newHash, address}, &isSet)
	return isSet, err
}

// Proof looks a token up.
func (s *passwordStore) Proof(_ context.Context, tokenHash []byte) (auth.Proven, error) {
	var id, email *string
	var createdAt *time.Time
	err := s.db.QueryRow(`select identity_id, email, created_at from platform.auth_proof_find($1)`, []any{tokenHash}, &id, &email, &createdAt)
	if err != nil || id == nil {
		return auth.Proven{}, err
	}
	return auth.Proven{IdentityID: *id, Email: orEmpty(email), CreatedAt: *createdAt}, nil
}

// Verify proves an address.
func (s *passwordStore) Verify(_ context.Context, tokenHash []byte, hash string, spared []byte) (auth.VerifyOutcome, error) {
	var outcome string
	err := s.db.QueryRow(`select platform.auth_verify($1, nullif($2, ''), $3)`, []any{tokenHash, hash, spared}, &outcome)
	return auth.VerifyOutcome(outcome), err
}

// Invited looks a token up.
func (s *passwordStore) Invited(_ context.Context, tokenHash []byte) (auth.Invited, error) {
	var email, id, hash *string
	var isVerified *bool
	err := s.db.QueryRow(`select email, identity_id, password, is_verified from platform.auth_invitation($1, $2)`,
		[]any{tokenHash, s.issuer}, &email, &id, &hash, &isVerified)
	known := auth.Known{IdentityID: orEmpty(id), Hash: orEmpty(hash), IsVerified: isVerified != nil && *isVerified}
	return auth.Invited{Email: orEmpty(email), Known: known}, err
}

// Accept accepts an invitation.
func (s *passwordStore) Accept(_ context.Context, tokenHash []byte, a auth.Acceptance) (auth.Accepted, error) {
	var accepted auth.Accepted
	var id *string
	err := s.db.QueryRow(`select outcome, account_id, factors from platform.auth_invitation_accept($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		[]any{tokenHash, s.issuer, orNull(a.IdentityID), orNull(a.OldHash), orNull(a.NewHash), a.Spared, a.Family.TokenHash, a.Family.Key, a.Family.Lifetime,
			a.Family.Client.Address, orNull(a.Family.Client.Agent), a.PendingHash}, &accepted.Outcome, &id, &accepted.Factors)
	accepted.IdentityID = orEmpty(id)
	return accepted, err
}

// Disown takes an address from an account.
func (s *passwordStore) Disown(_ context.Context, tokenHash []byte) (isDone bool, err error) {
	err = s.db.QueryRow(`select platform.auth_disown($1)`, []any{tokenHash}, &isDone)
	return isDone, err
}

// Account looks an identity up.
func (s *passwordStore) Account(_ context.Context, caller auth.Identity) (auth.Account, error) {
	var a auth.Account
	var email *string
	var isVerified, isPassword *bool
	err := s.db.QueryRow(`select is_there, is_over, email, is_verified, is_password from platform.auth_account($1, nullif($2, ''))`,
		[]any{caller.ID, caller.Token}, &a.IsThere, &a.IsOver, &email, &isVerified, &isPassword)
	a.Email, a.IsVerified, a.IsPassword = orEmpty(email), isVerified != nil && *isVerified, isPassword != nil && *isPassword
	return a, err
}

// ChangePassword replaces a hash.
func (s *passwordStore) ChangePassword(_ context.Context, identityID, hash, newHash string, spared []byte, a auth.Attempt) (time.Duration, bool, error) {
	var wait int32
	var isChanged bool
	err := s.db.QueryRow(`select wait, is_changed from platform.auth_change_password($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		append([]any{identityID, hash, newHash, spared, a.Account, a.Address}, s.limits()...), &wait, &isChanged)
	return inSeconds(wait), isChanged, err
}

// SignOut ends all sign-ins.
func (s *passwordStore) SignOut(_ context.Context, identityID string) (isThere bool, err error) {
	err = s.db.QueryRow(`select platform.auth_sign_out($1)`, []any{identityID}, &isThere)
	return isThere, err
}

// Sessions lists sign-ins.
func (s *passwordStore) Sessions(_ context.Context, caller auth.Identity) (json.RawMessage, error) {
	var sessions string
	err := s.db.QueryRow(`select platform.auth_sessions($1, $2)`, []any{caller.ID, caller.Token}, &sessions)
	return json.RawMessage(sessions), err
}

// EndSession ends sign-ins.
func (s *passwordStore) EndSession(_ context.Context, caller auth.Identity, session *string) (bool, error) {
	return s.change(`select platform.auth_end_session($1, $2, $3)`, caller.ID, caller.Token, session)
}

// Key looks a key for machines up.
func (s *passwordStore) Key(_ context.Context, hash []byte) (identityID string, isExpired bool, err error) {
	var id *string
	var expired *bool
	err = s.db.QueryRow(`select identity_id, is_expired from platform.auth_key_find($1)`, []any{hash}, &id, &expired)
	return orEmpty(id), expired != nil && *expired, err
}

// Link links a subject of a provider.
func (s *passwordStore) Link(_ context.Context, caller auth.Identity, issuer, subject, provider string, ends time.Time) (auth.LinkOutcome, error) {
	return s.changeLink(`select platform.auth_link_add($1, $2, $3, $4, $5, $6)`, caller.ID, caller.Token, issuer, subject, provider, ends)
}

// Unlink ends a link.
func (s *passwordStore) Unlink(_ context.Context, caller auth.Identity, provider string) (auth.LinkOutcome, error) {
	return s.changeLink(`select platform.auth_link_remove($1, $2, $3)`, caller.ID, caller.Token, provider)
}

func (s *passwordStore) changeLink(statement string, arguments ...any) (auth.LinkOutcome, error) {
	var outcome string
	err := s.db.QueryRow(statement, arguments, &outcome)
	return auth.LinkOutcome(outcome), err
}

// Links lists links.
func (s *passwordStore) Links(_ context.Context, identityID string) (json.RawMessage, error) {
	var links string
	err := s.db.QueryRow(`select platform.auth_links($1)`, []any{identityID}, &links)
	return json.RawMessage(links), err
}
