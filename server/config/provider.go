package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/auth"
)

// providerMembers lists the keys of one of auth.providers. Its secret is not one of them:
// it is in the environment.
var providerMembers = []setting[provider]{
	{key: "type", set: one(choice("google", "facebook", "gitlab", "slack", "oidc"), func(p *provider) *string { return &p.Type })},
	{key: "name", set: one(providerName, func(p *provider) *string { return &p.Name })},
	{key: "clientId", set: one(nonEmpty, func(p *provider) *string { return &p.ClientID })},
	{key: "issuerUrl", set: one(issuerURL, func(p *provider) *string { return &p.IssuerURL })},
	{key: "scopes", set: each(scope, func(p *provider) *[]string { return &p.Scopes }), isList: true},
	{key: "redirectUrl", set: one(redirectURL, func(p *provider) *string { return &p.RedirectURL })},
	{key: "responseMode", set: one(choice(auth.ResponseQuery, auth.ResponseFormPost), func(p *provider) *auth.ResponseMode { return &p.ResponseMode })},
	{key: "emailDomains", set: each(emailDomain, func(p *provider) *[]string { return &p.EmailDomains }), isList: true},
	{key: "trustsSecondFactor", set: one(boolean, func(p *provider) *bool { return &p.TrustsSecondFactor })},
	{key: "internal", set: one(boolean, func(p *provider) *bool { return &p.IsInternal })},
}

// provider is one of auth.providers.
type provider = auth.ProviderOptions

// readProviders reads auth.providers, in the order of the file.
func readProviders(objects []object, mode Mode, env []string) ([]auth.ProviderOptions, []error) {
	var providers []auth.ProviderOptions
	var problems []error
	for i, o := range objects {
		p, err := readProvider(o, mode)
		if err == nil && slices.ContainsFunc(providers, func(other auth.ProviderOptions) bool { return strings.EqualFold(p.Name, other.Name) }) {
			err = fmt.Errorf("an earlier provider has the name %s (case does not count): choose another", p.Name)
		}
		if err != nil {
			problems = append(problems, o.place.problem(fmt.Errorf("auth.providers[%d]: %w", i, err)))
			continue
		}
		providers = append(providers, p)
	}
	var variables []string
	for _, p := range providers {
		variables = append(variables, "AUTH_PROVIDER_SECRET_"+strings.ToUpper(p.Name))
	}
	for i := range providers {
		var err error
		if providers[i].ClientSecret, err = readSecret(variables[i], variables, env); err != nil {
			problems = append(problems, err)
		}
	}
	return providers, problems
}

func readProvider(o object, mode Mode) (auth.ProviderOptions, error) {
	p := auth.ProviderOptions{ResponseMode: auth.ResponseQuery, Scopes: []string{"email", "profile"}}
	for i := range providerMembers {
		s := &providerMembers[i]
		g, ok := o.values[s.key]
		if !ok {
			continue
		}
		if err := s.apply(&p, g.texts); err != nil {
			return auth.ProviderOptions{}, fmt.Errorf("%s: %w", s.key, err)
		}
	}
	scopes := []string{"openid"}
	for _, s := range p.Scopes {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	p.Scopes = scopes

	switch {
	case p.Type == "":
		return p, errors.New("type is required")
	case p.Name == "":
		return p, errors.New("name is required")
	case p.ClientID == "":
		return p, errors.New("clientId is required")
	case p.IssuerURL == "" && p.Type == "oidc":
		return p, errors.New("issuerUrl is required for type oidc")
	case strings.HasPrefix(p.IssuerURL, "http://") && mode == Production:
		return p, errors.New("issuerUrl must begin with https:// in production")
	}
	return p, nil
}

// readSecret reads the variable of a secret, or the file named by that variable with _FILE, unless that is the variable
// of another secret. It is empty if neither is set.
func readSecret(variable string, all, env []string) (string, error) {
	lookUp := func(name string) (value string) {
		for _, v := range env {
			if n, text, _ := strings.Cut(v, "="); n == name {
				value = text
			}
		}
		return value
	}
	value, path := lookUp(variable), ""
	if !slices.Contains(all, variable+"_FILE") {
		path = lookUp(variable + "_FILE")
	}
	switch {
	case path == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s and %[1]s_FILE are both set: remove one of them", variable)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", variable, err)
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}

// Readers of texts. Each error continues a sentence that begins with the text.

var isProviderName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`).MatchString

func providerName(text string) (string, error) {
	if !isProviderName(text) {
		return "", errors.New("is not a valid name: begin with a letter, and use only letters, digits and _")
	}
	return text, nil
}

func emailDomain(text string) (string, error) {
	if _, ok := auth.ParseEmail("x@" + text); !ok {
		return "", errors.New("is not the domain of e-mail addresses, such as example.com")
	}
	return strings.ToLower(text), nil
}

func nonEmpty(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	return text, nil
}

func scope(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return "", errors.New("is not a scope: give each scope an entry of its own, without spaces and quotes")
	}
	return text, nil
}

func issuerURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return "", errors.New("is not an address that begins with https://")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return "", errors.New("may only have a scheme, host, port and path")
	}
	return text, nil
}

// redirectURL reads the address where sign-ins end.
func redirectURL(text string) (string, error) {
	u, err := url.Parse(text)
	isWeb := err == nil && (u.Scheme == "https" || u.Scheme == "http")
	switch {
	case err != nil, isWeb && u.Hostname() == "", !isWeb && !strings.Contains(u.Scheme, "."):
		return "", errors.New("is not an address such as https://app.example.com/done or com.example.app:/done")
	case u.User != nil, strings.Contains(text, "#"):
		return "", errors.New("may not have a user name, or a part that begins with #")
	}
	return text, nil
}

// redirectURI reads an address that a client may name for the end of a sign-in. An http
// address on another machine would send codes in plaintext.
func redirectURI(text string) (string, error) {
	v, err := redirectURL(text)
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(text); err != nil || u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return "", errors.New("must begin with https://: http:// is for addresses of this machine only")
	}
	return v, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}
