package auth

import (
	"context"
	"errors"
	"fmt"
)

// ExchangeToken implements Subjects: it returns the subject of an ID token of a configured provider.
func (s *SignIns) ExchangeToken(ctx context.Context, subjectToken string, mayCreate bool, address string) (Subject, error) {
	token, err := s.options.Providers.VerifyIDToken(ctx, subjectToken)
	switch {
	case isUnreachable(err):
		return Subject{}, unavailable("the provider cannot be reached").because(err)
	case errors.Is(err, errIDToken):
		return Subject{}, InvalidGrant(refusedIDToken).because(err)
	case err != nil:
		return Subject{}, fmt.Errorf("verify an ID token: %w", err)
	}
	outcome, identityID, wait, err := s.options.Store.Identity(ctx, Vouched{Token: token, MayCreate: mayCreate, Address: address})
	if err != nil {
		return Subject{}, err
	}
	switch outcome {
	case Found, Created:
		return Subject{IdentityID: identityID, IsNew: outcome == Created, SecondFactorAt: token.SecondFactorAt()}, nil
	case Missing:
		return Subject{}, InvalidGrant(refusedIDToken).because(errors.New("the identity does not exist"))
	case Conflict:
		return Subject{}, InvalidGrant(refusedIDToken).because(errors.New("another identity has a value that must be unique"))
	case Throttled:
		return Subject{}, tooMany(wait)
	}
	return Subject{}, fmt.Errorf("the store answers %q for an identity", outcome)
}

// RedeemCode implements Subjects: it returns the subject of a code, whose family begins with that.
func (s *SignIns) RedeemCode(ctx context.Context, code, verifier, redirectURI string, family Family) (Subject, error) {
	redeemed, err := s.options.Store.Redeem(ctx, HashSecret(code), proofOf(verifier), redirectURI, family)
	if err != nil {
		return Subject{}, err
	}
	switch redeemed.Outcome {
	case RedeemOK:
		return Subject{IdentityID: redeemed.IdentityID, IsNew: redeemed.IsNew}, nil
	case RedeemReplayed:
		s.options.Log.WarnContext(ctx, "a code was presented again; what was issued for it is revoked", "identity", redeemed.IdentityID)
		return Subject{}, InvalidGrant(refusedCode).because(errors.New("the code was used before"))
	case RedeemRefused:
		return Subject{}, InvalidGrant(refusedCode)
	}
	return Subject{}, fmt.Errorf("the store answers %q for a code", redeemed.Outcome)
}
