package refusal

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sternpost/sternpost/server/answer"
)

// AsOAuth returns the form of a refusal for an OAuth endpoint. A timeout is unavailable
// there.
func (r *Refusal) AsOAuth() *Refusal {
	c := *r
	if c.Status == http.StatusGatewayTimeout {
		c.Status, c.Message = Unavailable.Status, Unavailable.Message
	}
	if c.OAuth != "" {
		return &c
	}
	switch {
	case c.Status == http.StatusTooManyRequests, c.Status == http.StatusServiceUnavailable:
		c.OAuth = "temporarily_unavailable"
	case c.Status < http.StatusInternalServerError:
		c.OAuth = "invalid_request"
	default:
		c.OAuth = "server_error"
	}
	return &c
}

// OAuthBody writes the body of a refusal in the form of RFC 6749, section 5.2.
func (r *Refusal) OAuthBody() []byte {
	b := []byte(`{"error":`)
	b = answer.Quote(b, r.OAuth)
	b = append(b, `,"error_description":`...)
	b = answer.Quote(b, r.Message)
	return append(append(b, r.More...), '}')
}

// RetrySeconds returns the value of Retry-After.
func (r *Refusal) RetrySeconds() string {
	if r.RetryAfter <= 0 {
		return RetryAfter
	}
	return strconv.FormatInt(int64((r.RetryAfter+time.Second-1)/time.Second), 10)
}

// RetryAfter is the default wait for clients, in seconds. Most outages of a server are
// over within moments.
const RetryAfter = "1"

// OAuthCode is an error code of the endpoints under /auth.
type OAuthCode struct {
	Status int // 0 if it comes with a redirect
	Code   string
	Text   string
}

// OAuthCatalogue lists the refusals of the endpoints for tokens, in the order of statuses.
func OAuthCatalogue() []OAuthCode {
	return []OAuthCode{
		{http.StatusBadRequest, "invalid_request", "the request is malformed"},
		{http.StatusBadRequest, "invalid_grant", "the credential is not valid"},
		{http.StatusBadRequest, "unsupported_grant_type", "the grant is unknown or disabled"},
		{http.StatusBadRequest, "unsupported_token_type", "the token type is not supported"},
		{http.StatusUnauthorized, "second_factor_required", "the password is right, and a second factor is required"},
		{http.StatusMethodNotAllowed, "invalid_request", "the method is not allowed"},
		{http.StatusRequestEntityTooLarge, "invalid_request", "the body is too large"},
		{http.StatusTooManyRequests, "temporarily_unavailable", "try again later"},
		{http.StatusRequestHeaderFieldsTooLarge, "invalid_request", "the header is too large"},
		{http.StatusInternalServerError, "server_error", "an internal error occurred"},
		{http.StatusServiceUnavailable, "temporarily_unavailable", "the service is temporarily unavailable"},
	}
}

// RedirectCatalogue lists the errors that a sign-in through a provider can return to the application.
func RedirectCatalogue() []OAuthCode {
	return []OAuthCode{
		{0, "invalid_request", "the request is malformed"},
		{0, "unsupported_response_type", "response_type must be code"},
		{0, "access_denied", "the user or the provider refused the sign-in"},
		{0, "temporarily_unavailable", "the provider cannot be reached"},
		{0, "server_error", "an internal error occurred"},
	}
}
