package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"
)

// Grants turns credentials into tokens: it implements the token endpoint. It may be used
// concurrently.
type Grants struct {
	tokens    *Tokens
	store     Store
	passwords *Passwords
	subjects  Subjects
	accounts  *Accounts
	log       *slog.Logger
	options   GrantOptions
}

// GrantOptions configure the accepted credentials.
type GrantOptions struct {
	RefreshTokenExpiry time.Duration // of a family, from its sign-in
	IsRotating         bool          // whether the use of a refresh token replaces it
	RefreshTokenGrace  time.Duration // how long a replaced one still counts as the newest
	IsPasswordEnabled  bool
	IsSignupEnabled    bool // whether an unknown e-mail address may become an identity
	MinPasswordLength  int  // for a new one, in characters
	Verification       Verification
}

// Verification is the requirement for the e-mail address of an identity that signs in by
// password.
type Verification string

// The requirements.
const (
	VerificationOff      Verification = "off"      // nothing
	VerificationSend     Verification = "send"     // a mail is sent at sign-up
	VerificationRequired Verification = "required" // no sign-in before the address is proven
)

// SendsMail tells whether a mail is sent at sign-up.
func (v Verification) SendsMail() bool {
	return v == VerificationSend || v == VerificationRequired
}

// Subjects identifies the owners of credentials from providers. A refused credential is
// an *Error of code invalid_grant; the caller counts the attempt.
type Subjects interface {
	// ExchangeToken returns the subject of an ID token. It creates a missing identity if
	// mayCreate is set; address is that of the client.
	ExchangeToken(ctx context.Context, subjectToken string, mayCreate bool, address string) (Subject, error)

	// RedeemCode returns the subject of a code, begins a family for it, and consumes the
	// code, even if it refuses it. All this is atomic: of racing requests with the same
	// code, one succeeds. verifier and redirectURI are empty if the client sent none.
	RedeemCode(ctx context.Context, code, verifier, redirectURI string, family Family) (Subject, error)
}

// Subject is the identity behind a credential.
type Subject struct {
	IdentityID string
	IsNew      bool // the sign-in has created the identity

	SecondFactorAt *time.Time // as an IDToken says; of a code, the store knows it
}

// NewGrants combines everything that a sign-in needs.
func NewGrants(tokens *Tokens, store Store, passwords *Passwords, subjects Subjects, accounts *Accounts, log *slog.Logger, options GrantOptions) *Grants {
	return &Grants{tokens: tokens, store: store, passwords: passwords, subjects: subjects, accounts: accounts, log: log, options: options}
}

// TokenResponse is the answer of the token endpoint.
type TokenResponse struct {
	AccessToken     string `json:"access_token"`
	TokenType       string `json:"token_type"`
	ExpiresIn       int64  `json:"expires_in"`
	RefreshToken    string `json:"refresh_token,omitempty"`
	IdentityCreated bool   `json:"identity_created"`
	IssuedTokenType string `json:"issued_token_type,omitempty"`
}

// ExchangeGrant is the name of the grant token_exchange in RFC 8693.
const ExchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"

// Further names of RFC 8693.
const (
	idTokenType     = "urn:ietf:params:oauth:token-type:id_token"
	accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
)

// Token answers a request to the token endpoint. The parameters are those of the body,
// without empty ones. A refusal is an *Error.
//
// Passwords can be guessed, so a client with too many failures is refused before its
// password is checked. The other credentials cannot be guessed: they are checked first,
// and only refused ones are counted.
func (g *Grants) Token(ctx context.Context, parameters map[string]string, client Client) (*TokenResponse, error) {
	mayCreate := true
	switch text, isGiven := parameters["create_if_not_exists"]; {
	case text == "false":
		mayCreate = false
	case isGiven && text != "true":
		return nil, InvalidRequest("create_if_not_exists must be true or false")
	}

	switch grant := parameters["grant_type"]; {
	case grant == "":
		return nil, InvalidRequest("grant_type is required")
	case grant == "refresh_token":
		return g.refresh(ctx, parameters, client)
	case grant == "password" && g.options.IsPasswordEnabled:
		return g.password(ctx, parameters, mayCreate, client)
	case grant == "second_factor", grant == passkeyGrant && g.accounts.passkeys.party != nil:
		return g.secondFactor(ctx, parameters, client)
	case grant == "token_exchange", grant == ExchangeGrant:
		return g.exchangeToken(ctx, parameters, mayCreate, client)
	case grant == "authorization_code":
		return g.redeemCode(ctx, parameters, client)
	}
	return nil, &Error{Status: http.StatusBadRequest, Code: "unsupported_grant_type", Description: "the grant type is not supported"}
}

