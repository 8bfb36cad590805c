package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// refusal is an answer other than the one asked for. It is an error, so that each
// stage of a request may return one; only this file writes it as a response.
type refusal struct {
	status  int
	code    string
	message string
	entries []entry // under data.errors
	cause   error   // what happened, for the log; never shown

	allow        string // Allow, with 405
	authenticate string // WWW-Authenticate, with 401
	close        bool   // the connection ends with this answer

	retryAfter time.Duration // with 429 and 503; 0 means a moment
	oauth      string        // the error code on an OAuth endpoint; empty means the one of the status
}

// entry is one problem of a request.
type entry struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

func (r *refusal) Error() string {
	if r.cause != nil {
		return fmt.Sprintf("%s: %v", r.message, r.cause)
	}
	return r.message
}

func (r *refusal) Unwrap() error { return r.cause }

// The catalogue: everything that can be refused, and how.
var (
	inputMalformed       = refusal{status: http.StatusBadRequest, code: "ERR_INPUT_MALFORMED", message: "the input could not be read"}
	inputInvalid         = refusal{status: http.StatusBadRequest, code: "ERR_INVALID_INPUT", message: "one or more errors found validating request object"}
	authenticationFailed = refusal{status: http.StatusUnauthorized, code: "ERR_AUTHENTICATION_FAILED", message: auth.ErrNoIdentity.Error(), authenticate: auth.ErrNoIdentity.WWWAuthenticate()}
	permissionDenied     = refusal{status: http.StatusForbidden, code: "ERR_PERMISSION_DENIED", message: "not authorized to access"}
	actionNotFound       = refusal{status: http.StatusNotFound, code: "ERR_ACTION_NOT_FOUND", message: "action not found"}
	recordNotFound       = refusal{status: http.StatusNotFound, code: "ERR_RECORD_NOT_FOUND", message: "record not found"}
	methodNotAllowed     = refusal{status: http.StatusMethodNotAllowed, code: "ERR_HTTP_METHOD_NOT_ALLOWED", message: "method not allowed"}
	conflict             = refusal{status: http.StatusConflict, code: "ERR_CONFLICT", message: "a validation rule failed"}
	bodyTooLarge         = refusal{status: http.StatusRequestEntityTooLarge, code: "ERR_REQUEST_TOO_LARGE", message: "the request body is too large", close: true}
	headerTooLarge       = refusal{status: http.StatusRequestHeaderFieldsTooLarge, code: "ERR_REQUEST_TOO_LARGE", message: "the request header is too large", close: true}
	unsupportedMediaType = refusal{status: http.StatusUnsupportedMediaType, code: "ERR_UNSUPPORTED_MEDIA_TYPE", message: "the request body must be application/json"}
	rateLimited          = refusal{status: http.StatusTooManyRequests, code: "ERR_RATE_LIMITED", message: "too many uploads outstanding"}
	internal             = refusal{status: http.StatusInternalServerError, code: "ERR_INTERNAL", message: "an internal error occurred"}
	unavailable          = refusal{status: http.StatusServiceUnavailable, code: "ERR_UNAVAILABLE", message: "the service is temporarily unavailable"}
	overloaded           = refusal{status: http.StatusServiceUnavailable, code: "ERR_UNAVAILABLE", message: "the service is overloaded"}
	timeout              = refusal{status: http.StatusGatewayTimeout, code: "ERR_TIMEOUT", message: "the action took too long"}
)

// databaseRefusals maps what the database raises, by SQLSTATE or by its class.
// Class SP is ours; its message is written for clients. Constraints are not here:
// the manifest says what they mean. Whatever is not listed is unforeseen.
var databaseRefusals = map[string]*refusal{
	"SP400": &inputInvalid,
	"SP401": &authenticationFailed,
	"SP403": &permissionDenied,
	"SP404": &recordNotFound,
	"SP409": &conflict,
	"SP429": &rateLimited,
	"40001": &unavailable, // serialization failure, after the last retry
	"40P01": &unavailable, // deadlock, likewise
	"55P03": &timeout,     // lock_timeout
	"57014": &timeout,     // statement_timeout
	"57P01": &unavailable, // the database is being shut down
	"57P02": &unavailable, // it crashed
	"57P03": &unavailable, // it cannot take connections now
	"57P04": &unavailable, // it was dropped
	"57P05": &unavailable, // idle for too long
	"08":    &unavailable, // connection
	"53":    &unavailable, // out of memory, disk or connections
}

// with returns a copy of the refusal that remembers its cause.
func (r *refusal) with(cause error) *refusal {
	c := *r
	c.cause = cause
	return &c
}

// saying returns a copy of the refusal with another message.
func (r *refusal) saying(format string, args ...any) *refusal {
	c := *r
	c.message = fmt.Sprintf(format, args...)
	return &c
}

// listing returns a copy of the refusal with entries.
func (r *refusal) listing(entries ...entry) *refusal {
	c := *r
	c.entries = entries
	return &c
}

