package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/oauth2"
)

// How long the steps of a sign-in by redirect may take.
const (
	transactionLifetime = 10 * time.Minute // at the provider
	codeLifetime        = time.Minute      // from the browser's return to the grant
)

// maxState is how long the state of a client may be, in bytes.
const maxState = 1024

// Transaction is a browser that was sent to a provider.
type Transaction struct {
	Hash            []byte // SHA-256 of the state that the provider sends back
	Provider        string
	Target          string // where the browser goes in the end
	IsDynamic       bool   // whether the client named the target
	State           string // of the client; empty means that it sent none
	Challenge       string // of the client; empty means that it sent none
	ChallengeMethod string // S256 or plain, with a challenge
	Nonce           string
	Verifier        string // ours, towards the provider
	CookieHash      []byte // SHA-256 of the browser's cookie
}

// SignInStore keeps sign-ins between the requests that they are made of, and finds
// the identities that providers vouch for. Every moment it speaks of is that of its
// own clock. An error that is an ErrStoreUnavailable says that it may do better soon.
type SignInStore interface {
	// Begin keeps a transaction for a lifetime.
	Begin(ctx context.Context, t *Transaction, lifetime time.Duration) error

	// Take returns the transaction of a state and forgets it. It returns nil if there
	// is none, or its time is over.
	Take(ctx context.Context, stateHash []byte) (*Transaction, error)

	// Finish finds or creates the identity that a provider vouches for, and keeps a
	// code for it for a lifetime. It keeps none unless the outcome is Found or Created.
	Finish(ctx context.Context, v Vouched, t *Transaction, codeHash []byte, lifetime time.Duration) (Outcome, error)

	// Redeem trades a code for a family of refresh tokens, in one step, and consumes
	// it whatever comes of it. A code that was presented before revokes what was
	// issued for it. An address is compared only if the client named it when it began.
	Redeem(ctx context.Context, codeHash []byte, proof Proof, redirectURI string, family Family) (Redeemed, error)

	// Identity finds or creates the identity that a provider vouches for.
	Identity(ctx context.Context, v Vouched) (found Outcome, identityID string, wait time.Duration, err error)
}

// ErrStoreUnavailable is the error of a store that is out of reach or too slow.
var ErrStoreUnavailable = errors.New("the database is unavailable")

// Vouched is somebody whom a provider vouches for.
type Vouched struct {
	Token     *IDToken
	MayCreate bool   // whether an identity is created if there is none
	Address   string // of the client, for the count of created identities
}

// Outcome is what became of somebody whom a provider vouches for.
type Outcome string

// The outcomes.
const (
	Found     Outcome = "found"
	Created   Outcome = "created"
	Missing   Outcome = "missing" // and may not be created
	Conflict  Outcome = "refused" // another identity has a value that must be unique
	Throttled Outcome = "wait"    // too many identities were created at this address
)

// Redeemed is what became of a code that was presented.
type Redeemed struct {
	Outcome    RedeemOutcome
	IdentityID string
	IsNew      bool // the sign-in has created the identity
}

// RedeemOutcome tells how a code was judged.
type RedeemOutcome string

// The outcomes.
const (
	RedeemOK       RedeemOutcome = "ok"
	RedeemRefused  RedeemOutcome = "refused"
	RedeemReplayed RedeemOutcome = "replayed" // presented before; what was issued for it is revoked
)

// SignInOptions are what SignIns are made from.
type SignInOptions struct {
	BaseURL      string
	RedirectURL  string   // where sign-ins of providers end that have no address of their own; empty means none
	RedirectURIs []string // where they may end if there is none; empty means on the client's own machine
	PKCE         PKCE
	Providers    *Providers
	Store        SignInStore
	Log          *slog.Logger
}

// SignIns are sign-ins by redirect: the browser goes to a provider and comes back with
// a code, which its client trades for tokens.
type SignIns struct {
	options   SignInOptions
	redirects redirects
}

// NewSignIns makes sign-ins.
func NewSignIns(options SignInOptions) *SignIns {
	return &SignIns{options: options, redirects: redirects{options.RedirectURIs}}
}

// Departure is where a browser goes to sign in.
type Departure struct {
	Location      string
	Cookie        string // to be set; empty means none
	FromOtherSite bool   // whether the cookie must come with a form that the provider's page posts
}

