package openapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/server/signin"
	"github.com/sternpost/sternpost/sql/release"
)

// The endpoints under /auth, common to all APIs.

const authTag = "auth"

// auth describes them.
func (d *describer) auth(paths *members[pathItem]) {
	d.tags = append(d.tags, tag{Name: authTag, Description: "Signing in and out."})
	token := d.authOperation("requestToken", "Sign in, or refresh a sign-in",
		"Exchanges a credential for an access token and a refresh token. /.well-known/oauth-authorization-server lists the grants.")
	token.RequestBody = &requestBody{Required: true, Content: formOrJSON(tokenRequest)}
	token.Responses = oauthOutcomes(response{Description: "The tokens.", Content: jsonContent(tokenAnswer)}, "200", 400, 401, 405, 413, 429, 431, 500, 503)
	paths.add("/auth/token", pathItem{Post: token})

	revoke := d.authOperation("revokeToken", "Sign out",
		"Ends the sign-in of a refresh token. The response is the same for an unknown token.")
	revoke.RequestBody = &requestBody{Required: true, Content: formOrJSON(texts([]string{"token"}, "token_type_hint"))}
	revoke.Responses = oauthOutcomes(response{Description: "The sign-in has ended.", Content: jsonContent(release.Typed("object"))},
		"200", 400, 405, 413, 431, 500, 503)
	paths.add("/auth/revoke", pathItem{Post: revoke})

	challenge := d.authOperation("requestPasskeyChallenge", "Ask for a challenge for a passkey",
		"Returns what navigator.credentials.get takes. The challenge is good for one answer within five minutes, in the grants passkey and second_factor.")
	challenge.RequestBody = &requestBody{Required: true, Content: formOrJSON(release.Typed("object"))}
	challenge.Responses = oauthOutcomes(response{Description: "The challenge.", Content: jsonContent(release.ObjectOf(release.Properties{publicKey}).Requiring("publicKey"))},
		"200", 400, 405, 413, 431, 500, 503)
	paths.add("/auth/passkey", pathItem{Post: challenge})

	providers := d.authOperation("listProviders", "The sign-in providers", "Lists the providers through which users can sign in.")
	providers.Responses = d.outcomes("The providers.", nil, release.ArrayOf(provider), []int{405, 431, 500, 503})
	paths.add("/auth/providers", pathItem{Get: providers})

	authorize := d.authOperation("authorize", "Begin a sign-in through a provider",
		"An application redirects the browser here. The sign-in ends at redirect_uri with code, state and iss, or with error, error_description, state and iss.")
	authorize.Parameters = []any{providerName,
		query("redirect_uri", "The address at which the sign-in ends: one of auth.redirectUris. A service with a fixed address ignores it."),
		query("state", "An opaque value, returned unchanged."),
		query("code_challenge", "The PKCE challenge (RFC 7636)."),
		parameter{Name: "code_challenge_method", In: "query", Description: "The method that derives the challenge from the verifier.", Schema: oneOf("S256", "plain")},
		parameter{Name: "response_type", In: "query", Description: "The result of the sign-in: an authorization code.", Schema: oneOf("code")},
	}
	authorize.Responses = oauthOutcomes(toProvider, "302", 400, 405, 431, 500, 503)
	paths.add("/auth/authorize/{name}", pathItem{Get: authorize})

	finish := d.authOperation("finishAuthorization", "End a sign-in through a provider", "The provider redirects the browser here, and the server redirects it to the application.")
	finish.Parameters = []any{providerName}
	for _, name := range callbackParameters {
		finish.Parameters = append(finish.Parameters, query(name, "Set by the provider."))
	}
	finish.Responses = oauthOutcomes(toApplication, "302", 400, 405, 429, 431, 500, 503)
	posted := d.authOperation("finishAuthorizationByForm", "End a sign-in through a provider that sends a form", "The same for providers with the response mode form_post.")
	posted.Parameters = []any{providerName}
	posted.RequestBody = &requestBody{Required: true, Content: members[mediaType]{{signin.FormBody, mediaType{texts(nil, callbackParameters...)}}}}
	posted.Responses = oauthOutcomes(toApplication, "303", 400, 405, 413, 429, 431, 500, 503)
	paths.add("/auth/callback/{name}", pathItem{Get: finish, Post: posted})
}

