package server

import (
	"testing"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
)

func TestAuthDocuments(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	google := auth.ProviderOptions{Type: "google", Name: "google", ClientID: "c"}
	work := auth.ProviderOptions{Type: "oidc", Name: "Work", ClientID: "c", IssuerURL: "https://id.example.com"}
	hidden := auth.ProviderOptions{Type: "slack", Name: "hidden", ClientID: "c", IsInternal: true}
	secret := auth.ProviderOptions{Type: "slack", Name: "secret", ClientID: "c", IsInternal: true}
	const base = `"token_endpoint":"http://localhost/auth/token","revocation_endpoint":"http://localhost/auth/revoke",` +
		`"jwks_uri":"http://localhost/.well-known/jwks.json","response_types_supported":["code"],` +
		`"grant_types_supported":["authorization_code","refresh_token","password","second_factor","token_exchange"],`
	const rest = `"token_endpoint_auth_methods_supported":["none"],"authorization_response_iss_parameter_supported":true}`
	const anyMethod, s256 = `"code_challenge_methods_supported":["S256","plain"],`, `"code_challenge_methods_supported":["S256"],`
	const issuer = `{"issuer":"http://localhost",`
	const listedGoogle = `{"name":"google","type":"google","authorizeUrl":"http://localhost/auth/authorize/google","callbackUrl":"http://localhost/auth/callback/google"}`
	const listedWork = `{"name":"Work","type":"oidc","authorizeUrl":"http://localhost/auth/authorize/Work","callbackUrl":"http://localhost/auth/callback/Work"}`
	for _, test := range []struct {
		name                string
		providers           []auth.ProviderOptions
		pkce                auth.PKCE
		metadata, providing string
	}{
		{"none", nil, auth.PKCEOptional, issuer + base + anyMethod + rest, "[]"},
		{"internal ones only", []auth.ProviderOptions{hidden}, auth.PKCERequired, issuer + base + anyMethod + rest, "[]"},
		{"one", []auth.ProviderOptions{google}, auth.PKCES256,
			issuer + `"authorization_endpoint":"http://localhost/auth/authorize/google",` + base + s256 + rest, "[" + listedGoogle + "]"},
		{"several internal ones", []auth.ProviderOptions{hidden, secret}, auth.PKCEOptional,
			issuer + `"authorization_endpoints":["http://localhost/auth/authorize/hidden","http://localhost/auth/authorize/secret"],` + base + anyMethod + rest, "[]"},
		{"one beside an internal one", []auth.ProviderOptions{hidden, google}, auth.PKCEOptional,
			issuer + `"authorization_endpoint":"http://localhost/auth/authorize/google",` +
				`"authorization_endpoints":["http://localhost/auth/authorize/hidden","http://localhost/auth/authorize/google"],` + base + anyMethod + rest,
			"[" + listedGoogle + "]"},
		{"several", []auth.ProviderOptions{work, hidden, google}, auth.PKCEOptional,
			issuer + `"authorization_endpoint":"http://localhost/auth/authorize/Work",` +
				`"authorization_endpoints":["http://localhost/auth/authorize/Work","http://localhost/auth/authorize/hidden","http://localhost/auth/authorize/google"],` + base + anyMethod + rest,
			"[" + listedWork + "," + listedGoogle + "]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, d.ServerURL(), func(c *config.Config) {
				c.Providers, c.PKCE, c.CORSOrigins = test.providers, test.pkce, []string{"https://app.example.com"}
			})
			for path, want := range map[string]string{
				"/.well-known/oauth-authorization-server": test.metadata,
				"/auth/providers":                         test.providing,
				"/.well-known/jwks.json":                  string(s.signIn.Tokens.JWKS()),
			} {
				// The host in the request makes no difference.
				resp, body := s.do(t, "GET", path, "", map[string]string{"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"})
				if resp.StatusCode != 200 || body != want {
					t.Errorf("%s\n got %d %s\nwant 200 %s", path, resp.StatusCode, body, want)
				}
				header := resp.Header
				if header.Get("Cache-Control") != "public, max-age=300" || header.Get("Content-Type") != "application/json" || header.Get("Vary") != "Origin" {
					t.Errorf("%s: header: got %v", path, header)
				}
				if resp, body := s.do(t, "HEAD", path, "", nil); resp.StatusCode != 200 || body != "" {
					t.Errorf("HEAD %s: got %d %s", path, resp.StatusCode, body)
				}
				if resp, body := s.do(t, "POST", path, "", nil); resp.StatusCode != 405 || body != methodNotAllowedBody || resp.Header.Get("Allow") != "GET, HEAD" {
					t.Errorf("POST %s: got %d %s", path, resp.StatusCode, body)
				}
			}
		})
	}
}

// Pages of listed origins may use the endpoints, and no others may.
func TestAuthCORS(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.CORSOrigins = []string{"https://app.example.com"} })
	for _, path := range []string{"/auth/token", "/auth/revoke", "/auth/providers", "/.well-known/jwks.json", "/.well-known/oauth-authorization-server"} {
		for origin, want := range map[string]string{"https://app.example.com": "https://app.example.com", "https://evil.example": ""} {
			header := map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST"}
			resp, _ := s.do(t, "OPTIONS", path, "", header)
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want || (resp.StatusCode == 204) != (want != "") {
				t.Errorf("preflight of %s from %s: got %d, origin %q, want %q", path, origin, resp.StatusCode, got, want)
			}
			if resp.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("preflight of %s: credentials are allowed", path)
			}
			resp, _ = s.do(t, "POST", path, "", map[string]string{"Origin": origin})
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: got origin %q, want %q", path, origin, got, want)
			}
		}
	}
}
