package auth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/sternpost/sternpost/auth/mail"
)

// The lifetimes of tokens that are sent to an e-mail address.
const (
	resetLifetime        = time.Hour
	verificationLifetime = 24 * time.Hour
)

// Accounts let people manage what they sign in with: prove and change their e-mail
// address, set a new password, end their sign-ins. They may be used concurrently.
//
// A refusal is an *InputError, a *ConflictError, a *Refusal or an *Error.
type Accounts struct {
	Templates func() (*mail.Templates, error) // of mails

	store     AccountStore
	passwords *Passwords
	redirects redirects
	seal      *seal
	links     *seal
	passkeys  passkeys
	options   AccountOptions
}

// AccountOptions are the requirements of an account, and the targets of mails.
type AccountOptions struct {
	BaseURL           string
	VerificationURL   string   // the page that proves an address; empty means the service's own page
	RedirectURIs      []string // pages of a client for a new password; empty means on the client's own machine
	SigningKey        []byte   // PEM; seals mails in the queue
	MinPasswordLength int      // for a new one, in characters
	Name              string   // of the service, for people
	Secrets           Secrets  // nil means that there are no authenticator apps
	Passkeys          PasskeyOptions
}

// VerificationPath is the path of the service's own page that proves an address, or accepts an invitation, whose token is
// in another parameter.
const (
	VerificationPath    = "/auth/verify"
	InvitationParameter = "invitation"
)

// AccountStore keeps the data of accounts. It is a Store, and the rules for a Store apply.
type AccountStore interface {
	Store
	LinkStore

	// AskReset keeps a token for the identity that signs in with the e-mail address of
	// the attempt, and the mail with the token. It does not reveal whether the account
	// exists, not even by its duration. It counts like a failure.
	AskReset(ctx context.Context, attempt Attempt, m Mailed) (wait time.Duration, err error)

	// AskVerification does the same for an identity that has this address and has not
	// proven it.
	AskVerification(ctx context.Context, identityID string, attempt Attempt, m Mailed) (wait time.Duration, err error)

	// AskChange does the same for the new address of an identity, which is the account of
	// the attempt. notice is the mail to the old one. Nothing is kept if the identity has
	// another address or hash by now.
	AskChange(ctx context.Context, identityID, email, hash string, attempt Attempt, m Mailed, notice []byte) (wait time.Duration, isAsked bool, err error)

	// IsReset tells whether a token would set a new password.
	IsReset(ctx context.Context, tokenHash []byte) (bool, error)

	// Reset sets a new password by a token, which is used up, and ends all sign-ins. It
	// does nothing if the token is not valid. address is that of the client.
	Reset(ctx context.Context, tokenHash []byte, newHash, address string) (isSet bool, err error)

	// Proof returns the account whose address a token would prove; the id is empty if the token is not valid.
	Proof(ctx context.Context, tokenHash []byte) (Proven, error)

	// Verify proves an e-mail address by a token, which is used up, and ends all sign-ins but one. It refuses if the
	// identity has another hash by now; an empty one is not compared.
	Verify(ctx context.Context, tokenHash []byte, hash string, spared []byte) (VerifyOutcome, error)

	// Invited returns what a token invites.
	Invited(ctx context.Context, tokenHash []byte) (Invited, error)

	// Accept accepts an invitation, all or nothing.
	Accept(ctx context.Context, tokenHash []byte, acceptance Acceptance) (Accepted, error)

	// Disown takes an address from the account that a stranger has made with it, by a token, which is used up.
	Disown(ctx context.Context, tokenHash []byte) (isDone bool, err error)

	// Account returns the account of a caller.
	Account(ctx context.Context, caller Identity) (Account, error)

	// ChangePassword replaces a hash, and ends all sign-ins but one. It does nothing if
	// the identity has another hash by now.
	ChangePassword(ctx context.Context, identityID, hash, newHash string, spared []byte, attempt Attempt) (wait time.Duration, isChanged bool, err error)

	// SignOut ends all sign-ins of an identity. isThere is false if it was deleted.
	SignOut(ctx context.Context, identityID string) (isThere bool, err error)

	// Sessions returns the sign-ins of a caller, as JSON.
	Sessions(ctx context.Context, caller Identity) (json.RawMessage, error)

	// EndSession ends a sign-in of a caller, or for nil all but the caller's own. For others it fails as a FactorStore does.
	EndSession(ctx context.Context, caller Identity, session *string) (isDone bool, err error)
}

