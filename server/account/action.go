package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// action is one of Identity's own actions.
type action struct {
	name, doc     string
	needsCaller   bool // anonymous callers are refused
	needsMail     bool // it sends mails, or takes their tokens
	needsPassword bool // it is about passwords
	input         []property
	run           func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error
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
	passwordSchema = release.Typed("string").With("format", "password").With("minLength", 1).With("maxLength", 1024)
)

// actions lists them, in the order of the description.
var actions = []action{
	{
		name: "requestPasswordReset", needsMail: true, needsPassword: true,
		doc: "Sends a mail with a link to redirectUrl. Its parameter token is the token for resetPassword. " +
			"The response is the same for an unknown address.",
		input: []property{{"email", textSchema}, {"redirectUrl", textSchema}},
		run: func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error {
			return a.RequestPasswordReset(ctx, in["email"], in["redirectUrl"], caller.Client)
		},
	},
	{
		name: "resetPassword", needsMail: true, needsPassword: true,
		doc:   "Sets a new password with a token from requestPasswordReset, which is valid once, for an hour. Proves the e-mail address, and ends all sign-ins.",
		input: []property{{"token", textSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error {
			return a.ResetPassword(ctx, in["token"], in["password"], caller.Client)
		},
	},
	{
		name: "requestEmailVerification", needsCaller: true, needsMail: true, needsPassword: true,
		doc: "Sends a link that proves the caller's e-mail address. Sends nothing if it is already proven.",
		run: func(ctx context.Context, a *auth.Accounts, _ values, caller auth.Caller) error {
			return a.RequestVerification(ctx, caller)
		},
	},
	{
		name: "verifyEmail", needsMail: true, needsPassword: true,
		doc: "Proves an e-mail address with a token from its mail, which is valid once, for a day. " +
			"The caller is signed in to the account, or gives its password. Ends all other sign-ins.",
		input: []property{{"token", textSchema}, {"password?", passwordSchema}},
		run: func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error {
			return a.VerifyEmail(ctx, in["token"], in["password"], caller)
		},
	},
	{
		name: "changePassword", needsCaller: true, needsPassword: true,
		doc:   "Sets a new password for a caller who gives the old one, and ends all other sign-ins.",
		input: []property{{"oldPassword", passwordSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error {
			return a.ChangePassword(ctx, in["oldPassword"], in["password"], caller)
		},
	},
	{
		name: "changeEmail", needsCaller: true, needsMail: true, needsPassword: true,
		doc: "Sends a link to the new e-mail address of a caller who gives the password. The address changes once verifyEmail proves it; " +
			"the old address then gets a mail.",
		input: []property{{"email", textSchema}, {"password", passwordSchema}},
		run: func(ctx context.Context, a *auth.Accounts, in values, caller auth.Caller) error {
			return a.ChangeEmail(ctx, in["email"], in["password"], caller)
		},
	},
	{
		name: "signOutEverywhere", needsCaller: true,
		doc: "Ends all sign-ins of the caller, and their access tokens.",
		run: func(ctx context.Context, a *auth.Accounts, _ values, caller auth.Caller) error {
			return a.SignOut(ctx, caller)
		},
	},
}

// Offer is the part of a server that actions need.
type Offer struct {
	Mail, Passwords bool
}

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
	for _, a := range actions {
		if a.needsMail && !o.Mail || a.needsPassword && !o.Passwords {
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
	described := &release.Action{
		Name: a.name, Kind: release.Write, Model: Model, Doc: a.doc, Anonymous: !a.needsCaller, Rules: []string{rule},
		Input:  addSchema(m, a.name, "Input", a.input),
		Result: addSchema(m, a.name, "Response", nil),
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
var Statuses = []int{409, 429}

// Is tells whether an action of an extended manifest is one of Identity's own.
func Is(a *release.Action) bool {
	return a.Function == ""
}

// Run runs one of the actions, with an input that fits its schema. Its error is a refusal.
func Run(ctx context.Context, accounts *auth.Accounts, a *release.Action, input []byte, caller auth.Caller) error {
	at := slices.IndexFunc(actions, func(known action) bool { return known.name == a.Name })
	if actions[at].needsCaller && caller.ID == "" {
		return &refusal.PermissionDenied
	}
	var in values
	if err := json.Unmarshal(input, &in); err != nil {
		return fmt.Errorf("read the input of %s: %w", a.Name, err)
	}
	return Refuse(actions[at].run(ctx, accounts, in, caller))
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
		return refusal.InputInvalid.Listing(refusal.Entry{Field: input.Field, Error: input.Problem})
	case errors.As(err, &conflict):
		return refusal.Conflict.Saying("%s", conflict)
	case errors.As(err, &gone):
		r := refusal.AuthenticationFailed
		r.Message = gone.Error()
		return &r
	case errors.As(err, &refused):
		return refusal.OfAuth(refused)
	}
	return refusal.OfStore(err)
}
