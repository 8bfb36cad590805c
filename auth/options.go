package auth

import "time"

// ThrottleOptions say how many sign-ins are too many.
type ThrottleOptions struct {
	PerAccountAndAddress      int           // failures of one account from one client address
	PerAccount                int           // failures of one account from anywhere
	PerAddress                int           // failures of one client address, for all accounts
	TriesPerAccountAndAddress int           // of one account from one client address, also those that succeed
	Window                    time.Duration // how far back they are counted
}

// PKCE says what is asked of clients that sign somebody in by redirect (RFC 7636).
type PKCE string

// What may be asked.
const (
	PKCEOptional PKCE = "optional" // a challenge may be missing
	PKCERequired PKCE = "required" // by S256 or plain
	PKCES256     PKCE = "S256"     // by S256 only
)

// ProviderOptions configure one provider of identities. Names, types and addresses
// have been checked for their form.
type ProviderOptions struct {
	Type         string       // google, facebook, gitlab, slack or oidc
	Name         string       // as it is in addresses
	ClientID     string       // of this service at the provider
	ClientSecret string       // empty means that only its ID tokens are accepted
	IssuerURL    string       // empty means the one that the type has
	Scopes       []string     // openid first
	RedirectURL  string       // where its sign-ins end; empty means the one for all
	ResponseMode ResponseMode // how the provider sends the browser back
	IsInternal   bool         // it works, but is not offered to users
}

// ResponseMode says how a provider hands its answer to the browser.
type ResponseMode string

// The modes.
const (
	ResponseQuery    ResponseMode = "query"
	ResponseFormPost ResponseMode = "form_post"
)
