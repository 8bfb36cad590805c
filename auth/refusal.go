package auth

// Refusal is the error of a request whose Authorization header does not tell who
// is calling. Its text is the message for the client; the status is 401.
type Refusal struct {
	message      string
	authenticate string
}

// The refusals.
var (
	// ErrHeader refuses a header that is not of the form Bearer <token>, or a
	// second one.
	ErrHeader = &Refusal{
		message:      "the Authorization header must be of the form Bearer <token>",
		authenticate: `Bearer`,
	}

	// ErrInvalid refuses a token that this service did not issue for itself.
	ErrInvalid = &Refusal{
		message:      "the access token is not valid",
		authenticate: `Bearer error="invalid_token"`,
	}

	// ErrExpired refuses a token that was valid.
	ErrExpired = &Refusal{
		message:      "the access token has expired",
		authenticate: `Bearer error="invalid_token", error_description="the access token has expired"`,
	}

	// ErrNoIdentity refuses a valid token whose identity is gone. It is for those
	// who ask the database; Tokens does not return it.
	ErrNoIdentity = &Refusal{
		message:      "the identity does not exist",
		authenticate: `Bearer error="invalid_token"`,
	}
)

// Error is the message for the client.
func (r *Refusal) Error() string {
	return r.message
}

// WWWAuthenticate is the value of that header of the answer.
func (r *Refusal) WWWAuthenticate() string {
	return r.authenticate
}