// Mailed is a token on its way to an e-mail address.
type Mailed struct {
	TokenHash []byte
	Lifetime  time.Duration
	Content   []byte // the mail, sealed
}

// Account is the account of an identity before a change.
type Account struct {
	IsThere    bool
	IsOver     bool // the access token is
	Email      string
	IsVerified bool
	IsPassword bool // it signs in by password
}

// label is what an authenticator calls the account of a caller.
func (a Account) label(caller Caller) string {
	return cmp.Or(a.Email, caller.ID)
}

// Proven is an account whose address is about to be proven.
type Proven struct {
	IdentityID string
	Email      string // at present
	CreatedAt  time.Time
}

// VerifyOutcome is the result for a token that proves an address.
type VerifyOutcome string

// The outcomes.
const (
	VerifyOK      VerifyOutcome = "ok"
	VerifyRefused VerifyOutcome = "refused"
	VerifyTaken   VerifyOutcome = "taken" // by another identity
)

// NewAccounts makes accounts. templates returns the templates of mails. It fails on a signing
// key that cannot be read.
func NewAccounts(store AccountStore, passwords *Passwords, templates func() (*mail.Templates, error), options AccountOptions) (*Accounts, error) {
	own, err := newSeal(options.SigningKey, options.BaseURL, "sternpost mails")
	if err != nil {
		return nil, err
	}
	links, err := newSeal(options.SigningKey, options.BaseURL, sealOfLinks)
	if err != nil {
		return nil, err
	}
	keys, err := newPasskeys(options)
	if err != nil {
		return nil, err
	}
	return &Accounts{
		store: store, passwords: passwords, Templates: templates,
		redirects: redirects{options.RedirectURIs}, seal: own, links: links, passkeys: keys, options: options,
	}, nil
}

// InputError refuses an input.
type InputError struct {
	Field, Problem string
	Code           string // the kind of problem, for programs
	Params         string // what belongs to a problem of that kind, as a JSON object; empty for nothing
}

// Error says which input is refused and why.
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }

// ConflictError refuses a request that the state of the account does not allow. Its text
// is for the client.
type ConflictError struct{ message string }

// Error is the message for the client.
func (e *ConflictError) Error() string { return e.message }

// The conflicts.
var (
	ErrNoPassword = &ConflictError{"the identity does not sign in by password"}
	ErrTaken      = &ConflictError{"the e-mail address belongs to another identity"}
)

// refused inputs, one text for all causes.
var (
	errToken       = &InputError{Field: "token", Code: "incorrect", Problem: "is not valid"}
	errEmail       = &InputError{Field: "email", Code: "format", Params: `{"format":"email"}`, Problem: "is not an e-mail address"}
	errRedirectURL = &InputError{Field: "redirectUrl", Code: "notAllowed", Problem: "is not an allowed address"}
)

// ErrMachine refuses the key of a machine, which is not a sign-in.
var ErrMachine = errors.New("the key of a machine has no session")

// ErrUnknownSession refuses the name of a sign-in that the caller does not have.
var ErrUnknownSession = errors.New("the caller has no such session")

// Client is what is known about a client.
type Client struct {
	Address   string // of the client
	Languages string // the header Accept-Language
	Agent     string // the header User-Agent; empty if it sent none
}

// Caller is a client that has shown a token.
type Caller struct {
	Client
	Identity
}

// RequestPasswordReset has a mail sent with a link to redirectURL, which holds a token for
// a new password. It does not reveal whether the account exists.
func (a *Accounts) RequestPasswordReset(ctx context.Context, username, redirectURL string, client Client) error {
	email, ok := ParseEmail(username)
	if !ok {
		return errEmail
	}
	if !a.redirects.allows(redirectURL) {
		return errRedirectURL
	}
	mailed, err := a.write(mail.ResetPassword, email, redirectURL, resetLifetime, client.Languages)
	if err != nil {
		return err
	}
	return mustWait(a.store.AskReset(ctx, Attempt{Account: email, Address: client.Address}, mailed))
}

