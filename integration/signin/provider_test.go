package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

const (
	clientID     = "sternpost-test"
	clientSecret = "provider-secret-canary"
)

// issuer is a provider that the test controls. By default it follows the standard, and logs in its one
// user without a form.
type issuer struct {
	*httptest.Server
	asked atomic.Int64 // requests of any kind
	key   *ecdsa.PrivateKey

	mutex      sync.Mutex // for the rest
	user       map[string]any
	requests   map[string]url.Values // by code: what the browser was sent with
	editToken  func(claims map[string]any)
	editAnswer func(answer url.Values) // of the authorization endpoint
	discovery  map[string]any          // members beyond the usual ones
	tokenError int                     // status of the token endpoint; 0 means none
	lastCode   string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &issuer{
		key:      key,
		requests: map[string]url.Values{},
		user:     map[string]any{"sub": "user-1", "email": "Ada@Example.com", "email_verified": true, "name": "Ada"},
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/.well-known/openid-configuration", p.configuration)
	routes.HandleFunc("/keys", p.keys)
	routes.HandleFunc("/authorize", p.authorize)
	routes.HandleFunc("/token", p.token)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		routes.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// with changes the behaviour of the provider.
func (p *issuer) with(change func(p *issuer)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change(p)
}

func (p *issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	document := map[string]any{
		"issuer":                                p.URL,
		"authorization_endpoint":                p.URL + "/authorize",
		"token_endpoint":                        p.URL + "/token",
		"jwks_uri":                              p.URL + "/keys",
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic"},
	}
	maps.Copy(document, p.discovery)
	answer(w, http.StatusOK, document)
}

func (p *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	key, err := jwk.FromRaw(p.key.Public())
	if err != nil {
		panic(err)
	}
	_ = key.Set(jwk.KeyIDKey, "key-1")
	answer(w, http.StatusOK, map[string]any{"keys": []any{key}})
}

// authorize redirects the browser at once, with a code.
func (p *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	query := r.URL.Query()
	code := rand.Text()
	p.requests[code], p.lastCode = query, code
	back := url.Values{"code": {code}, "state": {query.Get("state")}}
	if p.editAnswer != nil {
		p.editAnswer(back)
	}
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token trades a code for an ID token. It is strict: the client authenticates as
// announced, the redirect URI is the earlier one, and the verifier fits.
func (p *issuer) token(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	id, secret, _ := r.BasicAuth()
	code := r.PostFormValue("code")
	request, isKnown := p.requests[code]
	delete(p.requests, code)
	hash := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case p.tokenError != 0:
		answer(w, p.tokenError, map[string]any{"error": "server_error"})
		return
	case id != clientID || secret != clientSecret:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	case !isKnown || request.Get("redirect_uri") != r.PostFormValue("redirect_uri"),
		request.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(hash[:]):
		// As some providers do, it repeats the text that it was sent.
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "not good: " + code})
		return
	}
	claims := p.claims()
	claims["nonce"] = request.Get("nonce")
	if p.editToken != nil {
		p.editToken(claims)
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "provider-access-canary", "token_type": "Bearer", "id_token": p.sign(claims)})
}

// claims are those of an ID token for the user.
func (p *issuer) claims() map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": p.URL, "aud": clientID, "iat": now, "exp": now + 300}
	maps.Copy(claims, p.user)
	return claims
}

func (p *issuer) sign(claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	headers := jws.NewHeaders()
	_ = headers.Set(jws.KeyIDKey, "key-1")
	signed, err := jws.Sign(payload, jws.WithKey(jwa.ES256, p.key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		panic(err)
	}
	return string(signed)
}

// idToken is one for the user, changed as a test wants.
func (p *issuer) idToken(edit func(claims map[string]any)) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	claims := p.claims()
	if edit != nil {
		edit(claims)
	}
	return p.sign(claims)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// settings are those of a service with these providers, by name.
func settings(more string, providers ...string) string {
	text := more + "  providers:\n"
	for _, p := range providers {
		text += p
	}
	return text
}

// secretOf is the variable with the secret of a provider.
func secretOf(name, secret string) string {
	return fmt.Sprintf("AUTH_PROVIDER_SECRET_%s=%s", name, secret)
}
