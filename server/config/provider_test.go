package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
)

func TestAuthSettings(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "sternpost.yaml", `
mode: development
server: {trustedProxies: [10.0.0.0/8, "fd00::/8"]}
auth:
  tokens: {accessTokenExpiry: 60, refreshTokenExpiry: 86400, refreshTokenRotationEnabled: false, refreshTokenGrace: 0}
  password: {enabled: true, signup: false, minLength: 12}
  throttle: {perAccountAndAddress: 1, perAccount: 2, perAddress: 3, triesPerAccountAndAddress: 5, window: 4}
  redirectUrl: https://app.example.com/done
  redirectUris: [https://app.example.com/done, "http://127.0.0.1/done", "com.example.app:/done"]
  pkce: S256
  providers:
    - type: google
      name: google
      clientId: client-1
    - {type: oidc, name: Work, clientId: client-2, issuerUrl: "http://127.0.0.1:9000/realm", scopes: [email, openid], responseMode: form_post, emailDomains: [Example.com], internal: true, redirectUrl: "https://intern.example.com/"}
    - {type: slack, name: google_file, clientId: client-3}
`)
	secret := writeFile(t, "secret", "secret-2\n")
	c, err := Load(Source{File: file, Env: []string{
		"AUTH_PROVIDER_SECRET_GOOGLE=secret-1",
		"AUTH_PROVIDER_SECRET_WORK_FILE=" + secret,
		"AUTH_PROVIDER_SECRET_GOOGLE_FILE=secret-3",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []auth.ProviderOptions{
		{Type: "google", Name: "google", ClientID: "client-1", ClientSecret: "secret-1", Scopes: []string{"openid", "email", "profile"}, ResponseMode: auth.ResponseQuery},
		{Type: "oidc", Name: "Work", ClientID: "client-2", ClientSecret: "secret-2", IssuerURL: "http://127.0.0.1:9000/realm", Scopes: []string{"openid", "email"},
			RedirectURL: "https://intern.example.com/", ResponseMode: auth.ResponseFormPost, EmailDomains: []string{"example.com"}, IsInternal: true},
		{Type: "slack", Name: "google_file", ClientID: "client-3", ClientSecret: "secret-3", Scopes: []string{"openid", "email", "profile"}, ResponseMode: auth.ResponseQuery},
	}
	if !reflect.DeepEqual(c.Providers, want) {
		t.Errorf("providers\n got %+v\nwant %+v", c.Providers, want)
	}
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"access token", c.AccessTokenExpiry, time.Minute},
		{"refresh token", c.RefreshTokenExpiry, 24 * time.Hour},
		{"rotation", c.RefreshTokenRotation, false},
		{"grace", c.RefreshTokenGrace, time.Duration(0)},
		{"password", []any{c.PasswordEnabled, c.PasswordSignup, c.PasswordMinLength}, []any{true, false, 12}},
		{"throttle", c.Throttle, auth.ThrottleOptions{PerAccountAndAddress: 1, PerAccount: 2, PerAddress: 3, TriesPerAccountAndAddress: 5, Window: 4 * time.Second}},
		{"redirectUrl", c.RedirectURL, "https://app.example.com/done"},
		{"redirectUris", len(c.RedirectURIs), 3},
		{"pkce", c.PKCE, auth.PKCES256},
		{"trusted proxies", len(c.TrustedProxies), 2},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestAuthSettingProblems(t *testing.T) {
	t.Parallel()
	const development = "STERNPOST_MODE=development"
	const production = "DATABASE_URL=x BASE_URL=https://x"
	provider := func(members string) string { return "auth:\n  providers:\n    - {" + members + "}" }
	for _, test := range []struct{ file, env, want string }{
		{provider("name: g, clientId: c"), development, "sternpost.yaml:3: auth.providers[0]: type is required"},
		{provider("type: google, clientId: c"), development, "sternpost.yaml:3: auth.providers[0]: name is required"},
		{provider("type: google, name: g"), development, "auth.providers[0]: clientId is required"},
		{provider(`type: google, name: g, clientId: ""`), development, `auth.providers[0]: clientId: "" is empty`},
		{provider("type: oidc, name: g, clientId: c"), development, "auth.providers[0]: issuerUrl is required for type oidc"},
		{provider("type: github, name: g, clientId: c"), development, `auth.providers[0]: type: "github" is not one of google, facebook, gitlab, slack, oidc`},
		{provider("type: google, name: 1g, clientId: c"), development, `name: "1g" is not a valid name: begin with a letter`},
		{provider("type: google, name: g-h, clientId: c"), development, `name: "g-h" is not a valid name: begin with a letter`},
		{provider("type: google, name: g, clientId: c, clientSecret: secret-text"), development, "auth.providers[0].clientSecret: unknown setting"},
		{provider("type: google, name: g, clientId: [c]"), development, "auth.providers[0].clientId: this setting takes one value, not a list"},
		{provider("type: google, name: g, clientId: {a: b}"), development, "auth.providers[0].clientId: this setting takes a value, not further settings"},
		{provider("type: google, name: g, clientId: c, emailDomains: ['@example.com']"), development, `emailDomains: "@example.com" is not the domain of e-mail addresses`},
		{provider("type: google, name: g, clientId: c, scopes: ['a b']"), development, `scopes: "a b" is not a scope: give each scope an entry of its own`},
		{provider("type: google, name: g, clientId: c, responseMode: fragment"), development, `responseMode: "fragment" is not one of query, form_post`},
		{provider("type: google, name: g, clientId: c, internal: maybe"), development, `internal: "maybe" is neither true nor false`},
		{provider("type: oidc, name: g, clientId: c, issuerUrl: 'http://id.example.com'"), development, `issuerUrl: "http://id.example.com" is not an address that begins with https://`},
		{provider("type: oidc, name: g, clientId: c, issuerUrl: 'http://127.0.0.1'"), production, `issuerUrl must begin with https:// in production`},
		{provider("type: oidc, name: g, clientId: c, issuerUrl: 'https://id.example.com?x=y'"), development, `issuerUrl: "https://id.example.com?x=y" may only have a scheme, host, port and path`},
		{provider("type: google, name: g, clientId: c") + "\n    - {type: slack, name: G, clientId: c}", development, "sternpost.yaml:4: auth.providers[1]: an earlier provider has the name G (case does not count): choose another"},
		{provider("type: google, name: g, clientId: c"), development + " AUTH_PROVIDER_SECRET_G=a AUTH_PROVIDER_SECRET_G_FILE=/b", "AUTH_PROVIDER_SECRET_G and AUTH_PROVIDER_SECRET_G_FILE are both set: remove one of them"},
		{provider("type: google, name: g, clientId: c"), development + " AUTH_PROVIDER_SECRET_G_FILE=/does/not/exist", "AUTH_PROVIDER_SECRET_G_FILE: open /does/not/exist"},
		{"auth: {providers: google}", development, "sternpost.yaml:1: auth.providers: this setting takes a list: begin each entry with -"},
		{"auth: {providers: [google]}", development, "sternpost.yaml:1: auth.providers[0]: write settings here, each as name: value"},
		{"auth: {redirectUrl: /done}", development, `auth.redirectUrl: "/done" is not an address`},
		{"auth: {redirectUrl: 'javascript:alert(1)'}", development, "is not an address"},
		{"auth: {redirectUrl: 'https://x/#y'}", development, "may not have a user name, or a part that begins with #"},
		{"auth: {redirectUris: ['http://app.example.com/done']}", development, "must begin with https://: http:// is for addresses of this machine only"},
		{"auth: {redirectUris: ['http://127.0.0.1.example.com/']}", development, "must begin with https://: http:// is for addresses of this machine only"},
		{"auth: {redirectUris: ['https://u@x/']}", development, "may not have a user name, or a part that begins with #"},
		{"auth: {pkce: plain}", development, `auth.pkce: "plain" is not one of optional, required, S256`},
		{"auth: {password: {minLength: 0}}", development, "is not between 1 and 1024"},
		{"auth: {throttle: {perAddress: 0}}", development, "is not between 1 and"},
		{"server: {trustedProxies: [10.0.0.1]}", development, `"10.0.0.1" is not a network`},
	} {
		source := Source{File: writeFile(t, "sternpost.yaml", test.file), Env: strings.Fields(test.env)}
		_, err := Load(source)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.file, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret-text") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}