// ResetPassword sets a new password with the token from such a link.
func (a *Accounts) ResetPassword(ctx context.Context, token, password string, client Client) error {
	if err := a.checkNew(password); err != nil {
		return err
	}
	// Do not compute a hash for an invalid token.
	isReset := false
	if isSecret(token) {
		var err error
		if isReset, err = a.store.IsReset(ctx, HashSecret(token)); err != nil {
			return err
		}
	}
	if !isReset {
		return a.refuseToken(ctx, client)
	}
	leave, err := a.passwords.Enter(ctx, client.Address)
	if err != nil {
		return err
	}
	defer leave()
	hash, err := a.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	isSet, err := a.store.Reset(ctx, HashSecret(token), hash, client.Address)
	if err == nil && !isSet {
		return a.refuseToken(ctx, client)
	}
	return err
}

// checkNew checks a new password. The maximum length is checked with the form of the input.
func (a *Accounts) checkNew(password string) error {
	if utf8.RuneCountInString(password) < a.options.MinPasswordLength {
		least := a.options.MinPasswordLength
		return &InputError{
			Field: "password", Code: "minLength", Params: fmt.Sprintf(`{"limit":%d}`, least), Problem: fmt.Sprintf("String length must be at least %d", least),
		}
	}
	return nil
}

// refuseToken counts an invalid token, and refuses it.
func (a *Accounts) refuseToken(ctx context.Context, client Client) error {
	if err := mustWait(a.store.Fail(ctx, Attempt{Address: client.Address})); err != nil {
		return err
	}
	return errToken
}

// RequestVerification has a link sent that proves the caller's e-mail address. It sends
// nothing if the address is proven.
func (a *Accounts) RequestVerification(ctx context.Context, caller Caller) error {
	account, err := a.account(ctx, caller)
	if err != nil || account.IsVerified {
		return err
	}
	return a.askVerification(ctx, caller.ID, Attempt{Account: account.Email, Address: caller.Address}, caller.Languages)
}

func (a *Accounts) askVerification(ctx context.Context, identityID string, attempt Attempt, languages string) error {
	mailed, err := a.verification(attempt.Account, languages)
	if err != nil {
		return err
	}
	return mustWait(a.store.AskVerification(ctx, identityID, attempt, mailed))
}

// verification writes the mail with the link that proves an address.
func (a *Accounts) verification(email, languages string) (Mailed, error) {
	return a.write(mail.VerifyEmail, email, a.verificationURL(), verificationLifetime, languages)
}

func (a *Accounts) verificationURL() string {
	if a.options.VerificationURL != "" {
		return a.options.VerificationURL
	}
	return a.options.BaseURL + VerificationPath
}

// Proof returns the account whose address a token from a mail would prove.
func (a *Accounts) Proof(ctx context.Context, token string, client Client) (Proven, error) {
	var proven Proven
	if isSecret(token) {
		var err error
		if proven, err = a.store.Proof(ctx, HashSecret(token)); err != nil {
			return Proven{}, err
		}
	}
	if proven.IdentityID == "" {
		return Proven{}, a.refuseToken(ctx, client)
	}
	return proven, nil
}