// authOperation returns an operation that needs no token.
func (d *describer) authOperation(name, summary, description string) *operation {
	return &operation{
		OperationID: d.operationName(name), Tags: []string{authTag}, Summary: summary, Description: description,
		Security: []map[string][]string{},
	}
}

var (
	toProvider    = response{Description: "A redirect to the provider, or to redirect_uri with an error.", Headers: location}
	toApplication = response{Description: "A redirect to the application.", Headers: location}
	location      = members[header]{{"Location", header{"The target of the redirect.", true, release.Typed("string")}}}
	providerName  = parameter{Name: "name", In: "path", Required: true, Description: "The name of the provider.", Schema: release.Typed("string")}
)

var callbackParameters = []string{"state", "code", "error", "iss"}

// query returns an optional text parameter of a query.
func query(name, description string) parameter {
	return parameter{Name: name, In: "query", Description: description, Schema: release.Typed("string")}
}

// oneOf returns the schema of one of some texts.
func oneOf(values ...string) *release.JSONSchema {
	return release.Typed("string").With("enum", values)
}

// texts returns the schema of an object of texts, some of them required.
func texts(required []string, others ...string) *release.JSONSchema {
	var properties release.Properties
	for _, name := range slices.Concat(required, others) {
		properties = properties.With(name, release.Typed("string"))
	}
	o := release.ObjectOf(properties)
	if len(required) > 0 {
		o.Requiring(required...)
	}
	return o
}

// formOrJSON returns a body in either form.
func formOrJSON(schema *release.JSONSchema) members[mediaType] {
	return members[mediaType]{{signin.FormBody, mediaType{schema}}, {request.JSONType, mediaType{schema}}}
}

// tokenRequest is the input of /auth/token, by grant.
var tokenRequest = release.OneOf(
	grant([]string{"password"}, release.Properties{}.
		With("username", release.Typed("string").Described("An e-mail address.")).
		With("password", release.Typed("string").With("format", "password")), 2, mayCreate, ofSession),
	grant([]string{"second_factor"}, release.Properties{}.
		With("factor_token", release.Typed("string").Described("The token of the answer that asks for a second factor. A request with access_token needs none.")).
		With("code", release.Typed("string").Described("Of an authenticator app.")).
		With("recovery_code", release.Typed("string").Described("In place of code.")).
		With("credential", release.Typed("string").Described("In place of code: the JSON of what navigator.credentials.get has returned.")), 0, ofSession),
	grant([]string{"passkey"}, release.Properties{}.
		With("credential", release.Typed("string").Described("The JSON of what navigator.credentials.get has returned.")), 1, ofSession),
	grant([]string{"refresh_token"}, release.Properties{}.With("refresh_token", release.Typed("string")), 1),
	grant([]string{"authorization_code"}, release.Properties{}.
		With("code", release.Typed("string")).
		With("code_verifier", release.Typed("string").Described("The PKCE verifier, if the sign-in began with a challenge.")).
		With("redirect_uri", release.Typed("string").Described("The redirect_uri with which the sign-in began. A service with a fixed address ignores it.")), 1),
	grant([]string{"token_exchange", auth.ExchangeGrant}, release.Properties{}.
		With("subject_token", release.Typed("string").Described("An ID token of a provider.")).
		With("subject_token_type", release.Typed("string")).
		With("requested_token_type", release.Typed("string")), 1, mayCreate),
)

var mayCreate = release.Property{Name: "create_if_not_exists", Schema: release.Anything().With("enum", []any{true, false, "true", "false"}).
	Described("Whether to create an identity for an unknown user.").With("default", true)}

