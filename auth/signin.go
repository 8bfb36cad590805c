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

// Limits for the steps of a sign-in by redirect.
const (
	transactionLifetime = 10 * time.Minute // at the provider
	codeLifetime        = time.Minute      // from the browser's return to the grant
)

// maxState limits the state of a client, in bytes.
const maxState = 1024

// SignInStore keeps sign-ins between their requests, and finds the identities that
// providers vouch for. All its times are of its own clock. An ErrStoreUnavailable means
// that it may succeed soon.
type SignInStore interface {
	// Now returns the time of its clock.
	Now(ctx context.Context) (time.Time, error)

	// Take notes that the browser of a transaction is back. It fails if the browser was
	// back before, or if the transaction has expired.
	Take(ctx context.Context, t *Transaction) (isTaken bool, err error)

	// Forget reverts Take.
	Forget(ctx context.Context, t *Transaction) error

	// Finish finds or creates the identity that a provider vouches for, and keeps a code
	// for it for a lifetime. It keeps no code unless the outcome is Found or Created.
	Finish(ctx context.Context, v Vouched, t *Transaction, codeHash []byte, lifetime time.Duration) (Outcome, error)

	// Redeem trades a code for a family of refresh tokens, atomically, and always
	// consumes it. A code that was used before revokes the tokens issued for it. The
	// address is compared only if the client named one at the beginning.
	Redeem(ctx context.Context, codeHash []byte, proof Proof, redirectURI string, family Family) (Redeemed, error)

	// Identity finds or creates the identity that a provider vouches for.
	Identity(ctx context.Context, v Vouched) (found Outcome, identityID string, wait time.Duration, err error)
}

// ErrStoreUnavailable is the error of a store that is out of reach or too slow.
var ErrStoreUnavailable = errors.New("the database is unavailable")

// Vouched is a person that a provider vouches for.
type Vouched struct {
	Token     *IDToken
	MayCreate bool   // whether a missing identity is created
	Address   string // of the client, to count created identities
}

// Outcome is the result for a person that a provider vouches for.
type Outcome string

// The outcomes.
const (
	Found     Outcome = "found"
	Created   Outcome = "created"
	Missing   Outcome = "missing" // and may not be created
	Conflict  Outcome = "refused" // another identity has a value that must be unique
	Throttled Outcome = "wait"    // too many identities were created at this address
)

// Redeemed is the result for a code.
type Redeemed struct {
	Outcome    RedeemOutcome
	IdentityID string
	IsNew      bool // the sign-in has created the identity
}

// RedeemOutcome is the verdict on a code.
type RedeemOutcome string

// The outcomes.
const (
	RedeemOK       RedeemOutcome = "ok"
	RedeemRefused  RedeemOutcome = "refused"
	RedeemReplayed RedeemOutcome = "replayed" // used before; the tokens issued for it are revoked
)

// SignInOptions configure SignIns.
type SignInOptions struct {
	BaseURL      string
	RedirectURL  string   // for sign-ins of providers without an address of their own; empty means none
	RedirectURIs []string // possible ends if there is none; empty means on the client's own machine
	PKCE         PKCE
	SigningKey   []byte // PEM; seals the cookies of browsers that are away
	Providers    *Providers
	Store        SignInStore
	Log          *slog.Logger
}

// SignIns are sign-ins by redirect: the browser goes to a provider and comes back with a
// code, which its client trades for tokens.
type SignIns struct {
	options    SignInOptions
	redirects  redirects
	departures *departures
	links      *seal
}

// NewSignIns makes sign-ins. It fails on a signing key that cannot be read.
func NewSignIns(options SignInOptions) (*SignIns, error) {
	departures, err := newDepartures(options.SigningKey, options.BaseURL)
	if err != nil {
		return nil, err
	}
	links, err := newSeal(options.SigningKey, options.BaseURL, sealOfLinks)
	return &SignIns{options: options, redirects: redirects{options.RedirectURIs}, departures: departures, links: links}, err
}

// Departure sends a browser to sign in.
type Departure struct {
	Location      string
	Cookies       []Cookie // to be set, for as long as CookieLifetime
	FromOtherSite bool     // whether a form that the provider's page posts must include them
}

// CookieLifetime is the lifetime of a departure's cookies.
const CookieLifetime = transactionLifetime