// VerifyEmail proves an address with the token from a link that was sent there, for somebody to whom the account belongs:
// a caller who is signed in to it, or gives its password. It ends all other sign-ins.
func (a *Accounts) VerifyEmail(ctx context.Context, token, password string, caller Caller) error {
	proven, err := a.Proof(ctx, token, caller.Client)
	if err != nil {
		return err
	}
	var hash string
	var spared []byte
	switch {
	case caller.ID == proven.IdentityID:
		if _, err := a.look(ctx, caller); err != nil {
			return err
		}
		spared = keyHashOf(caller.Family)
	case password == "":
		return &InputError{Field: "password", Code: "required", Problem: "is required unless the caller is signed in to the account"}
	default:
		leave, err := a.passwords.Enter(ctx, caller.Address)
		if err != nil {
			return err
		}
		defer leave()
		owner := Caller{Client: caller.Client, Identity: Identity{ID: proven.IdentityID}}
		if hash, err = a.checkOld(ctx, "password", password, Attempt{Account: proven.Email, Address: caller.Address}, owner); err != nil {
			return err
		}
	}
	outcome, err := a.store.Verify(ctx, HashSecret(token), hash, spared)
	switch {
	case err != nil:
		return err
	case outcome == VerifyTaken:
		return ErrTaken
	case outcome == VerifyRefused:
		return a.refuseToken(ctx, caller.Client)
	}
	return nil
}

// Disown takes an address from the account that a stranger has made with it, with the token from a link that was sent
// there. The account loses its password and its sign-ins.
func (a *Accounts) Disown(ctx context.Context, token string, client Client) error {
	if _, err := a.Proof(ctx, token, client); err != nil {
		return err
	}
	isDone, err := a.store.Disown(ctx, HashSecret(token))
	if err == nil && !isDone {
		return a.refuseToken(ctx, client)
	}
	return err
}

// ChangePassword sets a new password for a caller who knows the old one, and ends all other
// sign-ins.
func (a *Accounts) ChangePassword(ctx context.Context, oldPassword, password string, caller Caller) error {
	if err := a.checkNew(password); err != nil {
		return err
	}
	account, err := a.account(ctx, caller)
	if err != nil {
		return err
	}
	leave, err := a.passwords.Enter(ctx, caller.Address)
	if err != nil {
		return err
	}
	defer leave()
	attempt := Attempt{Account: account.Email, Address: caller.Address}
	old, err := a.checkOld(ctx, "oldPassword", oldPassword, attempt, caller)
	if err != nil {
		return err
	}
	hash, err := a.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	wait, isChanged, err := a.store.ChangePassword(ctx, caller.ID, old, hash, keyHashOf(caller.Family), attempt)
	if err != nil {
		return err
	}
	if wait == 0 && !isChanged {
		return a.refusePassword(ctx, "oldPassword", attempt)
	}
	return mustWait(wait, nil)
}

// checkOld compares a password with the caller's, and returns its hash.
func (a *Accounts) checkOld(ctx context.Context, field, password string, attempt Attempt, caller Caller) (hash string, err error) {
	wait, known, err := a.store.Password(ctx, attempt)
	if err := mustWait(wait, err); err != nil {
		return "", err
	}
	if known.IdentityID != caller.ID {
		known.Hash = "" // the caller has another address by now
	}
	matches, err := a.passwords.Verify(ctx, known.Hash, password)
	if err != nil {
		return "", err
	}
	if !matches {
		return "", a.refusePassword(ctx, field, attempt)
	}
	return known.Hash, nil
}

// refusePassword counts a wrong password of the caller, and refuses it.
func (a *Accounts) refusePassword(ctx context.Context, field string, attempt Attempt) error {
	if err := mustWait(a.store.Fail(ctx, attempt)); err != nil {
		return err
	}
	return &InputError{Field: field, Code: "incorrect", Problem: "is not the password"}
}

// ChangeEmail has a link sent to the new address of a caller who knows the password. The change takes effect when
// that address is proven. It does not reveal whether the address is taken.
func (a *Accounts) ChangeEmail(ctx context.Context, username, password string, caller Caller) error {
	email, ok := ParseEmail(username)
	if !ok {
		return errEmail
	}
	account, err := a.account(ctx, caller)
	if err != nil {
		return err
	}
	if email == account.Email {
		return &InputError{Field: "email", Code: "unchanged", Problem: "is the present address"}
	}
	leave, err := a.passwords.Enter(ctx, caller.Address)
	if err != nil {
		return err
	}
	defer leave()
	own := Attempt{Account: account.Email, Address: caller.Address}
	hash, err := a.checkOld(ctx, "password", password, own, caller)
	if err != nil {
		return err
	}
	mailed, err := a.write(mail.ChangeEmail, email, a.verificationURL(), verificationLifetime, caller.Languages)
	if err != nil {
		return err
	}
	notice, err := a.close(mail.EmailChanged, caller.Languages, mail.Data{Email: email})
	if err != nil {
		return err
	}
	wait, isAsked, err := a.store.AskChange(ctx, caller.ID, account.Email, hash,
		Attempt{Account: email, Address: caller.Address}, mailed, notice)
	if err != nil {
		return err
	}
	if wait == 0 && !isAsked {
		return a.refusePassword(ctx, "password", own)
	}
	return mustWait(wait, nil)
}