var ofSession = release.Property{Name: "access_token", Schema: release.Typed("string").
	Described("The session that the credential is shown for. Without it, a new one begins.")}

var publicKey = release.Property{Name: "publicKey", Schema: release.Typed("object").Described("PublicKeyCredentialRequestOptionsJSON.")}

// grant returns the schema of a credential. The first properties are required.
func grant(names []string, properties release.Properties, required int, more ...release.Property) *release.JSONSchema {
	all := append(release.Properties{{Name: "grant_type", Schema: oneOf(names...)}}, properties...)
	must := []string{"grant_type"}
	for _, p := range properties[:required] {
		must = append(must, p.Name)
	}
	return release.ObjectOf(append(all, more...)).Requiring(must...)
}

// tokenAnswer is the answer of /auth/token.
var tokenAnswer = release.ObjectOf(release.Properties{}.
	With("access_token", release.Typed("string").Described("The token for the header Authorization: Bearer.")).
	With("token_type", oneOf("Bearer")).
	With("expires_in", release.Typed("integer").Described("The lifetime of the access token in seconds.")).
	With("refresh_token", release.Typed("string").Described("The token for the next refresh, valid once. Absent if the request names a session, which keeps its own.")).
	With("identity_created", release.Typed("boolean").Described("Whether this request created the identity.")).
	With("issued_token_type", release.Typed("string").Described("The type of the token (RFC 8693), for the grant of that RFC."))).
	Requiring("access_token", "token_type", "expires_in", "identity_created")

var provider = release.ObjectOf(release.Properties{}.
	With("name", release.Typed("string")).
	With("type", release.Typed("string")).
	With("authorizeUrl", release.Typed("string").Described("The address to which an application redirects the browser.")).
	With("callbackUrl", release.Typed("string").Described("The redirect URI to register with the provider."))).
	Requiring("name", "type", "authorizeUrl", "callbackUrl")

// oauthOutcomes lists the possible answers of one of these endpoints.
func oauthOutcomes(success response, status string, errors ...int) members[any] {
	all := members[any]{{status, success}}
	for _, e := range errors {
		all.add(strconv.Itoa(e), reference{"#/components/responses/" + oauthName(e)})
	}
	return all
}

func oauthName(status int) string { return "OAuth" + responseName(status) }

// oauthResponses describes each status of an error with its codes, in the form of RFC 6749.
func oauthResponses() members[response] {
	var all members[response]
	for _, status := range errorStatuses {
		var codes []string
		for _, c := range refusal.OAuthCatalogue() {
			if c.Status == status {
				codes = append(codes, c.Code)
			}
		}
		if codes == nil {
			continue
		}
		members := release.Properties{}.
			With("error", oneOf(codes...)).
			With("error_description", release.Typed("string").Described("A description for people."))
		headers := responseHeaders(status)
		var optional release.Properties
		if status == http.StatusUnauthorized { // it is not about a token
			headers = nil
			members = members.
				With("factor_token", release.Typed("string").Described("For the grant second_factor, valid for ten minutes and five tries.")).
				With("factors", release.ArrayOf(oneOf("totp", "passkey", "recovery")).Described("What the identity can show."))
			optional = release.Properties{publicKey}
		}
		var names []string
		for _, m := range members {
			names = append(names, m.Name)
		}
		schema := release.ObjectOf(append(members, optional...)).Requiring(names...)
		all.add(oauthName(status), response{Description: oauthTexts[status], Headers: headers, Content: jsonContent(schema)})
	}
	return all
}

var oauthTexts = map[int]string{
	400: "The request is malformed, or the credential is not valid.",
	401: "The password is right, and a second factor is required.",
	405: responseTexts[405],
	413: responseTexts[413],
	429: "Too many attempts failed.",
	431: responseTexts[431],
	500: responseTexts[500],
	503: "The service or the provider is temporarily unavailable or overloaded.",
}
