package auth

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

const testClient = "client"

// testIssuer is a provider with documents that a test sets.
type testIssuer struct {
	*httptest.Server
	mutex     sync.Mutex // for the rest
	keys      []jwk.Key
	header    http.Header // of its documents
	discovery map[string]any
	status    int // of its documents; 0 means 200
	asked     []string
}

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	p := &testIssuer{header: http.Header{}, discovery: map[string]any{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.discovery["issuer"] = p.URL
	p.discovery["jwks_uri"] = p.URL + "/keys"
	return p
}

// ServeHTTP answers with one of the two documents.
func (p *testIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.asked = append(p.asked, r.URL.Path)
	for name, values := range p.header {
		w.Header()[name] = values
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	var document any = p.discovery
	if r.URL.Path == "/keys" {
		document = map[string]any{"keys": p.keys}
	}
	_ = json.NewEncoder(w).Encode(document)
}

func (p *testIssuer) with(change func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change()
}

// takeAsked returns the requests since its last call.
func (p *testIssuer) takeAsked() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	asked := strings.Join(p.asked, " ")
	p.asked = nil
	return asked
}

// addKey publishes a key.
func (p *testIssuer) addKey(t *testing.T, id string, public crypto.PublicKey) {
	t.Helper()
	key, err := jwk.FromRaw(public)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Set(jwk.KeyIDKey, id); err != nil {
		t.Fatal(err)
	}
	p.with(func() { p.keys = append(p.keys, key) })
}

// token returns an ID token that is valid at a moment.
func (p *testIssuer) token(t *testing.T, now time.Time, algorithm jwa.SignatureAlgorithm, id string, key any) string {
	t.Helper()
	payload := fmt.Appendf(nil, `{"iss":%q,"aud":%q,"sub":"ada","iat":%d,"exp":%d}`, p.URL, testClient, now.Unix(), now.Add(time.Hour).Unix())
	headers := jws.NewHeaders()
	if id != "" {
		if err := headers.Set(jws.KeyIDKey, id); err != nil {
			t.Fatal(err)
		}
	}
	signed, err := jws.Sign(payload, jws.WithKey(algorithm, key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

func (p *testIssuer) providers(t *testing.T, now func() time.Time) *Providers {
	t.Helper()
	providers, err := NewProviders(ProvidersOptions{
		Providers: []ProviderOptions{{Type: "oidc", Name: "main", ClientID: testClient, IssuerURL: p.URL}},
		Now:       now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return providers
}

const (
	both     = "/.well-known/openid-configuration /keys"
	keysOnly = "/keys"
)

// TestFreshness checks how long documents of a provider are used before they are fetched
// again: as their headers say, within bounds.
func TestFreshness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 5 * time.Minute},
		{http.Header{"Cache-Control": {"max-age=1"}}, 5 * time.Minute},
		{http.Header{"Cache-Control": {"public, max-age=3600"}}, time.Hour},
		{http.Header{"Cache-Control": {"public", `max-age="3600"`}}, time.Hour},
		{http.Header{"Cache-Control": {"Max-Age=3600"}, "Age": {"1200"}}, 40 * time.Minute},
		{http.Header{"Cache-Control": {"max-age=3600"}, "Age": {"-9"}}, time.Hour},
		{http.Header{"Cache-Control": {"max-age=99999999999"}}, 24 * time.Hour},
		{http.Header{"Cache-Control": {"max-age=99999999999999999999999"}}, 5 * time.Minute},
		{http.Header{"Cache-Control": {"max-age=-5"}}, 5 * time.Minute},
		{http.Header{"Cache-Control": {"max-age=3600, no-store"}}, time.Hour},
		{http.Header{"Cache-Control": {"no-store, max-age=3600"}}, 5 * time.Minute},
		{http.Header{"Cache-Control": {"no-cache"}}, 5 * time.Minute},
		{http.Header{"Date": {"Tue, 31 Mar 2026 10:00:00 GMT"}, "Expires": {"Tue, 31 Mar 2026 12:00:00 GMT"}}, 2 * time.Hour},
		{http.Header{"Date": {"Tue, 31 Mar 2026 10:00:00 GMT"}, "Expires": {"0"}}, 5 * time.Minute},
	} {
		if got := freshFor(c.header); got != c.want {
			t.Errorf("%v: got %s, want %s", c.header, got, c.want)
		}
	}
}

// TestKept checks the requests to a provider, and their times.
func TestKept(t *testing.T) {
	t.Parallel()
	p, key, c := newTestIssuer(t), newEC(t, elliptic.P256()), &clock{time: start}
	p.addKey(t, "1", key.Public())
	p.header.Set("Cache-Control", "max-age=600")
	providers := p.providers(t, c.now)
	verify := func(step, id string, want bool, asked string) {
		t.Helper()
		_, err := providers.VerifyIDToken(t.Context(), p.token(t, c.now(), jwa.ES256, id, key))
		if (err == nil) != want {
			t.Errorf("%s: got %v, want accepted %v", step, err, want)
		}
		if got := p.takeAsked(); got != asked {
			t.Errorf("%s: asked for %q, want %q", step, got, asked)
		}
	}
	verify("the first token", "1", true, both)
	verify("the second", "1", true, "")
	verify("an unknown key", "2", false, keysOnly)
	verify("another unknown key at once", "3", false, "")
	c.add(59 * time.Second)
	verify("an unknown key within the minute", "2", false, "")
	p.addKey(t, "2", key.Public())
	c.add(time.Second)
	verify("a key that came since, after the minute", "2", true, keysOnly)
	verify("no key is named, of two", "", false, "")
	c.add(10 * time.Minute)
	verify("after its time", "1", true, both)

	// The provider is out of reach from the expiry on.
	c.add(10 * time.Minute)
	p.with(func() { p.status = http.StatusServiceUnavailable })
	verify("out of reach", "1", true, both)
	verify("out of reach, at once", "1", true, "")
	c.add(10 * time.Second)
	verify("out of reach, seconds later", "1", true, both)
	c.add(24*time.Hour - 20*time.Second)
	verify("out of reach for a day", "1", true, both)
	c.add(10 * time.Second)
	_, err := providers.VerifyIDToken(t.Context(), p.token(t, c.now(), jwa.ES256, "1", key))
	if !isUnreachable(err) {
		t.Errorf("out of reach for longer: got %v, want that it is unreachable", err)
	}
	p.takeAsked()
	p.with(func() { p.status = 0 })
	c.add(10 * time.Second)
	verify("back again", "1", true, both)
}

// TestKeptOnce checks that concurrent requests for a document fetch it once.
func TestKeptOnce(t *testing.T) {
	t.Parallel()
	p, key := newTestIssuer(t), newEC(t, elliptic.P256())
	p.addKey(t, "1", key.Public())
	providers := p.providers(t, nil)
	token := p.token(t, time.Now(), jwa.ES256, "1", key)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := providers.VerifyIDToken(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := p.takeAsked(); got != both {
		t.Errorf("asked for %q, want %q", got, both)
	}
}

// TestKeptPanics checks that a fetch that panics leaves no caller waiting.
func TestKeptPanics(t *testing.T) {
	t.Parallel()
	c := &clock{time: start}
	k := kept[int]{now: c.now}
	func() {
		defer func() { _ = recover() }()
		_, _ = k.get(t.Context(), false, func(context.Context) (int, time.Duration, error) { panic("a bug") })
	}()
	if _, err := k.get(t.Context(), false, nil); !isUnreachable(err) {
		t.Errorf("at once: got %v, want that it is unreachable", err)
	}
	c.add(retryAfter)
	got, err := k.get(t.Context(), false, func(context.Context) (int, time.Duration, error) { return 7, time.Hour, nil })
	if got != 7 || err != nil {
		t.Errorf("later: got %d, %v, want 7", got, err)
	}
}

// TestDiscoveryRefused checks which documents are not used.
func TestDiscoveryRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p *testIssuer){
		"another issuer's":    func(p *testIssuer) { p.discovery["issuer"] = "https://accounts.example.com" },
		"nobody's":            func(p *testIssuer) { delete(p.discovery, "issuer") },
		"without keys":        func(p *testIssuer) { delete(p.discovery, "jwks_uri") },
		"keys in a file":      func(p *testIssuer) { p.discovery["jwks_uri"] = "file:///etc/passwd" },
		"keys of a user":      func(p *testIssuer) { p.discovery["jwks_uri"] = "http://a:b@127.0.0.1/keys" },
		"not an address":      func(p *testIssuer) { p.discovery["token_endpoint"] = "%" },
		"longer than a MiB":   func(p *testIssuer) { p.discovery["padding"] = strings.Repeat("a", 1<<20) },
		"not found":           func(p *testIssuer) { p.status = http.StatusNotFound },
		"a member of no text": func(p *testIssuer) { p.discovery["jwks_uri"] = 7 },
	} {
		p, key := newTestIssuer(t), newEC(t, elliptic.P256())
		p.addKey(t, "1", key.Public())
		change(p)
		if _, err := p.providers(t, nil).VerifyIDToken(t.Context(), p.token(t, time.Now(), jwa.ES256, "1", key)); !isUnreachable(err) {
			t.Errorf("%s: got %v, want that the provider is unreachable", name, err)
		}
	}
}

// TestEndpointsOverTLS checks that a provider over TLS cannot name endpoints without TLS.
func TestEndpointsOverTLS(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]bool{"https://accounts.example.com": false, "http://127.0.0.1:1": true} {
		i := newIssuer(from, nil, nil)
		if got := i.mayUse("http://keys.example.com/keys"); got != want {
			t.Errorf("%s names an endpoint without TLS: got %v, want %v", from, got, want)
		}
		if !i.mayUse("https://keys.example.com/keys") {
			t.Errorf("%s names an endpoint with TLS: got false, want true", from)
		}
	}
}

// TestProviderTypes checks the issuers of types, and that a type without issuer needs
// one.
func TestProviderTypes(t *testing.T) {
	t.Parallel()
	var options []ProviderOptions
	for _, kind := range []string{"google", "facebook", "gitlab", "slack"} {
		options = append(options, ProviderOptions{Type: kind, Name: kind})
	}
	options = append(options, ProviderOptions{Type: "gitlab", Name: "own", IssuerURL: "https://git.example.com/"})
	providers, err := NewProviders(ProvidersOptions{Providers: options})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range providers.List() {
		got = append(got, p.issuer.url)
	}
	want := []string{"https://accounts.google.com", "https://www.facebook.com", "https://gitlab.com", "https://slack.com", "https://git.example.com"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, o := range []ProviderOptions{{Type: "oidc", Name: "a"}, {Type: "github", Name: "a"}} {
		if _, err := NewProviders(ProvidersOptions{Providers: []ProviderOptions{o}}); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// TestProviderTimeout checks that a provider that does not answer is given up.
func TestProviderTimeout(t *testing.T) {
	t.Parallel()
	if got := newProviderClient(nil).Timeout; got != 5*time.Second {
		t.Errorf("the limit is %s, want 5s", got)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	i := newIssuer(silent.URL, &http.Client{Timeout: time.Millisecond}, time.Now)
	if _, err := i.discover(t.Context()); !isUnreachable(err) {
		t.Errorf("got %v, want that it is unreachable", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	k := kept[int]{now: time.Now, fetching: make(chan struct{})}
	if _, err := k.get(gone, false, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("somebody who waits and leaves: got %v, want that it was cancelled", err)
	}
}
