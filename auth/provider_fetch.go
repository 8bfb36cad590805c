package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"golang.org/x/oauth2"
)

// Limits for the answers of a provider.
const (
	providerTimeout = 5 * time.Second // for each of its answers
	providerAnswer  = 1 << 20         // bytes of one
)

// How long documents of a provider are kept.
const (
	minFresh     = 5 * time.Minute
	maxFresh     = 24 * time.Hour
	staleFor     = 24 * time.Hour   // beyond its expiry, while the provider is out of reach
	retryAfter   = 10 * time.Second // before a provider that was out of reach is asked again
	refetchAfter = time.Minute      // before an unknown key is looked for again
)

// unreachableError reports that a provider did not answer properly, so that nothing is
// known about a credential.
type unreachableError struct{ cause error }

func (e *unreachableError) Error() string {
	return "the provider cannot be reached: " + e.cause.Error()
}
func (e *unreachableError) Unwrap() error { return e.cause }

func unreachable(cause error) error {
	if isUnreachable(cause) {
		return cause
	}
	return &unreachableError{cause}
}

// isUnreachable tells whether a provider was out of reach.
func isUnreachable(err error) bool {
	var e *unreachableError
	return errors.As(err, &e)
}

// isProviderTrouble tells whether a status says nothing about the request itself.
func isProviderTrouble(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

func isNetworkError(err error) bool {
	var failed *url.Error
	var network net.Error
	return errors.As(err, &failed) || errors.As(err, &network) || errors.Is(err, errTooLong) || errors.Is(err, io.ErrUnexpectedEOF)
}

// newProviderClient makes the client for all requests to providers. It does not follow
// redirects: it only uses the addresses in a provider's configuration, and those in the
// provider's own documents.
func newProviderClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxResponseHeaderBytes = 64 << 10
		transport = t
	}
	return &http.Client{
		Transport:     limitedTransport{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       providerTimeout,
	}
}

// limitedTransport bounds answers.
type limitedTransport struct{ inner http.RoundTripper }

// RoundTrip is http.RoundTripper's.
func (t limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = &limitedBody{ReadCloser: response.Body, left: providerAnswer}
	return response, nil
}

// limitedBody fails as http.MaxBytesReader does, for a client.
type limitedBody struct {
	io.ReadCloser
	left int
}

var errTooLong = errors.New("the response is too long")

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// issuer holds the documents of a provider, as long as they may be kept.
type issuer struct {
	url    string // without trailing slash
	client *http.Client
	config kept[*discovery]
	keys   kept[jwk.Set]
}

func newIssuer(url string, client *http.Client, now func() time.Time) *issuer {
	return &issuer{url: url, client: client, config: kept[*discovery]{now: now}, keys: kept[jwk.Set]{now: now}}
}

