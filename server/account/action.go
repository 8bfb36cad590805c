package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// Service is what the actions call.
type Service struct {
	*auth.Accounts
	*auth.Grants
}

// action is one of Identity's own actions.
type action struct {
	name, doc      string
	reads          bool // it changes nothing
	needsCaller    bool // anonymous callers are refused
	needsMail      bool // it sends mails, or takes their tokens
	needsPassword  bool // it is about passwords
	needsSecrets   bool // it is about authenticator apps, whose secrets are encrypted
	needsPasskeys  bool // it is about passkeys
	needsFactors   bool // it is about either
	needsProviders bool // it is about providers
	needsInviting  bool // it is of no use unless an action invites
	input          []property
	result         []property // empty if it answers {}
	run            func(ctx context.Context, a Service, in values, caller auth.Caller) (result any, err error)
}

// property is a property of an input.
type property struct {
	name   string // an optional one ends in ?
	schema *release.JSONSchema
}

// values are the properties of an input.
type values map[string]string

var (
	textSchema     = release.Typed("string")
	momentSchema   = release.Typed("string").With("format", "date-time")
	passwordSchema = release.Typed("string").With("format", "password").With("minLength", 1).With("maxLength", 1024)
)

// session is the schema of a sign-in.
var session = release.ObjectOf(release.Properties{}.
	With("id", textSchema).
	With("isCurrent", release.Typed("boolean").Described("Whether it is the one that asks.")).
	With("createdAt", momentSchema).
	With("usedAt", momentSchema).
	With("endsAt", momentSchema).
	With("address", release.OneOf(textSchema, release.Typed("null"))).
	With("client", release.OneOf(textSchema, release.Typed("null")).Described("How the client names itself."))).
	Requiring("id", "isCurrent", "createdAt", "usedAt", "endsAt", "address", "client")

// factor is the schema of a second factor.
var factor = release.ObjectOf(release.Properties{}.
	With("kind", release.Typed("string").With("enum", []string{"totp", "passkey"})).
	With("id", release.OneOf(textSchema, release.Typed("null")).Described("Of a passkey, in base64url.")).
	With("name", release.OneOf(textSchema, release.Typed("null")).Described("Of a passkey.")).
	With("createdAt", momentSchema).
	With("usedAt", release.OneOf(momentSchema, release.Typed("null")))).
	Requiring("kind", "id", "name", "createdAt", "usedAt")

// providerLink is the schema of a link to a provider.
var providerLink = release.ObjectOf(release.Properties{}.With("provider", textSchema).With("createdAt", momentSchema)).Requiring("provider", "createdAt")

