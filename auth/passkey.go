package auth

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// PasskeyOptions configure passkeys (Web Authentication, Level 3).
type PasskeyOptions struct {
	RPID    string   // the domain that they belong to; empty means that there are none
	Origins []string // of the pages that may use them
}

// Passkey is a key in an authenticator.
type Passkey struct {
	ID         string // in base64url
	IdentityID string // whose it is; empty if it is unknown
	Name       string
	PublicKey  []byte // in the form of COSE
	IsShared   bool   // the authenticator may copy it
}

// Answered is a challenge that a passkey has answered.
type Answered struct {
	Passkey Passkey
	Counter int64  // of signatures, by the authenticator; 0 if it does not count
	Hash    []byte // of the challenge
	Ends    time.Time
}

// passkeys asks authenticators, and checks their answers.
//
// Nothing is stored for a challenge, as anybody may ask for one: it is sealed, so that each server knows those of the
// service and when they end. The store notes the answered ones, so that each is good for one answer.
type passkeys struct {
	party *webauthn.WebAuthn // nil means that there are none
	own   *seal
}

// challengeLifetime is how long an authenticator may take.
const challengeLifetime = 5 * time.Minute

func newPasskeys(o AccountOptions) (p passkeys, err error) {
	if o.Passkeys.RPID == "" {
		return p, nil
	}
	if p.own, err = newSeal(o.SigningKey, o.BaseURL, "sternpost passkeys"); err != nil {
		return p, err
	}
	timeout := webauthn.TimeoutConfig{Timeout: challengeLifetime}
	p.party, err = webauthn.New(&webauthn.Config{
		RPID: o.Passkeys.RPID, RPDisplayName: cmp.Or(o.Name, o.Passkeys.RPID), RPOrigins: o.Passkeys.Origins,
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		Timeouts:                          webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return p, fmt.Errorf("use the domain and the origins of passkeys: %w", err)
	}
	return p, nil
}

// challenge makes a challenge. One for a new passkey is good for that identity only.
func (p *passkeys) challenge(identityID string, now time.Time) protocol.URLEncodedBase64 {
	ends := binary.BigEndian.AppendUint64(nil, uint64(now.Add(challengeLifetime).UnixMicro()))
	return p.own.close(append(ends, identityID...))
}

// session returns the session of a challenge, and notes in an answer what the store compares. It fails on a challenge
// that is not this service's, or for another identity.
func (p *passkeys) session(text, identityID string, a *Answered) (session webauthn.SessionData, err error) {
	var sealed protocol.URLEncodedBase64
	if err := sealed.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		return session, fmt.Errorf("read the challenge: %w", err)
	}
	plain, ok := p.own.open(sealed)
	if !ok || len(plain) < 8 || string(plain[8:]) != identityID {
		return session, errors.New("the challenge is not of this service and this identity")
	}
	a.Hash, a.Ends = hashOf(sealed), time.UnixMicro(int64(binary.BigEndian.Uint64(plain)))
	return webauthn.SessionData{
		Challenge: text, UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault(),
	}, nil
}

// owner is the owner of passkeys. The authenticator keeps a hash of the id, since others may look into it.
type owner struct {
	id, name string
	keys     []webauthn.Credential
}

func (o owner) WebAuthnID() []byte                         { return HashSecret(o.id) }
func (o owner) WebAuthnName() string                       { return o.name }
func (o owner) WebAuthnDisplayName() string                { return o.name }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.keys }

var errNoPasskeys = InvalidRequest("there are no passkeys: the service has no auth.passkeys.rpId")

// PasskeyRequest returns what navigator.credentials.get takes, as JSON, with a new challenge.
func (a *Accounts) PasskeyRequest(ctx context.Context) (json.RawMessage, error) {
	if a.passkeys.party == nil {
		return nil, errNoPasskeys
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	asked, _, err := a.passkeys.party.BeginDiscoverableLogin(webauthn.WithChallenge(a.passkeys.challenge("", now)))
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey: %w", err)
	}
	return json.Marshal(asked.Response)
}