// Return is the end of a sign-in for a browser.
type Return struct {
	Location string   // empty with an error
	Cookies  []Cookie // to delete
}

// Begin begins a sign-in at the provider of that name. query is the query string of the
// request, brought the browser's cookies of other sign-ins. An *Error is for a request
// that must not be answered by a redirect, since the target is unknown.
func (s *SignIns) Begin(ctx context.Context, name, query string, brought []Cookie) (Departure, error) {
	provider := s.options.Providers.Find(name)
	switch {
	case provider == nil:
		return Departure{}, InvalidRequest("unknown provider")
	case !provider.signsIn():
		return Departure{}, InvalidRequest("this provider is configured without a secret, and accepts only ID tokens")
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return Departure{}, InvalidRequest("the query could not be read")
	}

	t := &Transaction{Provider: name}
	if err := s.setTarget(t, provider, parameters["redirect_uri"]); err != nil {
		return Departure{}, err
	}
	// From here on the target for the browser is known, even for an error.
	if states := parameters["state"]; len(states) == 1 {
		t.State = states[0]
	}
	if code, description := s.readRequest(t, parameters); code != "" {
		return Departure{Location: s.failed(t, code, description)}, nil
	}

	state := NewSecret()
	t.Hash, t.Nonce, t.Verifier = HashSecret(state), NewSecret(), oauth2.GenerateVerifier()

	config, err := provider.config(ctx, s.callbackURL(name))
	if err != nil {
		return Departure{Location: s.failedAt(ctx, t, provider, "begin a sign-in", err)}, nil
	}
	now, err := s.options.Store.Now(ctx)
	if err != nil {
		return Departure{Location: s.failedAt(ctx, t, provider, "begin a sign-in", err)}, nil
	}
	if t.Link = parameters.Get(LinkParameter); t.Link != "" {
		if l, ok := openLink(s.links, t.Link); !ok || l.Subject != "" || l.Ends <= now.UnixMicro() {
			return Departure{Location: s.failed(t, errInvalidRequest, "the link is not valid")}, nil
		}
	}
	t.Ends = now.Add(transactionLifetime)
	cookies, err := s.departures.depart(t, brought, now)
	if err != nil {
		return Departure{Location: s.failedAt(ctx, t, provider, "begin a sign-in", err)}, nil
	}
	isForm := provider.options.ResponseMode == ResponseFormPost
	extra := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(t.Verifier), oauth2.SetAuthURLParam("nonce", t.Nonce)}
	if isForm {
		extra = append(extra, oauth2.SetAuthURLParam("response_mode", string(ResponseFormPost)))
	}
	return Departure{Location: config.AuthCodeURL(state, extra...), Cookies: cookies, FromOtherSite: isForm}, nil
}

// setTarget finds where the sign-in ends. The configuration takes precedence over the
// client's request.
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