// actions lists them, in the order of the description.
var actions = []action{
	{
		name: "requestPasswordReset", needsMail: true, needsPassword: true,
		doc: "Sends a mail with a link to redirectUrl. Its parameter token is the token for resetPassword. " +
			"The response is the same for an unknown address.",
		input: []property{{"email", textSchema}, {"redirectUrl", textSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.RequestPasswordReset(ctx, in["email"], in["redirectUrl"], caller.Client)
		},
	},
	{
		name: "resetPassword", needsMail: true, needsPassword: true,
		doc:   "Sets a new password with a token from requestPasswordReset, which is valid once, for an hour. Proves the e-mail address, and ends all sign-ins.",
		input: []property{{"token", textSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.ResetPassword(ctx, in["token"], in["password"], caller.Client)
		},
	},
	{
		name: "requestEmailVerification", needsCaller: true, needsMail: true, needsPassword: true,
		doc: "Sends a link that proves the caller's e-mail address. Sends nothing if it is already proven.",
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			return nil, a.RequestVerification(ctx, caller)
		},
	},
	{
		name: "verifyEmail", needsMail: true, needsPassword: true,
		doc: "Proves an e-mail address with a token from its mail, which is valid once, for a day. " +
			"The caller is signed in to the account, or gives its password. Ends all other sign-ins.",
		input: []property{{"token", textSchema}, {"password?", passwordSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.VerifyEmail(ctx, in["token"], in["password"], caller)
		},
	},
	{
		name: "changePassword", needsCaller: true, needsPassword: true,
		doc:   "Sets a new password for a caller who gives the old one, and ends all other sign-ins.",
		input: []property{{"oldPassword", passwordSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.ChangePassword(ctx, in["oldPassword"], in["password"], caller)
		},
	},
	{
		name: "changeEmail", needsCaller: true, needsMail: true, needsPassword: true,
		doc: "Sends a link to the new e-mail address of a caller who gives the password. The address changes once verifyEmail proves it; " +
			"the old address then gets a mail.",
		input: []property{{"email", textSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.ChangeEmail(ctx, in["email"], in["password"], caller)
		},
	},
	{
		name: "signOutEverywhere", needsCaller: true,
		doc: "Ends all sign-ins of the caller, and their access tokens.",
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			return nil, a.SignOut(ctx, caller)
		},
	},
	{
		name: "listSessions", needsCaller: true, reads: true,
		doc:    "Lists the sign-ins of the caller that have not ended, the one used last first.",
		result: []property{{"sessions", release.ArrayOf(session)}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			sessions, err := a.Sessions(ctx, caller)
			return map[string]any{"sessions": sessions}, err
		},
	},
	{
		name: "endSession", needsCaller: true,
		doc: "Ends one of the caller's sign-ins: it is not refreshed any more, and its access token expires. " +
			"For another than the present one, the caller must have shown a credential within the last five minutes.",
		input: []property{{"id", textSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			id := in["id"]
			return nil, a.EndSession(ctx, &id, caller)
		},
	},
	{
		name: "endOtherSessions", needsCaller: true,
		doc: "Ends all sign-ins of the caller but the present one, and their access tokens. The caller must have shown a credential within the last five minutes.",
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			return nil, a.EndSession(ctx, nil, caller)
		},
	},
	{
		name: "startAuthenticator", needsCaller: true, needsSecrets: true,
		doc: "Makes the secret for an authenticator app, and returns the address that the app reads from a QR code. " +
			"Nothing changes until confirmAuthenticator.",
		result: []property{{"otpauthUrl", textSchema}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			address, err := a.StartAuthenticator(ctx, caller)
			return map[string]any{"otpauthUrl": address}, err
		},
	},
	{
		name: "confirmAuthenticator", needsCaller: true, needsSecrets: true,
		doc: "Makes the app of the last ten minutes the second factor of the caller, who gives a code of it. " +
			"Returns ten recovery codes, each of which works once in place of a code.",
		input:  []property{{"code", textSchema}},
		result: []property{{"recoveryCodes", release.ArrayOf(textSchema)}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			codes, err := a.ConfirmAuthenticator(ctx, in["code"], caller)
			return map[string]any{"recoveryCodes": codes}, err
		},
	},
	{
		name: "removeAuthenticator", needsCaller: true, needsSecrets: true,
		doc: "Removes the authenticator app of the caller, and with the last second factor the recovery codes.",
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			return nil, a.RemoveFactor(ctx, nil, caller)
		},
	},
	{
		name: "startPasskey", needsCaller: true, needsPasskeys: true,
		doc:    "Makes a challenge for a new passkey: what navigator.credentials.create takes, good for five minutes. Nothing changes until confirmPasskey.",
		result: []property{{"publicKey", release.Typed("object").Described("PublicKeyCredentialCreationOptionsJSON.")}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			asked, err := a.StartPasskey(ctx, caller)
			return map[string]any{"publicKey": asked}, err
		},
	},
	{
		name: "confirmPasskey", needsCaller: true, needsPasskeys: true,
		doc: "Makes a new passkey a second factor of the caller, which also signs in without a password. " +
			"credential is the JSON of what navigator.credentials.create has returned.",
		input: []property{{"credential", textSchema}, {"name?", release.Typed("string").With("minLength", 1).With("maxLength", 100)}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.ConfirmPasskey(ctx, in["credential"], in["name"], caller)
		},
	},
	{
		name: "removePasskey", needsCaller: true, needsPasskeys: true,
		doc:   "Removes a passkey of the caller, and with the last second factor the recovery codes.",
		input: []property{{"id", textSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			id := in["id"]
			return nil, a.RemoveFactor(ctx, &id, caller)
		},
	},
	{
		name: "renewRecoveryCodes", needsCaller: true, needsFactors: true,
		doc:    "Returns ten new recovery codes; the others are void.",
		result: []property{{"recoveryCodes", release.ArrayOf(textSchema)}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			codes, err := a.RenewRecoveryCodes(ctx, caller)
			return map[string]any{"recoveryCodes": codes}, err
		},
	},
	{
		name: "listFactors", needsCaller: true, needsFactors: true, reads: true,
		doc:    "Lists the second factors of the caller, and how many recovery codes are left.",
		result: []property{{"factors", release.ArrayOf(factor)}, {"recoveryCodes", release.Typed("integer")}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			return a.Factors(ctx, caller)
		},
	},
	{
		name: "startProviderLink", needsCaller: true, needsProviders: true,
		doc: "Begins to link the caller to a provider: send the browser to /auth/authorize/{name} like for a sign-in, with the parameter link besides. " +
			"The caller must have shown a credential within the last five minutes.",
		result: []property{{"link", textSchema}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			link, err := a.StartLink(ctx, caller)
			return map[string]any{"link": link}, err
		},
	},
	{
		name: "confirmProviderLink", needsCaller: true, needsProviders: true,
		doc: "Links the caller to the account at a provider from which the browser has come back with a code, in the session that began it. " +
			"codeVerifier and redirectUri are those of the authorization_code grant.",
		input: []property{{"code", textSchema}, {"codeVerifier?", textSchema}, {"redirectUri?", textSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.ConfirmLink(ctx, in["code"], in["codeVerifier"], in["redirectUri"], caller)
		},
	},
	{
		name: "removeProviderLink", needsCaller: true, needsProviders: true,
		doc: "Ends the link to a provider, unless the caller has no other way to sign in. " +
			"The caller must have shown a credential within the last five minutes.",
		input: []property{{"provider", textSchema}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			return nil, a.RemoveLink(ctx, in["provider"], caller)
		},
	},
	{
		name: "listProviderLinks", needsCaller: true, needsProviders: true, reads: true,
		doc:    "Lists the providers that the caller is linked to.",
		result: []property{{"links", release.ArrayOf(providerLink)}},
		run: func(ctx context.Context, a Service, _ values, caller auth.Caller) (any, error) {
			links, err := a.Links(ctx, caller)
			return map[string]any{"links": links}, err
		},
	},
	{
		name: AcceptInvitation, needsMail: true, needsPassword: true, needsInviting: true,
		doc: "Accepts an invitation with the token from its mail, which is valid once, for seven days. Signs the e-mail address in, or up with the password, " +
			"and makes that account the one of the record that invited it. An account whose address nobody has proven needs its password. " +
			"Answers tokens like a sign-in, or for an account with a second factor the token to show one with.",
		input: []property{{"token", textSchema}, {"password?", passwordSchema}},
		result: []property{{"access_token?", textSchema}, {"token_type?", textSchema}, {"expires_in?", release.Typed("integer")}, {"refresh_token?", textSchema},
			{"identity_created?", release.Typed("boolean")}, {"factor_token?", textSchema}, {"factors?", release.ArrayOf(textSchema)},
			{"publicKey?", release.Typed("object").Described("PublicKeyCredentialRequestOptionsJSON, if the account has a passkey.")}},
		run: func(ctx context.Context, a Service, in values, caller auth.Caller) (any, error) {
			tokens, err := a.AcceptInvitation(ctx, in["token"], in["password"], caller)
			if needs := (*auth.Error)(nil); errors.As(err, &needs) && needs.FactorToken != "" {
				pending := map[string]any{"factor_token": needs.FactorToken, "factors": needs.Factors}
				if needs.PublicKey != nil {
					pending["publicKey"] = needs.PublicKey
				}
				return pending, nil
			}
			return tokens, err
		},
	},
}

// Offer is the part of a server that actions need.
type Offer struct {
	Mail, Passwords, Secrets, Passkeys, Providers bool
}

// All is the offer of a server that has every part.
var All = Offer{Mail: true, Passwords: true, Secrets: true, Passkeys: true, Providers: true}

// AcceptInvitation is the action whose answer is a sign-in.
const AcceptInvitation = "acceptInvitation"

// Model is the model that the actions belong to.
const Model = "Identity"

// Extend returns a manifest that adds the offered actions to the APIs that expose them.
// They have no function in the database.
func Extend(m *release.Manifest, o Offer) *release.Manifest {
	if !slices.ContainsFunc(m.APIs, func(a release.API) bool { return a.Identity }) {
		return m
	}
	extended := *m
	extended.Actions, extended.Schemas, extended.APIs, extended.Models =
		slices.Clone(m.Actions), slices.Clone(m.Schemas), slices.Clone(m.APIs), slices.Clone(m.Models)
	if !slices.ContainsFunc(m.Models, func(known release.Model) bool { return known.Name == Model }) {
		extended.Models = append(extended.Models, release.Model{Name: Model, Table: "identity"})
	}
	invites := slices.ContainsFunc(m.Actions, func(a *release.Action) bool { return a.Invitation != "" })
	for _, a := range actions {
		if a.needsInviting && !invites || a.needsMail && !o.Mail || a.needsPassword && !o.Passwords || a.needsSecrets && !o.Secrets ||
			a.needsPasskeys && !o.Passkeys || a.needsProviders && !o.Providers || a.needsFactors && !o.Secrets && !o.Passkeys {
			continue
		}
		extended.Actions = append(extended.Actions, a.describe(&extended))
		for i := range extended.APIs {
			if api := &extended.APIs[i]; api.Identity && (len(api.IdentityActions) == 0 || slices.Contains(api.IdentityActions, a.name)) {
				api.Actions = append(slices.Clip(api.Actions), a.name)
			}
		}
	}
	return &extended
}

// describe describes an action like any other, and adds the schemas of its input and result.
func (a *action) describe(m *release.Manifest) *release.Action {
	rule := "true"
	if a.needsCaller {
		rule = "ctx.isAuthenticated"
	}
	kind := release.Write
	if a.reads {
		kind = release.Read
	}
	described := &release.Action{
		Name: a.name, Kind: kind, Model: Model, Doc: a.doc, Anonymous: !a.needsCaller, Rules: []string{rule},
		Input:  addSchema(m, a.name, "Input", a.input),
		Result: addSchema(m, a.name, "Response", a.result),
	}
	for _, caller := range m.Callers {
		access := "always"
		if a.needsCaller && caller == "anonymous" {
			access = "never"
		}
		described.Access = append(described.Access, access)
	}
	return described
}

// addSchema adds the component of an object, and returns its name: a schema may have a
// message of the same name.
func addSchema(m *release.Manifest, action, suffix string, properties []property) string {
	base := strings.ToUpper(action[:1]) + action[1:] + suffix
	name := base
	for n := 2; m.Schemas.Get(name) != nil; n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	var members release.Properties
	var required []string
	for _, p := range properties {
		name, isOptional := strings.CutSuffix(p.name, "?")
		members = members.With(name, p.schema)
		if !isOptional {
			required = append(required, name)
		}
	}
	schema := release.ObjectOf(members)
	if len(required) > 0 {
		schema = schema.Requiring(required...)
	}
	m.Schemas = append(m.Schemas, release.Schema{Name: name, JSON: schema.Closed().Text()})
	return name
}

// Statuses are the errors of the actions besides those of every action.
var Statuses = []int{404, 409, 429}

// Is tells whether an action of an extended manifest is one of Identity's own.
func Is(a *release.Action) bool {
	return a.Function == ""
}

// Run runs one of the actions, with an input that fits its schema, and returns the body of the answer. Its error is a
// refusal.
func Run(ctx context.Context, service Service, a *release.Action, input []byte, caller auth.Caller) (string, error) {
	at := slices.IndexFunc(actions, func(known action) bool { return known.name == a.Name })
	if actions[at].needsCaller && caller.ID == "" {
		return "", &refusal.PermissionDenied
	}
	var in values
	if err := json.Unmarshal(input, &in); err != nil {
		return "", fmt.Errorf("read the input of %s: %w", a.Name, err)
	}
	result, err := actions[at].run(ctx, service, in, caller)
	if err != nil {
		return "", Refuse(err)
	}
	if result == nil {
		return "{}", nil
	}
	body, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Errorf("write the answer of %s: %w", a.Name, err)
	}
	return string(body), nil
}

// Refuse returns the refusal for an error of accounts; nil for none.
func Refuse(err error) error {
	var input *auth.InputError
	var conflict *auth.ConflictError
	var gone *auth.Refusal
	var refused *auth.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &input):
		return refusal.InputInvalid.Listing(problem.Problem{
			Field: input.Field, Code: problem.Code(input.Code), Params: problem.Params(input.Params), Error: input.Problem,
		})
	case errors.As(err, &conflict):
		return refusal.Conflict.Saying("%s", conflict)
	case errors.As(err, &gone):
		r := refusal.AuthenticationFailed
		r.Message = gone.Error()
		return &r
	case errors.Is(err, auth.ErrMachine):
		return &refusal.PermissionDenied
	case errors.Is(err, auth.ErrUnknownSession):
		return &refusal.RecordNotFound
	case errors.As(err, &refused):
		return refusal.OfAuth(refused)
	}
	return refusal.OfStore(err)
}