// Begin begins a sign-in at the provider of that name. query is the query string of
// the request, cookie what the browser has of an earlier sign-in. An *Error is for a
// request that must not be answered by a redirect, since it is not known where to.
func (s *SignIns) Begin(ctx context.Context, name, query, cookie string) (Departure, error) {
	provider := s.options.Providers.Find(name)
	switch {
	case provider == nil:
		return Departure{}, InvalidRequest("there is no such provider")
	case !provider.signsIn():
		return Departure{}, InvalidRequest("the provider is configured without a secret, so that only its ID tokens are taken")
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return Departure{}, InvalidRequest("the query could not be read")
	}

	t := &Transaction{Provider: name}
	if err := s.setTarget(t, provider, parameters["redirect_uri"]); err != nil {
		return Departure{}, err
	}
	// Now it is known where to send the browser, be it with an error.
	if states := parameters["state"]; len(states) == 1 {
		t.State = states[0]
	}
	if code, description := s.readRequest(t, parameters); code != "" {
		return Departure{Location: s.failed(t, code, description)}, nil
	}

	state := NewSecret()
	t.Hash, t.Nonce, t.Verifier = HashSecret(state), NewSecret(), oauth2.GenerateVerifier()
	if !isSecret(cookie) {
		cookie = NewSecret()
	}
	t.CookieHash = HashSecret(cookie)

	config, err := provider.config(ctx, s.callbackURL(name))
	if err != nil {
		return Departure{Location: s.failedAt(ctx, t, provider, "begin a sign-in", err)}, nil
	}
	if err := s.options.Store.Begin(ctx, t, transactionLifetime); err != nil {
		return Departure{Location: s.failedAt(ctx, t, provider, "begin a sign-in", err)}, nil
	}
	isForm := provider.options.ResponseMode == ResponseFormPost
	extra := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(t.Verifier), oauth2.SetAuthURLParam("nonce", t.Nonce)}
	if isForm {
		extra = append(extra, oauth2.SetAuthURLParam("response_mode", string(ResponseFormPost)))
	}
	return Departure{Location: config.AuthCodeURL(state, extra...), Cookie: cookie, FromOtherSite: isForm}, nil
}

// setTarget finds where the sign-in ends. What a client asks for counts only where
// the configuration does not say it.
func (s *SignIns) setTarget(t *Transaction, provider *Provider, asked []string) error {
	t.Target = provider.options.RedirectURL
	if t.Target == "" {
		t.Target = s.options.RedirectURL
	}
	if t.Target != "" {
		return nil
	}
	switch {
	case len(asked) > 1:
		return InvalidRequest("redirect_uri is given more than once")
	case len(asked) == 0 || asked[0] == "":
		return InvalidRequest("redirect_uri is required")
	case !s.redirects.allows(asked[0]):
		return InvalidRequest("redirect_uri is not allowed")
	}
	t.Target, t.IsDynamic = asked[0], true
	return nil
}

// readRequest reads what a client asks for, beside where to. It returns the error
// that the client is sent, or nothing.
func (s *SignIns) readRequest(t *Transaction, parameters url.Values) (code, description string) {
	for _, name := range []string{"redirect_uri", "state", "code_challenge", "code_challenge_method", "response_type"} {
		if len(parameters[name]) > 1 {
			return errInvalidRequest, name + " is given more than once"
		}
	}
	if len(t.State) > maxState {
		return errInvalidRequest, "state is too long"
	}
	if !utf8.ValidString(t.State) || strings.ContainsRune(t.State, 0) {
		return errInvalidRequest, "state is malformed"
	}
	if kind := parameters.Get("response_type"); kind != "" && kind != "code" {
		return "unsupported_response_type", "response_type must be code"
	}
	t.Challenge = parameters.Get("code_challenge")
	var err error
	if t.ChallengeMethod, err = s.options.PKCE.checkChallenge(t.Challenge, parameters.Get("code_challenge_method")); err != nil {
		return errInvalidRequest, err.Error()
	}
	return "", ""
}

// The errors that a client is sent.
const (
	errInvalidRequest = "invalid_request"
	errAccessDenied   = "access_denied"
	errServer         = "server_error"
	errUnavailable    = "temporarily_unavailable"
)

func (s *SignIns) callbackURL(name string) string {
	return s.options.BaseURL + "/auth/callback/" + name
}

// failed is where a browser goes whose sign-in failed.
func (s *SignIns) failed(t *Transaction, code, description string) string {
	return redirectTo(t.Target, parameter{"error", code}, parameter{"error_description", description},
		parameter{"state", t.State}, parameter{"iss", s.options.BaseURL})
}