// readRequest reads the request of a client, except for the target. It returns the error
// for the client, or nothing.
func (s *SignIns) readRequest(t *Transaction, parameters url.Values) (code, description string) {
	for _, name := range []string{"redirect_uri", "state", "code_challenge", "code_challenge_method", "response_type", LinkParameter} {
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

// The errors for clients.
const (
	errInvalidRequest = "invalid_request"
	errAccessDenied   = "access_denied"
	errServer         = "server_error"
	errUnavailable    = "temporarily_unavailable"
)

func (s *SignIns) callbackURL(name string) string {
	return s.options.BaseURL + "/auth/callback/" + name
}

// failed returns where a browser goes after a failed sign-in.
func (s *SignIns) failed(t *Transaction, code, description string) string {
	return redirectTo(t.Target, parameter{"error", code}, parameter{"error_description", description},
		parameter{"state", t.State}, parameter{"iss", s.options.BaseURL})
}

// failedAt is failed for an error of the provider or of this service, which it logs.
func (s *SignIns) failedAt(ctx context.Context, t *Transaction, provider *Provider, doing string, err error) string {
	var code, description string
	level := slog.LevelWarn
	switch {
	case isUnreachable(err):
		code, description = errUnavailable, "the provider cannot be reached"
	case errors.Is(err, ErrStoreUnavailable):
		code, description = errUnavailable, "the service is temporarily unavailable"
	default:
		code, description, level = errServer, "an internal error occurred", slog.LevelError
	}
	s.options.Log.Log(ctx, level, "sign-in failed", "provider", provider.options.Name, "doing", doing, "error", err)
	return s.failed(t, code, description)
}

// Finish ends a sign-in: the browser is back from the provider of that name, with these
// parameters, its sign-in cookies, and from that address. An *Error is for a request that
// must not be answered by a redirect, since its sign-in is unknown; any other error is
// one of the store.
func (s *SignIns) Finish(ctx context.Context, name string, parameters url.Values, brought []Cookie, address string) (Return, error) {
	provider := s.options.Providers.Find(name)
	if provider == nil || !provider.signsIn() {
		return Return{}, InvalidRequest("unknown provider")
	}
	for _, name := range []string{"state", "code", "error", "iss"} {
		if len(parameters[name]) > 1 {
			return Return{}, InvalidRequest("%s is given more than once", name)
		}
	}
	state := parameters.Get("state")
	if !isSecret(state) {
		return Return{}, errUnknownSignIn
	}
	departed := s.departures.find(brought, HashSecret(state))
	over := Return{Cookies: departed.over()} // in any case
	t := departed.transaction
	if t == nil || t.Provider != name {
		return over, errUnknownSignIn
	}
	isTaken, err := s.options.Store.Take(ctx, t)
	if err != nil {
		return Return{}, fmt.Errorf("take up a sign-in: %w", err)
	}
	if !isTaken {
		return over, errUnknownSignIn
	}

	token, failed := s.hear(ctx, provider, t, parameters)
	if token != nil {
		over.Location = s.complete(ctx, provider, t, token, address)
		return over, nil
	}
	// The provider vouched for nobody, so a client may send such requests in bulk.
	if err := s.options.Store.Forget(ctx, t); err != nil {
		s.options.Log.WarnContext(ctx, "forget a sign-in that failed", "provider", name, "error", err)
	}
	over.Location = failed
	return over, nil
}

var errUnknownSignIn = InvalidRequest("the sign-in is unknown, expired, already completed, or began in another browser")

// hear reads the provider's answer. It returns the token, or without one the address for
// the browser.
func (s *SignIns) hear(ctx context.Context, provider *Provider, t *Transaction, parameters url.Values) (token *IDToken, failed string) {
	if code := parameters.Get("error"); code != "" {
		if code == errAccessDenied {
			return nil, s.failed(t, errAccessDenied, "the sign-in was refused")
		}
		s.options.Log.WarnContext(ctx, "sign-in failed", "provider", t.Provider, "doing", "sign in at the provider", "error", errorCode(code))
		return nil, s.failed(t, errServer, "the provider could not complete the sign-in")
	}
	token, err := s.identify(ctx, provider, t, parameters)
	switch {
	case isUnreachable(err):
		return nil, s.failedAt(ctx, t, provider, "ask the provider who has signed in", err)
	case err != nil:
		s.options.Log.WarnContext(ctx, "sign-in failed", "provider", t.Provider, "doing", "ask the provider who has signed in", "error", err)
		return nil, s.failed(t, errAccessDenied, "the provider's answer is not valid")
	}
	return token, ""
}

// complete mints a code for the person that the provider vouches for.
func (s *SignIns) complete(ctx context.Context, provider *Provider, t *Transaction, token *IDToken, address string) string {
	if t.Link != "" {
		code, err := s.linked(ctx, t, token)
		if err != nil {
			return s.failedAt(ctx, t, provider, "link an identity", err)
		}
		return s.done(t, code)
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
	return s.done(t, code)
}

// done returns where a browser goes with a code.
func (s *SignIns) done(t *Transaction, code string) string {
	return redirectTo(t.Target, parameter{"code", code}, parameter{"state", t.State}, parameter{"iss", s.options.BaseURL})
}

// identify trades the provider's code for its ID token, and verifies that it answers the
// request that this browser was sent with.
func (s *SignIns) identify(ctx context.Context, provider *Provider, t *Transaction, parameters url.Values) (*IDToken, error) {
	d, err := provider.issuer.discover(ctx)
	if err != nil {
		return nil, err
	}
	// RFC 9207: never send a code to a provider that did not issue it.
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
