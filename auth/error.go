package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is the answer of an OAuth endpoint to a request that it refuses (RFC 6749,
// section 5.2). Any other error of this package is a failure of the service, or of a
// service that it depends on.
type Error struct {
	Status      int           // of the response
	Code        string        // the member error
	Description string        // the member error_description
	RetryAfter  time.Duration // with 429 and 503; 0 means a moment
	FactorToken string        // with second_factor_required: for the grant second_factor
	Factors     []string      // with second_factor_required: the kinds that the identity has

	PublicKey json.RawMessage // with second_factor_required: what asks for a passkey; nil if the identity has none

	cause error // for the log
}

// Error says why the request is refused.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Description, e.cause)
	}
	return e.Code + ": " + e.Description
}

// Unwrap returns the cause, which is not for the client; nil if none is known.
func (e *Error) Unwrap() error {
	return e.cause
}

// because returns a copy of the error that remembers its cause.
func (e *Error) because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// InvalidRequest refuses a malformed request.
func InvalidRequest(format string, arguments ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: fmt.Sprintf(format, arguments...)}
}

// InvalidGrant refuses a credential. The description is the same for every cause: it must
// not tell a client why the credential is wrong.
func InvalidGrant(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_grant", Description: description}
}

// tooMany refuses a client that must wait.
func tooMany(wait time.Duration) *Error {
	return &Error{
		Status:      http.StatusTooManyRequests,
		Code:        "temporarily_unavailable",
		Description: "too many failed attempts",
		RetryAfter:  wait,
	}
}

// unavailable refuses a request that might succeed a moment later.
func unavailable(description string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: description}
}