// discovery is the part of a discovery document that this service uses.
type discovery struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	KeysURL               string   `json:"jwks_uri"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	SendsIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
}

// authStyle is how this service authenticates itself when it exchanges a code. It uses
// the form where the provider takes that, since some providers that announce HTTP basic
// authentication decode it differently. It never tries both: a code may be spent by its
// first use.
func (d *discovery) authStyle() oauth2.AuthStyle {
	if slices.Contains(d.AuthMethods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader // the default of a provider that announces nothing
}

// discover returns the discovery document.
func (i *issuer) discover(ctx context.Context) (*discovery, error) {
	return i.config.get(ctx, false, i.fetchDiscovery)
}

func (i *issuer) fetchDiscovery(ctx context.Context) (*discovery, time.Duration, error) {
	body, fresh, err := i.fetch(ctx, i.url+"/.well-known/openid-configuration")
	if err != nil {
		return nil, 0, err
	}
	d := &discovery{}
	if err := json.Unmarshal(body, d); err != nil {
		return nil, 0, errors.New("its discovery document could not be read")
	}
	if issuerKey(d.Issuer) != i.url {
		return nil, 0, errors.New("its discovery document is of another issuer")
	}
	for _, endpoint := range []string{d.AuthorizationEndpoint, d.TokenEndpoint, d.KeysURL} {
		if endpoint != "" && !i.mayUse(endpoint) {
			return nil, 0, errors.New("its discovery document names an endpoint that is not https")
		}
	}
	if d.KeysURL == "" {
		return nil, 0, errors.New("its discovery document lacks jwks_uri")
	}
	return d, fresh, nil
}

// mayUse tells whether an endpoint is as secure as the issuer. Only an issuer on this
// machine, in development, may name endpoints without TLS.
func (i *issuer) mayUse(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(i.url, "http://")
}

// keySet returns the keys of the issuer.
func (i *issuer) keySet(ctx context.Context) (jwk.Set, error) {
	return i.keys.get(ctx, false, i.fetchKeys)
}

// newerKeySet returns newer keys than a set that lacked one. It fetches them for that
// reason at most once a minute: made-up key ids must not make this service ask the
// provider arbitrarily often.
func (i *issuer) newerKeySet(ctx context.Context) (jwk.Set, error) {
	return i.keys.get(ctx, true, i.fetchKeys)
}

func (i *issuer) fetchKeys(ctx context.Context) (jwk.Set, time.Duration, error) {
	d, err := i.discover(ctx)
	if err != nil {
		return nil, 0, err
	}
	body, fresh, err := i.fetch(ctx, d.KeysURL)
	if err != nil {
		return nil, 0, err
	}
	// A key of an unknown kind must not invalidate the others.
	set, err := jwk.Parse(body, jwk.WithIgnoreParseError(true))
	if err != nil {
		return nil, 0, errors.New("its keys could not be read")
	}
	return set, fresh, nil
}

// fetch reads a JSON document. It returns how long the headers allow to keep it, within
// our bounds. Errors contain only the status of an answer.
func (i *issuer) fetch(ctx context.Context, address string) ([]byte, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch %s: %w", address, err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := i.client.Do(request)
	if err != nil {
		return nil, 0, err // the error contains the address
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("fetch %s: status %d", address, response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch %s: %w", address, err)
	}
	if !json.Valid(bytes.TrimSpace(body)) {
		return nil, 0, fmt.Errorf("fetch %s: the response is not JSON", address)
	}
	return body, freshFor(response.Header), nil
}

// freshFor returns how long an answer may be kept (RFC 9111), within bounds.
func freshFor(header http.Header) time.Duration {
	fresh := minFresh
	for _, directive := range strings.Split(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			if seconds, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && seconds >= 0 {
				age, _ := strconv.Atoi(header.Get("Age")) // 0 unless a cache on the way sets it
				fresh = time.Duration(min(seconds-max(age, 0), int(maxFresh/time.Second))) * time.Second
				return max(fresh, minFresh)
			}
		}
	}
	if expires, err := http.ParseTime(header.Get("Expires")); err == nil {
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			fresh = expires.Sub(date)
		}
	}
	return min(max(fresh, minFresh), maxFresh)
}

// kept is a cached document of a provider. The first caller that needs it fetches it;
// concurrent callers wait for that fetch.
type kept[T any] struct {
	now func() time.Time

	mutex    sync.Mutex // for the rest
	value    T
	isThere  bool
	until    time.Time     // when the value expires
	tried    time.Time     // when it was last fetched
	failure  error         // of the last fetch; nil if it succeeded
	doubted  time.Time     // when it was last fetched because something was missing in it
	fetching chan struct{} // closed when the current fetch ends; nil if there is none
}

// get returns the value. With doubt it fetches an unexpired value too, at most once a
// minute. While a provider is out of reach, get returns the last value for one more day,
// and asks again a few seconds later at the earliest. It fails with an *unreachableError.
func (k *kept[T]) get(ctx context.Context, doubt bool, fetch func(context.Context) (T, time.Duration, error)) (T, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for k.fetching != nil {
		if err := k.wait(ctx); err != nil {
			var none T
			return none, unreachable(err)
		}
	}

	now := k.now()
	doubt = doubt && now.Sub(k.doubted) >= refetchAfter
	isDue := doubt || !k.isThere || !now.Before(k.until)
	if !isDue || k.failure != nil && now.Sub(k.tried) < retryAfter {
		return k.usable(now)
	}
	if doubt {
		k.doubted = now
	}
	k.renew(ctx, now, fetch)
	return k.usable(now)
}

// renew fetches the value. The mutex is held before and after, but not during the fetch.
func (k *kept[T]) renew(ctx context.Context, now time.Time, fetch func(context.Context) (T, time.Duration, error)) {
	ended := make(chan struct{})
	k.tried, k.fetching, k.failure = now, ended, errors.New("the fetch did not end") // unless it does
	k.mutex.Unlock()
	defer func() {
		k.mutex.Lock()
		k.fetching = nil
		close(ended)
	}()

	// All callers share the fetch, so it does not end with the request that began it.
	shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*providerTimeout)
	defer cancel()
	value, fresh, err := fetch(shared)

	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.failure = err
	if err == nil {
		k.value, k.isThere, k.until = value, true, now.Add(fresh)
	}
}

// wait waits for the current fetch. The mutex is held before and after.
func (k *kept[T]) wait(ctx context.Context) error {
	running := k.fetching
	k.mutex.Unlock()
	defer k.mutex.Lock()
	select {
	case <-running:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *kept[T]) usable(now time.Time) (T, error) {
	if k.isThere && now.Before(k.until.Add(staleFor)) {
		return k.value, nil
	}
	var none T
	return none, unreachable(k.failure)
}