func notAllowed(methods string) *refusal {
	c := methodNotAllowed
	c.allow = methods
	return &c
}

// refuse says how an error is answered.
func refuse(err error) *refusal {
	var known *refusal
	if errors.As(err, &known) {
		return known
	}
	var malformed *input.Malformed
	if errors.As(err, &malformed) {
		return inputMalformed.saying("the input could not be read: %s", malformed.Reason)
	}
	var invalid *input.Invalid
	if errors.As(err, &invalid) {
		entries := make([]entry, len(invalid.Problems))
		for i, p := range invalid.Problems {
			entries[i] = entry{Field: p.Field, Error: p.Error}
		}
		return inputInvalid.listing(entries...)
	}
	return internal.with(err)
}

// refuseCall says how an error of the database is answered to one call.
func refuseCall(err error, action *release.Action, constraints map[string]release.Constraint, sent []byte) *refusal {
	var known *refusal
	if errors.As(err, &known) {
		return known
	}
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return internal.with(err)
	}

	switch code := raised.Code; {
	case strings.HasPrefix(code, "SP"):
		return refuseAsRaised(raised, action)
	case code == "23505", code == "23503", code == "23001", code == "23502", code == "23514":
		if r := refuseConstraint(raised, action, constraints, sent); r != nil {
			return r
		}
	case code == "54000": // a limit of Postgres: an entry of an index, a row
		if r := refuseTooLong(raised, action, sent); r != nil {
			return r
		}
	case code == "42501" && raised.Where != "":
		// Raised inside the function: its code may not do this on the caller's
		// behalf. Outside of it, the server itself lacks a right.
		return permissionDenied.with(err)
	case code == "25006" && action.Kind.Writes():
		return unavailable.with(err) // the database takes no writes now
	default:
		if r := databaseRefusals[code]; r != nil {
			return r.with(err)
		}
		if r := databaseRefusals[code[:min(2, len(code))]]; r != nil {
			return r.with(err)
		}
	}
	return internal.with(err)
}

// isMissingRight tells whether code was refused for a right that it does not have, as on
// the columns that no caller reads. That is a mistake of the code, whoever calls it, other
// than a new row that a policy does not admit and an exception that the code itself raised.
func isMissingRight(err error) bool {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) || raised.Code != "42501" {
		return false
	}
	// The routine of Postgres says which it was, whatever the language of messages.
	return raised.Routine != "ExecWithCheckOptions" && raised.Routine != "exec_stmt_raise"
}

// refuseAsRaised takes over a refusal of class SP: its message, unless the catalogue
// fixes it, and the entries in its detail. Custom code may refuse for some reasons only,
// and in words only.
func refuseAsRaised(raised *pgconn.PgError, action *release.Action) *refusal {
	known := databaseRefusals[raised.Code]
	byCode := action.Custom && !isRaisedByPlatform(raised)
	if known == nil || byCode && !slices.Contains(codesOfCustomCode[:], raised.Code) {
		return internal.with(raised)
	}
	r := known.with(raised)
	if raised.Message != "" {
		r.message = cut(raised.Message, 500)
	}
	var detail struct {
		Errors []entry `json:"errors"`
	}
	if !byCode && json.Unmarshal([]byte(raised.Detail), &detail) == nil {
		r.entries = detail.Errors
	}
	return r
}

// codesOfCustomCode are the refusals that custom code may raise.
var codesOfCustomCode = [...]string{"SP400", "SP403", "SP404", "SP409"}

// isRaisedByPlatform tells whether a function of schema platform raised an error: it is
// named in the first line of the context, whatever the language of messages.
func isRaisedByPlatform(raised *pgconn.PgError) bool {
	first, _, _ := strings.Cut(raised.Where, "\n")
	return strings.Contains(first, " platform.")
}

// envelope writes the body of a refusal.
func (r *refusal) envelope() []byte {
	b := []byte(`{"code":`)
	b = quote(b, r.code)
	b = append(b, `,"message":`...)
	b = quote(b, r.message)
	if len(r.entries) > 0 {
		b = append(b, `,"data":{"errors":[`...)
		for i, e := range r.entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '{')
			if e.Field != "" {
				b = append(b, `"field":`...)
				b = quote(b, e.Field)
				b = append(b, ',')
			}
			b = append(b, `"error":`...)
			b = quote(b, e.Error)
			b = append(b, '}')
		}
		b = append(b, `]}`...)
	}
	return append(b, '}')
}

// quote appends a JSON string. Bytes that are not UTF-8 become U+FFFD, and so does
// NUL, which Postgres cannot hold.
func quote[T string | []byte](b []byte, s T) []byte {
	t := []byte(s)
	if bytes.IndexByte(t, 0) >= 0 {
		t = bytes.ReplaceAll(t, []byte{0}, []byte("\uFFFD"))
	}
	b, _ = jsontext.AppendQuote(b, t) // its error is about what has just been replaced
	return b
}

// cut shortens a text to a number of characters.
func cut(s string, characters int) string {
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	return string([]rune(s)[:characters])
}