// Revoke revokes the family of a refresh token. It does not reveal whether the family exists.
func (g *Grants) Revoke(ctx context.Context, token string) error {
	if !isSecret(token) {
		return nil
	}
	return g.store.Revoke(ctx, HashSecret(token), markOf(token))
}

// refusals of credentials: one text per grant, for all causes.
const (
	refusedRefreshToken = "the refresh token is not valid"
	refusedPassword     = "the identity does not exist or the credentials are incorrect"
	refusedIDToken      = "the identity does not exist or the ID token is not valid"
	unverifiedEmail     = "the e-mail address is not verified" // for the right password only
	refusedCode         = "the code, its verifier or its redirect URI is not valid"
)

func (g *Grants) refresh(ctx context.Context, parameters map[string]string, client Client) (*TokenResponse, error) {
	token := parameters["refresh_token"]
	if token == "" {
		return nil, InvalidRequest("refresh_token is required")
	}
	attempt := Attempt{Address: client.Address}

	var key []byte
	if isSecret(token) {
		var err error
		if key, err = g.store.FamilyKey(ctx, HashSecret(token), markOf(token)); err != nil {
			return nil, err
		}
	}
	if key == nil {
		return nil, g.fail(ctx, attempt, InvalidGrant(refusedRefreshToken))
	}
	var next []byte
	if g.options.IsRotating {
		next = HashSecret(successor(key, token))
	}
	refreshed, err := g.store.Refresh(ctx, HashSecret(token), next, markOf(token), g.options.RefreshTokenGrace, client)
	if err != nil {
		return nil, err
	}
	if refreshed.Outcome == RefreshReused {
		g.log.Warn("a superseded refresh token was used again; its family is revoked", "identity", refreshed.IdentityID, "address", client.Address)
	}
	if refreshed.Outcome != RefreshOK {
		return nil, g.fail(ctx, attempt, InvalidGrant(refusedRefreshToken))
	}
	for range refreshed.Steps {
		token = successor(key, token)
	}
	return g.respond(ctx, refreshed.IdentityID, key, token, false)
}

// exchangeToken accepts an ID token of a provider.
func (g *Grants) exchangeToken(ctx context.Context, parameters map[string]string, mayCreate bool, client Client) (*TokenResponse, error) {
	token := parameters["subject_token"]
	if token == "" {
		return nil, InvalidRequest("subject_token is required")
	}
	switch parameters["subject_token_type"] {
	case "", "id_token", idTokenType:
	default:
		return nil, unsupportedTokenType("subject_token_type")
	}
	switch parameters["requested_token_type"] {
	case "", "access_token", accessTokenType:
	default:
		return nil, unsupportedTokenType("requested_token_type")
	}
	attempt := Attempt{Address: client.Address}
	subject, err := g.subjects.ExchangeToken(ctx, token, mayCreate, client.Address)
	if err != nil {
		return nil, g.failIfRefused(ctx, attempt, err, refusedIDToken)
	}
	family := newFamily(g.options.RefreshTokenExpiry, client)
	family.SecondAt = subject.SecondFactorAt
	isStarted, err := g.store.Start(ctx, subject.IdentityID, family)
	if err != nil {
		return nil, err
	}
	if !isStarted {
		return nil, g.fail(ctx, attempt, InvalidGrant(refusedIDToken))
	}
	response, err := g.respond(ctx, subject.IdentityID, family.Key, family.Token, subject.IsNew)
	if err == nil && parameters["grant_type"] == ExchangeGrant {
		response.IssuedTokenType = accessTokenType
	}
	return response, err
}

func unsupportedTokenType(parameter string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "unsupported_token_type", Description: parameter + " is not supported"}
}

