package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// providerType is how a type of provider differs from standard OpenID Connect. Most do
// not differ.
type providerType struct {
	issuer        string // of all its accounts; empty means that the configuration names it
	tokenEndpoint string // set if the provider does not publish it
}

// providerTypeNamed returns the type of that name.
func providerTypeNamed(name string) (providerType, bool) {
	switch name {
	case "google":
		return providerType{issuer: "https://accounts.google.com"}, true
	case "facebook":
		return providerType{
			issuer:        "https://www.facebook.com",
			tokenEndpoint: "https://graph.facebook.com/oauth/access_token", // its discovery document has none
		}, true
	case "gitlab":
		return providerType{issuer: "https://gitlab.com"}, true
	case "slack":
		return providerType{issuer: "https://slack.com"}, true
	case "oidc":
		return providerType{}, true
	}
	return providerType{}, false
}

// Provider is a service that identifies a person by OpenID Connect.
type Provider struct {
	options       ProviderOptions
	tokenEndpoint string // set if its discovery document has none
	issuer        *issuer
}

// Providers are the configured providers, in the order of the configuration. They
// may be used concurrently.
type Providers struct {
	list    []*Provider
	issuers map[string]*issuer // by issuerKey
	now     func() time.Time
}

// ProvidersOptions configure Providers.
type ProvidersOptions struct {
	Providers []ProviderOptions
	Transport http.RoundTripper // nil means a new one
	Now       func() time.Time  // nil means time.Now
}

// NewProviders makes providers. It contacts none: the documents of a provider are fetched
// when they are first needed.
func NewProviders(options ProvidersOptions) (*Providers, error) {
	p := &Providers{issuers: map[string]*issuer{}, now: options.Now}
	if p.now == nil {
		p.now = time.Now
	}
	client := newProviderClient(options.Transport)
	for _, o := range options.Providers {
		known, ok := providerTypeNamed(o.Type)
		if !ok {
			return nil, fmt.Errorf("provider %s: unknown type %q", o.Name, o.Type)
		}
		url := o.IssuerURL
		if url == "" {
			url = known.issuer
		}
		if url == "" {
			return nil, fmt.Errorf("provider %s: the issuer is missing", o.Name)
		}
		key := issuerKey(url)
		if p.issuers[key] == nil {
			p.issuers[key] = newIssuer(key, client, p.now)
		}
		p.list = append(p.list, &Provider{options: o, tokenEndpoint: known.tokenEndpoint, issuer: p.issuers[key]})
	}
	return p, nil
}

// issuerKey is an issuer without its trailing slash, which makes no difference.
func issuerKey(url string) string {
	return strings.TrimSuffix(url, "/")
}

// List returns the providers in the order of the configuration. The caller must not
// change it.
func (p *Providers) List() []*Provider {
	return p.list
}

// Find returns the provider of that name, spelled exactly, or nil.
func (p *Providers) Find(name string) *Provider {
	i := slices.IndexFunc(p.list, func(provider *Provider) bool { return provider.options.Name == name })
	if i < 0 {
		return nil
	}
	return p.list[i]
}

// Options returns the options of the provider.
func (p *Provider) Options() ProviderOptions {
	return p.options
}

// signsIn tells whether sign-ins by redirect are possible. Without a secret only ID
// tokens of the provider are accepted.
func (p *Provider) signsIn() bool {
	return p.options.ClientSecret != ""
}

// config returns the OAuth configuration. It fails with an *unreachableError.
func (p *Provider) config(ctx context.Context, callbackURL string) (*oauth2.Config, error) {
	d, err := p.issuer.discover(ctx)
	if err != nil {
		return nil, err
	}
	endpoint := oauth2.Endpoint{AuthURL: d.AuthorizationEndpoint, TokenURL: d.TokenEndpoint, AuthStyle: d.authStyle()}
	if endpoint.TokenURL == "" {
		endpoint.TokenURL, endpoint.AuthStyle = p.tokenEndpoint, oauth2.AuthStyleInParams
	}
	if endpoint.AuthURL == "" || endpoint.TokenURL == "" {
		return nil, unreachable(errors.New("its discovery document lacks the endpoints of a sign-in"))
	}
	return &oauth2.Config{
		ClientID:     p.options.ClientID,
		ClientSecret: p.options.ClientSecret,
		Endpoint:     endpoint,
		RedirectURL:  callbackURL,
		Scopes:       p.options.Scopes,
	}, nil
}

// exchange trades a code of the provider for its ID token. It fails with an
// *unreachableError if the provider did not answer; no error contains a secret.
func (p *Provider) exchange(ctx context.Context, callbackURL, code, verifier string) (idToken string, err error) {
	config, err := p.config(ctx, callbackURL)
	if err != nil {
		return "", err
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, p.issuer.client)
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response != nil && isProviderTrouble(refused.Response.StatusCode):
		return "", unreachable(fmt.Errorf("exchange the code: the provider responded with status %d", refused.Response.StatusCode))
	case errors.As(err, &refused):
		// Its text is the provider's answer, which may contain the code.
		return "", fmt.Errorf("exchange the code: the provider refused it: %s", errorCode(refused.ErrorCode))
	case err != nil && isNetworkError(err):
		return "", unreachable(fmt.Errorf("exchange the code: %w", err))
	case err != nil:
		return "", errors.New("exchange the code: the provider's response could not be read")
	}
	idToken, _ = token.Extra("id_token").(string)
	if idToken == "" {
		return "", errors.New("exchange the code: the provider's response has no ID token")
	}
	return idToken, nil
}

// errorCode returns the error of an OAuth answer if it has the form of one, so that it is
// safe to log.
func errorCode(code string) string {
	isCode := code != "" && len(code) <= 64 && !strings.ContainsFunc(code, func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_'
	})
	if !isCode {
		return "without a known reason"
	}
	return code
}