// SignOut ends all sign-ins of the caller.
func (a *Accounts) SignOut(ctx context.Context, caller Caller) error {
	if _, err := a.look(ctx, caller); err != nil {
		return err
	}
	isThere, err := a.store.SignOut(ctx, caller.ID)
	return unlessDone(isThere, err, ErrNoIdentity)
}

// Sessions returns the sign-ins of the caller, as JSON.
func (a *Accounts) Sessions(ctx context.Context, caller Caller) (json.RawMessage, error) {
	if _, err := a.look(ctx, caller); err != nil {
		return nil, err
	}
	return a.store.Sessions(ctx, caller.Identity)
}

// EndSession ends a sign-in of the caller, or for nil all but the caller's own. A caller who ends others must have
// shown a credential lately.
func (a *Accounts) EndSession(ctx context.Context, session *string, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	isDone, err := a.store.EndSession(ctx, caller.Identity, session)
	return unlessDone(isDone, err, ErrUnknownSession)
}

// account returns the account of a caller who signs in by password.
func (a *Accounts) account(ctx context.Context, caller Caller) (Account, error) {
	account, err := a.look(ctx, caller)
	if err == nil && !account.IsPassword {
		return Account{}, ErrNoPassword
	}
	return account, err
}

// look returns the account of a caller.
func (a *Accounts) look(ctx context.Context, caller Caller) (Account, error) {
	account, err := a.store.Account(ctx, caller.Identity)
	switch {
	case err != nil:
		return Account{}, err
	case !account.IsThere:
		return Account{}, ErrNoIdentity
	case account.IsOver:
		return Account{}, ErrInvalid
	}
	return account, nil
}

// write makes a token, and the mail with it.
func (a *Accounts) write(name, email, target string, lifetime time.Duration, languages string) (Mailed, error) {
	token := NewSecret()
	link := parameter{"token", token}
	if name == mail.Invitation {
		link.name = InvitationParameter // the page of a verification accepts invitations too
	}
	content, err := a.close(name, languages, mail.Data{Link: redirectTo(target, link), Email: email})
	if err != nil {
		return Mailed{}, err
	}
	return Mailed{TokenHash: HashSecret(token), Lifetime: lifetime, Content: content}, nil
}

// close writes a mail and seals it: a reader of the database must not find the token of a
// mail that waits to be sent.
func (a *Accounts) close(name, languages string, data mail.Data) ([]byte, error) {
	templates, err := a.Templates()
	if err != nil {
		return nil, err
	}
	content, err := templates.Write(name, languages, data)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("write the mail %s: %w", name, err)
	}
	return a.seal.close(text), nil
}

// Open returns a mail of the queue: one of accounts, which is sealed, or one that code sends, of which the data is kept.
// Its reader's languages are the member language of the data.
func (a *Accounts) Open(name string, kept []byte) (content mail.Content, err error) {
	if mail.IsOfAccounts(name) {
		text, ok := a.seal.open(kept)
		if !ok {
			return mail.Content{}, errors.New("it was encrypted with another signing key")
		}
		return content, json.Unmarshal(text, &content)
	}
	var data map[string]any
	decoder := json.NewDecoder(bytes.NewReader(kept))
	decoder.UseNumber() // as they were written
	if err := decoder.Decode(&data); err != nil {
		return mail.Content{}, fmt.Errorf("read the data of the mail %s: %w", name, err)
	}
	templates, err := a.Templates()
	if err != nil {
		return mail.Content{}, err
	}
	languages, _ := data["language"].(string)
	return templates.Write(name, languages, data)
}