// redeemCode accepts a code that ended a sign-in by redirect.
func (g *Grants) redeemCode(ctx context.Context, parameters map[string]string, client Client) (*TokenResponse, error) {
	code := parameters["code"]
	if code == "" {
		return nil, InvalidRequest("code is required")
	}
	attempt := Attempt{Address: client.Address}
	family := newFamily(g.options.RefreshTokenExpiry, client)
	subject, err := g.subjects.RedeemCode(ctx, code, parameters["code_verifier"], parameters["redirect_uri"], family)
	if err != nil {
		return nil, g.failIfRefused(ctx, attempt, err, refusedCode)
	}
	return g.respond(ctx, subject.IdentityID, family.Key, family.Token, subject.IsNew)
}

// mustWait refuses a client that must wait. It also refuses a client whose failures
// cannot be counted.
func mustWait(wait time.Duration, err error) error {
	switch {
	case err != nil:
		return unavailable("the service is temporarily unavailable").because(fmt.Errorf("count failed attempts: %w", err))
	case wait > 0:
		return tooMany(wait)
	}
	return nil
}

// fail counts a failed attempt and returns the answer to it.
func (g *Grants) fail(ctx context.Context, attempt Attempt, refused *Error) error {
	if err := mustWait(g.store.Fail(ctx, attempt)); err != nil {
		return err
	}
	return refused
}

// failIfRefused counts an attempt with a refused credential, and returns the same refusal
// for all of them. Other errors are passed on.
func (g *Grants) failIfRefused(ctx context.Context, attempt Attempt, err error, refusal string) error {
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != "invalid_grant" {
		return err
	}
	return g.fail(ctx, attempt, InvalidGrant(refusal).because(refused.cause))
}

// respond answers with the tokens of a sign-in, which the key of its family identifies.
func (g *Grants) respond(ctx context.Context, identityID string, key []byte, refreshToken string, isNew bool) (*TokenResponse, error) {
	return g.respondTo(ctx, Identity{ID: identityID, Family: familyName(key)}, refreshToken, isNew)
}

// respondTo answers with the tokens of a sign-in; without a refresh token, the client keeps the one that it has.
func (g *Grants) respondTo(ctx context.Context, identity Identity, refreshToken string, isNew bool) (*TokenResponse, error) {
	shown, err := g.store.Shown(ctx, identity)
	if err != nil {
		return nil, err
	}
	token, _, err := g.tokens.issue(identity, shown)
	if err != nil {
		return nil, err
	}
	return &TokenResponse{
		AccessToken:     token,
		TokenType:       "Bearer",
		ExpiresIn:       int64(g.tokens.lifetime / time.Second),
		RefreshToken:    refreshToken,
		IdentityCreated: isNew,
	}, nil
}

// MaxPassword limits a password, in bytes.
const MaxPassword = 1024

// password accepts a password. A wrong password and an unknown address get the same
// answer, after the same work.
func (g *Grants) password(ctx context.Context, parameters map[string]string, mayCreate bool, client Client) (*TokenResponse, error) {
	username, password := parameters["username"], parameters["password"]
	switch {
	case username == "":
		return nil, InvalidRequest("username is required")
	case password == "":
		return nil, InvalidRequest("password is required")
	case len(password) > MaxPassword:
		return nil, InvalidRequest("the password is longer than %d bytes", MaxPassword)
	}
	email, ok := ParseEmail(username)
	if !ok {
		return nil, InvalidRequest("invalid email address")
	}
	raised, err := g.raised(ctx, parameters)
	if err != nil {
		return nil, err
	}
	mayCreate = mayCreate && g.options.IsSignupEnabled && raised.ID == ""
	attempt := Attempt{Account: email, Address: client.Address}

	// From here on the client's address holds its one place, so that attempts are counted
	// and looked up one at a time.
	leave, err := g.passwords.Enter(ctx, client.Address)
	if err != nil {
		return nil, err
	}
	defer leave()

	wait, known, err := g.store.Password(ctx, attempt)
	if err := mustWait(wait, err); err != nil {
		return nil, err
	}

	// An old password may be shorter than today's limit. A refusal as too short, for
	// unknown addresses only, would reveal which addresses are known.
	refused := InvalidGrant(refusedPassword)
	if mayCreate && utf8.RuneCountInString(password) < g.options.MinPasswordLength {
		mayCreate = false
		refused = InvalidRequest("the password is shorter than %d characters", g.options.MinPasswordLength)
	}
	if known.IdentityID == "" && mayCreate {
		isMeant := parameters["create_if_not_exists"] != "" // a mistyped address gets no mail
		response, err := g.signUp(ctx, attempt, password, isMeant, client)
		if response != nil || err != nil {
			return response, err
		}
		// Another request has taken the address since.
		wait, known, err = g.store.Password(ctx, attempt)
		if err := mustWait(wait, err); err != nil {
			return nil, err
		}
	}
	return g.signIn(ctx, attempt, known, password, raised, client, refused)
}

