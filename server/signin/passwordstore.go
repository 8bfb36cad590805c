package signin

import (
	"context"
	"time"

	"github.com/sternpost/sternpost/auth"
)

// passwordStore keeps sign-ins by password, and refresh tokens, in the database, by
// functions of schema platform.
type passwordStore struct {
	db       Database
	issuer   string // of identities with a sign-in by password
	throttle auth.ThrottleOptions
}

var _ auth.AccountStore = (*passwordStore)(nil)

// limits returns the last arguments of functions that check failures.
func (s *passwordStore) limits() []any {
	t := s.throttle
	return []any{int32(t.PerAccountAndAddress), int32(t.PerAccount), int32(t.PerAddress), t.Window}
}

func inSeconds(n int32) time.Duration {
	return time.Duration(n) * time.Second
}

// Fail counts a failure.
func (s *passwordStore) Fail(_ context.Context, a auth.Attempt) (time.Duration, error) {
	var wait int32
	err := s.db.QueryRow(`select platform.auth_fail($1, $2, $3, $4, $5, $6)`,
		append([]any{orNull(a.Account), a.Address}, s.limits()...), &wait)
	return inSeconds(wait), err
}

// Password looks an e-mail address up.
func (s *passwordStore) Password(_ context.Context, a auth.Attempt) (time.Duration, auth.Known, error) {
	t := s.throttle
	var wait int32
	var identityID, hash *string
	var isVerified *bool
	err := s.db.QueryRow(`select wait, identity_id, password, is_verified from platform.auth_password($1, $2, $3, $4, $5, $6, $7, $8)`,
		[]any{a.Account, s.issuer, a.Address, int32(t.PerAccountAndAddress), int32(t.PerAccount), int32(t.PerAddress), int32(t.TriesPerAccountAndAddress), t.Window}, &wait, &identityID, &hash, &isVerified)
	known := auth.Known{IdentityID: orEmpty(identityID), Hash: orEmpty(hash), IsVerified: isVerified != nil && *isVerified}
	return inSeconds(wait), known, err
}

// AcceptPassword begins a family.
func (s *passwordStore) AcceptPassword(_ context.Context, a auth.Attempt, identityID, hash, newHash string, f auth.Family, session string, pendingHash []byte) (time.Duration, bool, []string, error) {
	var wait int32
	var isAccepted bool
	var factors []string
	err := s.db.QueryRow(`select wait, is_accepted, factors from platform.auth_password_accept($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		append(append([]any{identityID, hash, orNull(newHash), f.TokenHash, f.Key, f.Lifetime, a.Account, a.Address}, s.limits()...), orNull(f.Client.Agent), orNull(session), pendingHash),
		&wait, &isAccepted, &factors)
	return inSeconds(wait), isAccepted, factors, err
}

// CreatePassword creates an identity.
func (s *passwordStore) CreatePassword(_ context.Context, a auth.Attempt, hash string, f auth.Family, m auth.Mailed) (time.Duration, string, error) {
	var wait int32
	var isCreated bool
	var identityID *string
	err := s.db.QueryRow(`select wait, is_created, identity_id from platform.auth_password_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		append(append([]any{a.Account, s.issuer, hash, f.TokenHash, f.Key, f.Lifetime, a.Address}, s.limits()...), m.TokenHash, m.Lifetime, m.Content, orNull(f.Client.Agent)),
		&wait, &isCreated, &identityID)
	if err != nil || !isCreated {
		return inSeconds(wait), "", err
	}
	return 0, orEmpty(identityID), nil
}

// Start begins a family.
func (s *passwordStore) Start(_ context.Context, identityID string, f auth.Family) (isStarted bool, err error) {
	err = s.db.QueryRow(`select platform.auth_start($1, $2, $3, $4, null, $5, $6, $7)`,
		[]any{identityID, f.TokenHash, f.Key, f.Lifetime, f.Client.Address, orNull(f.Client.Agent), f.SecondAt}, &isStarted)
	return isStarted, err
}

// FamilyKey looks a key up.
func (s *passwordStore) FamilyKey(_ context.Context, tokenHash, mark []byte) (key []byte, err error) {
	err = s.db.QueryRow(`select platform.auth_family_key($1, $2)`, []any{tokenHash, mark}, &key)
	return key, err
}

// Refresh judges a refresh token.
func (s *passwordStore) Refresh(_ context.Context, tokenHash, successorHash, mark []byte, grace time.Duration, client auth.Client) (auth.Refreshed, error) {
	var outcome string
	var identityID *string
	var steps *int32
	err := s.db.QueryRow(`select outcome, identity_id, steps from platform.auth_refresh($1, $2, $3, $4, $5, $6)`,
		[]any{tokenHash, successorHash, mark, grace, client.Address, orNull(client.Agent)}, &outcome, &identityID, &steps)
	if err != nil {
		return auth.Refreshed{}, err
	}
	r := auth.Refreshed{Outcome: auth.RefreshOutcome(outcome), IdentityID: orEmpty(identityID)}
	if steps != nil {
		r.Steps = int(*steps)
	}
	return r, nil
}

// Revoke revokes a family.
func (s *passwordStore) Revoke(_ context.Context, tokenHash, mark []byte) error {
	return s.db.QueryRow(`select platform.auth_revoke($1, $2)::text`, []any{tokenHash, mark}, new(*string))
}

// sweep deletes expired rows, up to most of each kind, and tells whether some are left.
func (s *passwordStore) sweep(most int) (isMore bool, err error) {
	err = s.db.QueryRow(`select platform.auth_sweep($1, $2)`, []any{s.throttle.Window, int32(most)}, &isMore)
	return isMore, err
}