// verifyPasskey checks what a client has got from navigator.credentials.get. The store still has to compare the counter,
// and the end of the challenge.
func (a *Accounts) verifyPasskey(ctx context.Context, credential string) (answered Answered, err error) {
	refused := InvalidGrant(refusedPasskey)
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(credential))
	if err != nil {
		return answered, refused.because(err)
	}
	session, err := a.passkeys.session(parsed.Response.CollectedClientData.Challenge, "", &answered)
	if err != nil {
		return answered, refused.because(err)
	}
	known, err := a.store.Passkey(ctx, parsed.ID)
	switch {
	case err != nil:
		return answered, err
	case known.IdentityID == "":
		return answered, refused.because(errors.New("the passkey is unknown"))
	}
	key := webauthn.Credential{ID: parsed.RawID, PublicKey: known.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: known.IsShared}}
	find := func(_, _ []byte) (webauthn.User, error) {
		return owner{id: known.IdentityID, keys: []webauthn.Credential{key}}, nil
	}
	if _, _, err := a.passkeys.party.ValidatePasskeyLogin(find, session, parsed); err != nil {
		return answered, refused.because(err)
	}
	answered.Passkey, answered.Counter = known, int64(parsed.Response.AuthenticatorData.Counter)
	return answered, nil
}

var errCredential = &InputError{Field: "credential", Code: "incorrect", Problem: "is not a new passkey"}

// StartPasskey returns what navigator.credentials.create takes, as JSON. Nothing changes until the new passkey is confirmed.
func (a *Accounts) StartPasskey(ctx context.Context, caller Caller) (json.RawMessage, error) {
	account, err := a.lookInPerson(ctx, caller)
	if err != nil {
		return nil, err
	}
	now, err := a.store.MayChange(ctx, caller.Identity)
	if err != nil {
		return nil, err
	}
	list, err := a.store.Factors(ctx, caller.ID)
	if err != nil {
		return nil, err
	}
	var known struct {
		Factors []struct{ ID protocol.URLEncodedBase64 }
	}
	if err := json.Unmarshal(list, &known); err != nil {
		return nil, fmt.Errorf("read the factors of an identity: %w", err)
	}
	asked, _, err := a.passkeys.party.BeginRegistration(owner{id: caller.ID, name: account.label(caller)}, func(o *protocol.PublicKeyCredentialCreationOptions) error {
		o.Challenge = a.passkeys.challenge(caller.ID, now)
		for _, f := range known.Factors {
			if f.ID != nil {
				o.CredentialExcludeList = append(o.CredentialExcludeList, protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: f.ID})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask for a new passkey: %w", err)
	}
	return json.Marshal(asked.Response)
}

// ConfirmPasskey gives the caller a passkey that navigator.credentials.create has made, and raises the caller's sign-in.
func (a *Accounts) ConfirmPasskey(ctx context.Context, credential, name string, caller Caller) error {
	if _, err := a.lookInPerson(ctx, caller); err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(credential))
	if err != nil {
		return errCredential
	}
	var answered Answered
	session, err := a.passkeys.session(parsed.Response.CollectedClientData.Challenge, caller.ID, &answered)
	if err != nil {
		return errCredential
	}
	session.UserID = owner{id: caller.ID}.WebAuthnID()
	made, err := a.passkeys.party.CreateCredential(owner{id: caller.ID}, session, parsed)
	if err != nil {
		return errCredential
	}
	answered.Passkey = Passkey{ID: parsed.ID, Name: cmp.Or(name, "Passkey"), PublicKey: made.PublicKey, IsShared: made.Flags.BackupEligible}
	answered.Counter = int64(made.Authenticator.SignCount)
	isDone, err := a.store.ConfirmPasskey(ctx, caller.Identity, answered)
	return unlessDone(isDone, err, errCredential)
}
