package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// redirectStore keeps sign-ins by redirect in the database.
type redirectStore struct {
	db       Database
	throttle auth.ThrottleOptions
	claims   func() []release.Claim // kept with identities by the release
}

var _ auth.SignInStore = (*redirectStore)(nil)

// Now returns the time of the database.
func (s *redirectStore) Now(context.Context) (now time.Time, err error) {
	err = s.query(`select now()`, nil, &now)
	return now, err
}

// Take notes that a browser is back.
func (s *redirectStore) Take(_ context.Context, t *auth.Transaction) (isTaken bool, err error) {
	err = s.query(`select platform.auth_signin_take($1, $2)`, []any{t.Hash, t.Ends}, &isTaken)
	return isTaken, err
}

// Forget reverts Take.
func (s *redirectStore) Forget(_ context.Context, t *auth.Transaction) error {
	return s.query(`select platform.auth_signin_forget($1)::text`, []any{t.Hash}, new(*string))
}

// Finish finds or creates an identity and keeps a code for it.
func (s *redirectStore) Finish(_ context.Context, v auth.Vouched, t *auth.Transaction, codeHash []byte, lifetime time.Duration) (auth.Outcome, error) {
	var outcome string
	err := s.query(`select platform.auth_signin_finish($1, $2, $3::text::jsonb, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		[]any{v.Token.Issuer, v.Token.Subject, s.fields(v.Token), v.Address, int32(s.throttle.PerAddress), s.throttle.Window,
			codeHash, t.Target, t.IsDynamic, orNull(t.Challenge), orNull(t.ChallengeMethod), lifetime, v.Token.SecondFactorAt()},
		&outcome)
	if err != nil {
		return conflictOf(err)
	}
	return auth.Outcome(outcome), nil
}

// Redeem trades a code for a family.
func (s *redirectStore) Redeem(_ context.Context, codeHash []byte, proof auth.Proof, redirectURI string, family auth.Family) (auth.Redeemed, error) {
	var outcome string
	var id *string
	var isNew *bool
	err := s.query(`select outcome, identity_id, is_identity_new from platform.auth_signin_redeem($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		[]any{codeHash, proof.VerifierHash, proof.ChallengeHash, []byte(redirectURI), family.TokenHash, family.Key, family.Lifetime,
			family.Client.Address, orNull(family.Client.Agent)},
		&outcome, &id, &isNew)
	return auth.Redeemed{Outcome: auth.RedeemOutcome(outcome), IdentityID: orEmpty(id), IsNew: isNew != nil && *isNew}, err
}

// Identity finds or creates an identity.
func (s *redirectStore) Identity(_ context.Context, v auth.Vouched) (auth.Outcome, string, time.Duration, error) {
	var outcome string
	var id *string
	var wait *int32
	err := s.query(`select outcome, identity_id, wait from platform.auth_identity($1, $2, $3::text::jsonb, $4, $5, $6, $7)`,
		[]any{v.Token.Issuer, v.Token.Subject, s.fields(v.Token), v.MayCreate, v.Address, int32(s.throttle.PerAddress), s.throttle.Window},
		&outcome, &id, &wait)
	if err != nil {
		conflict, err := conflictOf(err)
		return conflict, "", 0, err
	}
	if wait == nil {
		wait = new(int32)
	}
	return auth.Outcome(outcome), orEmpty(id), inSeconds(*wait), nil
}

// query calls a function that returns one row.
func (s *redirectStore) query(statement string, arguments []any, results ...any) error {
	err := s.db.QueryRow(statement, arguments, results...)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) && refusal.OfStore(err).Status >= http.StatusServiceUnavailable {
		return fmt.Errorf("%w: %w", auth.ErrStoreUnavailable, err)
	}
	return err
}

// conflictOf returns the outcome for an identity with values that do not fit into their
// unique index, as if another identity had them. Any other error is returned.
func conflictOf(err error) (auth.Outcome, error) {
	if refusal.SQLState(err) == "54000" {
		return auth.Conflict, nil
	}
	return "", err
}

// claimColumns are the columns of app.identity in every project, with the claims that
// they hold as texts.
var claimColumns = [...]struct{ column, claim string }{
	{"name", "name"},
	{"given_name", "given_name"},
	{"family_name", "family_name"},
	{"middle_name", "middle_name"},
	{"nick_name", "nickname"},
	{"profile", "profile"},
	{"picture", "picture"},
	{"website", "website"},
	{"gender", "gender"},
	{"zone_info", "zoneinfo"},
	{"locale", "locale"},
}

// fields returns the stored part of an ID token: a JSON object by column.
func (s *redirectStore) fields(t *auth.IDToken) string {
	fields := map[string]any{
		"email":          orNull(strings.ToLower(t.Text("email"))),
		"email_verified": t.IsEmailVerified(),
	}
	for _, c := range claimColumns {
		fields[c.column] = orNull(t.Text(c.claim))
	}
	for _, c := range s.claims() {
		fields[c.Column] = orNull(t.Text(c.Key))
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("server: write the fields of an identity: %v", err))
	}
	return string(text)
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orNull returns nil for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