// signUp creates an identity, which is asked to prove its address if the sign-up is meant. It returns nothing if the
// address is taken.
func (g *Grants) signUp(ctx context.Context, attempt Attempt, password string, isMeant bool, client Client) (*TokenResponse, error) {
	hash, err := g.passwords.Hash(ctx, password)
	if err != nil {
		return nil, err
	}
	var family Family
	if g.options.Verification != VerificationRequired {
		family = newFamily(g.options.RefreshTokenExpiry, client)
	}
	var mailed Mailed
	if isMeant && g.options.Verification.SendsMail() {
		if mailed, err = g.accounts.verification(attempt.Account, client.Languages); err != nil {
			return nil, err
		}
	}
	wait, identityID, err := g.store.CreatePassword(ctx, attempt, hash, family, mailed)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, tooMany(wait)
	}
	if identityID == "" {
		return nil, nil
	}
	if g.options.Verification == VerificationRequired {
		return nil, InvalidGrant(unverifiedEmail)
	}
	return g.respond(ctx, identityID, family.Key, family.Token, true)
}

// raised returns the identity of the sign-in that a credential is to raise: the caller shows it again. It is
// empty without the parameter access_token.
func (g *Grants) raised(ctx context.Context, parameters map[string]string) (Identity, error) {
	token := parameters["access_token"]
	if token == "" {
		return Identity{}, nil
	}
	raised, err := g.tokens.Identify(ctx, []string{"Bearer " + token})
	var refused *Refusal
	if errors.As(err, &refused) || err == nil && raised.Family == "" {
		return Identity{}, InvalidGrant("the access token is not valid")
	}
	return raised, err
}

// signIn checks the password of an identity, or of an unknown address. It begins a sign-in, or raises one.
func (g *Grants) signIn(ctx context.Context, attempt Attempt, known Known, password string, raised Identity, client Client, refused *Error) (*TokenResponse, error) {
	if raised.ID != "" && raised.ID != known.IdentityID {
		known = Known{}
	}
	matches, err := g.passwords.Verify(ctx, known.Hash, password)
	if err != nil {
		return nil, err
	}
	if !matches {
		return nil, g.fail(ctx, attempt, refused)
	}
	if g.options.Verification == VerificationRequired && !known.IsVerified {
		// The first mail may be lost or expired.
		if err := g.accounts.askVerification(ctx, known.IdentityID, attempt, client.Languages); err != nil {
			return nil, err
		}
		return nil, InvalidGrant(unverifiedEmail)
	}
	newHash := ""
	if g.passwords.IsOutdated(known.Hash) {
		if newHash, err = g.passwords.Hash(ctx, password); err != nil {
			return nil, err
		}
	}
	family := newFamily(g.options.RefreshTokenExpiry, client)
	pending := NewSecret()
	wait, isAccepted, factors, err := g.store.AcceptPassword(ctx, attempt, known.IdentityID, known.Hash, newHash, family, raised.Family, HashSecret(pending))
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, tooMany(wait)
	}
	if !isAccepted {
		return nil, g.fail(ctx, attempt, refused)
	}
	if len(factors) > 0 {
		return nil, g.needsFactor(ctx, pending, factors)
	}
	if raised.ID != "" {
		return g.respondTo(ctx, raised, "", false)
	}
	return g.respond(ctx, known.IdentityID, family.Key, family.Token, false)
}