// failedAt is failed for an error of the provider or of ours, which it logs.
func (s *SignIns) failedAt(ctx context.Context, t *Transaction, provider *Provider, doing string, err error) string {
	var code, description string
	level := slog.LevelWarn
	switch {
	case isUnreachable(err):
		code, description = errUnavailable, "the provider is out of reach"
	case errors.Is(err, ErrStoreUnavailable):
		code, description = errUnavailable, "the service is temporarily unavailable"
	default:
		code, description, level = errServer, "an internal error occurred", slog.LevelError
	}
	s.options.Log.Log(ctx, level, "sign-in failed", "provider", provider.options.Name, "doing", doing, "error", err)
	return s.failed(t, code, description)
}

// Finish ends a sign-in: the browser is back from the provider of that name, with
// these parameters, its cookie, and from that address. It returns where the browser
// goes. An *Error is for a request that must not be answered by a redirect, since it is
// not known whose browser this is; any other error is one of the store.
func (s *SignIns) Finish(ctx context.Context, name string, parameters url.Values, cookie, address string) (location string, err error) {
	provider := s.options.Providers.Find(name)
	if provider == nil || !provider.signsIn() {
		return "", InvalidRequest("there is no such provider")
	}
	for _, name := range []string{"state", "code", "error", "iss"} {
		if len(parameters[name]) > 1 {
			return "", InvalidRequest("%s is given more than once", name)
		}
	}
	state := parameters.Get("state")
	if !isSecret(state) {
		return "", errUnknownSignIn
	}
	t, err := s.options.Store.Take(ctx, HashSecret(state))
	if err != nil {
		return "", fmt.Errorf("take up a sign-in: %w", err)
	}
	if t == nil || t.Provider != name || subtle.ConstantTimeCompare(t.CookieHash, HashSecret(cookie)) != 1 {
		return "", errUnknownSignIn
	}

	if code := parameters.Get("error"); code != "" {
		if code == errAccessDenied {
			return s.failed(t, errAccessDenied, "the sign-in was refused"), nil
		}
		s.options.Log.WarnContext(ctx, "sign-in failed", "provider", name, "doing", "sign in at the provider", "error", errorCode(code))
		return s.failed(t, errServer, "the provider could not complete the sign-in"), nil
	}
	return s.complete(ctx, provider, t, parameters, address), nil
}

var errUnknownSignIn = InvalidRequest("the sign-in is unknown, was completed already, or began in another browser or too long ago")

// complete asks the provider who has signed in, and mints a code for that.
func (s *SignIns) complete(ctx context.Context, provider *Provider, t *Transaction, parameters url.Values, address string) string {
	token, err := s.identify(ctx, provider, t, parameters)
	switch {
	case isUnreachable(err):
		return s.failedAt(ctx, t, provider, "ask the provider who has signed in", err)
	case err != nil:
		s.options.Log.WarnContext(ctx, "sign-in failed", "provider", t.Provider, "doing", "ask the provider who has signed in", "error", err)
		return s.failed(t, errAccessDenied, "the provider's answer was refused")
	}

	code := NewSecret()
	vouched := Vouched{Token: token, MayCreate: true, Address: address}
	outcome, err := s.options.Store.Finish(ctx, vouched, t, HashSecret(code), codeLifetime)
	switch {
	case err != nil:
		return s.failedAt(ctx, t, provider, "find or create the identity", err)
	case outcome == Conflict:
		return s.failed(t, errAccessDenied, "another identity has a value that must be unique")
	case outcome == Throttled:
		return s.failed(t, errUnavailable, "too many identities were created, try again later")
	case outcome != Found && outcome != Created:
		return s.failedAt(ctx, t, provider, "find or create the identity", fmt.Errorf("the store answers %q", outcome))
	}
	return redirectTo(t.Target, parameter{"code", code}, parameter{"state", t.State}, parameter{"iss", s.options.BaseURL})
}

// identify trades the provider's code for its ID token, and verifies that this is the
// answer to the request which this browser was sent with.
func (s *SignIns) identify(ctx context.Context, provider *Provider, t *Transaction, parameters url.Values) (*IDToken, error) {
	d, err := provider.issuer.discover(ctx)
	if err != nil {
		return nil, err
	}
	// RFC 9207: a code that another provider has issued goes to none.
	from := parameters.Get("iss")
	if from != "" && issuerKey(from) != provider.issuer.url || from == "" && d.SendsIssuer {
		return nil, errors.New("the answer is not the provider's")
	}
	code := parameters.Get("code")
	if code == "" {
		return nil, errors.New("the provider sent neither a code nor an error")
	}
	idToken, err := provider.exchange(ctx, s.callbackURL(t.Provider), code, t.Verifier)
	if err != nil {
		return nil, err
	}
	token, err := provider.verifyOwn(ctx, idToken, s.options.Providers.now())
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(t.Nonce)) != 1 {
		return nil, refuseIDToken("its nonce is not this sign-in's")
	}
	return token, nil
}
