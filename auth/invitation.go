package auth

import (
	"context"
	"time"

	"github.com/sternpost/sternpost/auth/mail"
)

const invitationLifetime = 7 * 24 * time.Hour

// Invitation is what a create keeps for the person whom it invites.
type Invitation struct {
	Email   string `json:"email"`
	Hash    []byte `json:"hash"`    // of the token
	Content []byte `json:"content"` // the mail with the token, sealed
}

// Invited is the address that a token invites, and the account that signs in there by password, if there is one.
type Invited struct {
	Email string // empty if the token is not valid
	Known
}

// Acceptance is how somebody accepts an invitation. Identity and Known are empty for an address that signs up.
type Acceptance struct {
	IdentityID  string
	OldHash     string // that the identity must still have; empty is not compared
	NewHash     string // of an address that signs up
	Spared      []byte // as with Verify
	Family      Family // its first; none if it has no token
	PendingHash []byte // as with AcceptPassword
}

// Accepted is the result. The identity is empty unless the outcome is AcceptOK.
type Accepted struct {
	Outcome    AcceptOutcome
	IdentityID string
	Factors    []string // if it has second factors: then the family has not begun
}

// AcceptOutcome is the verdict on an invitation.
type AcceptOutcome string

// The outcomes. Any other one is refused.
const (
	AcceptOK     AcceptOutcome = "ok"
	AcceptTaken  AcceptOutcome = "taken"  // the address has an account by now
	AcceptLinked AcceptOutcome = "linked" // the account has such a row already
)

// The conflicts of invitations.
var (
	ErrLinked       = &ConflictError{"the identity cannot have this record: it may have another one already"}
	ErrOtherAddress = &ConflictError{"the invitation is for another e-mail address than the caller's: sign out first"}
)

// Invite writes the invitation of an e-mail address, which is the input of that name.
func (a *Accounts) Invite(input, address, languages string) (Invitation, error) {
	email, ok := ParseEmail(address)
	if !ok {
		refused := *errEmail
		refused.Field = input
		return Invitation{}, &refused
	}
	mailed, err := a.write(mail.Invitation, email, a.verificationURL(), invitationLifetime, languages)
	return Invitation{Email: email, Hash: mailed.TokenHash, Content: mailed.Content}, err
}

// AcceptInvitation signs in or up the address that a token was sent to, which proves it, and writes the account into the
// row that the invitation is for. An account whose address was not proven before is somebody else's, unless the caller is
// signed in to it or gives its password. Its error may ask for a second factor, like that of a sign-in.
func (g *Grants) AcceptInvitation(ctx context.Context, token, password string, caller Caller) (*TokenResponse, error) {
	a := g.accounts
	var invited Invited
	if isSecret(token) {
		var err error
		if invited, err = a.store.Invited(ctx, HashSecret(token)); err != nil {
			return nil, err
		}
	}
	if invited.Email == "" {
		return nil, a.refuseToken(ctx, caller.Client)
	}
	pending := NewSecret()
	accepted := Acceptance{IdentityID: invited.IdentityID, Family: newFamily(g.options.RefreshTokenExpiry, caller.Client), PendingHash: HashSecret(pending)}
	switch {
	case caller.ID != "":
		account, err := a.lookInPerson(ctx, caller)
		if err != nil {
			return nil, err
		}
		if account.Email != invited.Email {
			return nil, ErrOtherAddress
		}
		accepted.IdentityID, accepted.Family, accepted.Spared = caller.ID, Family{}, keyHashOf(caller.Family)
	case invited.IsVerified:
	case password == "":
		return nil, &InputError{Field: "password", Code: "required", Problem: "is required, since nobody has proven the address"}
	default:
		leave, err := a.passwords.Enter(ctx, caller.Address)
		if err != nil {
			return nil, err
		}
		defer leave()
		if invited.IdentityID == "" {
			if err := a.checkNew(password); err != nil {
				return nil, err
			}
			accepted.NewHash, err = a.passwords.Hash(ctx, password)
		} else {
			owner := Caller{Client: caller.Client, Identity: Identity{ID: invited.IdentityID}}
			accepted.OldHash, err = a.checkOld(ctx, "password", password, Attempt{Account: invited.Email, Address: caller.Address}, owner)
		}
		if err != nil {
			return nil, err
		}
	}
	result, err := a.store.Accept(ctx, HashSecret(token), accepted)
	switch {
	case err != nil:
		return nil, err
	case result.Outcome == AcceptTaken:
		return nil, ErrTaken
	case result.Outcome == AcceptLinked:
		return nil, ErrLinked
	case result.Outcome != AcceptOK:
		return nil, a.refuseToken(ctx, caller.Client)
	case len(result.Factors) > 0:
		return nil, g.needsFactor(ctx, pending, result.Factors)
	case caller.ID != "":
		return g.respondTo(ctx, caller.Identity, "", false)
	}
	return g.respond(ctx, result.IdentityID, accepted.Family.Key, accepted.Family.Token, invited.IdentityID == "")
}
