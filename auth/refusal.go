package auth

// Refusal is the error of a request whose Authorization header does not identify the
// caller. Its text is the message for the client; the status is 401.
type Refusal struct {
	message      string
	authenticate string
}

// The refusals.
var (
	// ErrHeader refuses a header that is not of the form Bearer <token>, or a second
	// header.
	ErrHeader = &Refusal{
		message:      "the Authorization header must be of the form Bearer <token>",
		authenticate: `Bearer`,
	}

	// ErrInvalid refuses a token that this service did not issue for itself.
	ErrInvalid = &Refusal{
		message:      "the access token is not valid",
		authenticate: `Bearer error="invalid_token"`,
	}

	// ErrExpired refuses a token that has expired.
	ErrExpired = &Refusal{
		message:      "the access token has expired",
		authenticate: `Bearer error="invalid_token", error_description="the access token has expired"`,
	}

	// ErrNoIdentity refuses a valid token of an identity that is gone. Callers that query
	// the database return it; Tokens does not.
	ErrNoIdentity = &Refusal{
		message:      "the identity does not exist",
		authenticate: `Bearer error="invalid_token"`,
	}
)

// Error is the message for the client.
func (r *Refusal) Error() string {
	return r.message
}

// WWWAuthenticate returns the value of that response header.
func (r *Refusal) WWWAuthenticate() string {
	return r.authenticate
}
