package auth

import (
	"context"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"
)

// Linking lets an account sign in through a provider too. It begins in a session, goes through the provider like a sign-in,
// and ends in the same session: what the browser brings back is of no use to another one.

// linkLifetime is how long a link may take to begin at the provider.
const linkLifetime = 5 * time.Minute

const sealOfLinks = "sternpost links"

// LinkParameter is the parameter of /auth/authorize that makes a sign-in a link.
const LinkParameter = "link"

// link is a link on its way, in DER, sealed. The later fields are empty until the provider has vouched for somebody.
type link struct {
	IdentityID string `asn1:"utf8"`
	Session    string `asn1:"utf8"`
	Ends       int64  // in microseconds, by the store's clock
	Provider   string `asn1:"utf8"`
	Issuer     string `asn1:"utf8"`
	Subject    string `asn1:"utf8"`
	Redirect   string `asn1:"utf8"` // of a client that named its target
	Challenge  string `asn1:"utf8"`
	Method     string `asn1:"utf8"`
}

// LinkStore keeps links.
type LinkStore interface {
	// Link lets the caller sign in as the subject of an issuer, unless that is somebody else's. It fails like a change of
	// a factor for a caller who has not shown a credential lately.
	Link(ctx context.Context, caller Identity, issuer, subject, provider string, ends time.Time) (LinkOutcome, error)

	// Unlink ends that for a provider.
	Unlink(ctx context.Context, caller Identity, provider string) (LinkOutcome, error)

	// Links lists the links of an identity, as JSON.
	Links(ctx context.Context, identityID string) (json.RawMessage, error)
}

// LinkOutcome is the result of a change of links.
type LinkOutcome string

// The refusals of links.
var linkRefusals = map[LinkOutcome]error{
	"ok":         nil,
	"expired":    errLinkCode,
	"taken":      &ConflictError{"the provider's identity belongs to another identity"},
	"unverified": &ConflictError{"the e-mail address of the identity is not verified"},
	"missing":    &ConflictError{"the identity is not linked to this provider"},
	"last":       &ConflictError{"the identity could not sign in any more"},
}

var errLinkCode = &InputError{Field: "code", Code: "incorrect", Problem: "is not valid"}

func (o LinkOutcome) refusal(err error) error {
	if err != nil {
		return err
	}
	refused, isKnown := linkRefusals[o]
	if !isKnown {
		return fmt.Errorf("the store answers %q for a link", o)
	}
	return refused
}

// closeLink seals a link as text.
func closeLink(s *seal, l link) (string, error) {
	plain, err := asn1.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("write a link: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.close(plain)), nil
}

// openLink opens such a text, whether or not it is from the provider.
func openLink(s *seal, text string) (l link, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return link{}, false
	}
	plain, ok := s.open(raw)
	if !ok {
		return link{}, false
	}
	rest, err := asn1.Unmarshal(plain, &l)
	return l, err == nil && len(rest) == 0
}

// linked returns the code of a link that the provider has vouched for.
func (s *SignIns) linked(ctx context.Context, t *Transaction, token *IDToken) (string, error) {
	l, ok := openLink(s.links, t.Link)
	if !ok {
		return "", errors.New("read a link: it is not valid")
	}
	now, err := s.options.Store.Now(ctx)
	if err != nil {
		return "", err
	}
	l.Ends = now.Add(codeLifetime).UnixMicro()
	l.Provider, l.Issuer, l.Subject, l.Challenge, l.Method = t.Provider, token.Issuer, token.Subject, t.Challenge, t.ChallengeMethod
	if t.IsDynamic {
		l.Redirect = t.Target
	}
	return closeLink(s.links, l)
}

// StartLink begins a link of a caller who has shown a credential lately, and returns the value of LinkParameter.
func (a *Accounts) StartLink(ctx context.Context, caller Caller) (string, error) {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return "", err
	}
	now, err := a.store.MayChange(ctx, caller.Identity)
	if err != nil {
		return "", err
	}
	return closeLink(a.links, link{IdentityID: caller.ID, Session: caller.Family, Ends: now.Add(linkLifetime).UnixMicro()})
}

// ConfirmLink ends a link in the session in which it began, with what the browser has brought back.
func (a *Accounts) ConfirmLink(ctx context.Context, code, verifier, redirectURI string, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	l, ok := openLink(a.links, code)
	shown := verifier
	if l.Method == "S256" {
		shown = oauth2.S256ChallengeFromVerifier(verifier)
	}
	isRight := ok && l.Subject != "" && l.IdentityID == caller.ID && l.Session == caller.Family && shown == l.Challenge &&
		(l.Challenge == "" || isVerifier(verifier)) && (l.Redirect == "" || l.Redirect == redirectURI)
	if !isRight {
		if err := mustWait(a.store.Fail(ctx, Attempt{Address: caller.Address})); err != nil {
			return err
		}
		return errLinkCode
	}
	outcome, err := a.store.Link(ctx, caller.Identity, l.Issuer, l.Subject, l.Provider, time.UnixMicro(l.Ends))
	return outcome.refusal(err)
}

// RemoveLink ends the link to a provider, unless the account could not sign in any more.
func (a *Accounts) RemoveLink(ctx context.Context, provider string, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	outcome, err := a.store.Unlink(ctx, caller.Identity, provider)
	return outcome.refusal(err)
}

// Links lists the providers that the caller is linked to, as JSON.
func (a *Accounts) Links(ctx context.Context, caller Caller) (json.RawMessage, error) {
	if _, err := a.look(ctx, caller); err != nil {
		return nil, err
	}
	return a.store.Links(ctx, caller.ID)
}
