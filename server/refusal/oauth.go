package refusal

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sternpost/sternpost/server/answer"
)

// AsOAuth returns a refusal as an OAuth endpoint answers it. Whatever is too slow is
// unavailable there.
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
	return append(b, '}')
}

// RetrySeconds is the value of Retry-After.
func (r *Refusal) RetrySeconds() string {
	if r.RetryAfter <= 0 {
		return RetryAfter
	}
	return strconv.FormatInt(int64((r.RetryAfter+time.Second-1)/time.Second), 10)
}

// RetryAfter is how long clients are asked to wait, in seconds, unless a refusal
// says it. What makes a server unavailable is mostly over within moments.
const RetryAfter = "1"
