package auth

import "time"

// ThrottleOptions limit sign-ins.
type ThrottleOptions struct {
	PerAccountAndAddress      int           // failures of one account from one client address
	PerAccount                int           // failures of one account from anywhere
	PerAddress                int           // failures of one client address, for all accounts
	TriesPerAccountAndAddress int           // of one account from one client address, including successful ones
	Window                    time.Duration // the period over which they are counted
}

// PKCE is the requirement for clients that use the sign-in by redirect (RFC 7636).
type PKCE string

// The requirements.
const (
	PKCEOptional PKCE = "optional" // a challenge may be missing
	PKCERequired PKCE = "required" // by S256 or plain
	PKCES256     PKCE = "S256"     // by S256 only
)

// ProviderOptions configure one provider of identities. The form of names, types and
// addresses has been checked.
type ProviderOptions struct {
	Type               string       // google, facebook, gitlab, slack or oidc
	Name               string       // as in addresses
	ClientID           string       // of this service at the provider
	ClientSecret       string       // empty means that only its ID tokens are accepted
	IssuerURL          string       // empty means the one of the type
	Scopes             []string     // openid first
	RedirectURL        string       // where its sign-ins end; empty means the common address
	ResponseMode       ResponseMode // how the provider sends the browser back
	IsInternal         bool         // it works, but is not offered to users
	TrustsSecondFactor bool         // it tells whether its user has shown a second factor
	EmailDomains       []string     // of the addresses that it can prove, in lower case; nil means any
}

// ResponseMode is how a provider passes its answer to the browser.
type ResponseMode string

// The modes.
const (
	ResponseQuery    ResponseMode = "query"
	ResponseFormPost ResponseMode = "form_post"
)
