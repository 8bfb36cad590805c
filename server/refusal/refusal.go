package refusal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/release"
)

// Refusal is an answer other than the requested one. It is an error, so that each stage
// of a request may return one; only this file writes it as a response.
type Refusal struct {
	Status  int
	Code    string
	Message string
	entries []problem.Problem // under data.errors
	needs   string            // under data.needs, what a client has to show first
	query   int               // under data.query, which of several calls is refused, counted from 1; 0 for none
	Cause   error             // the cause, for the log; never shown

	Allow        string // Allow, with 405
	Authenticate string // WWW-Authenticate, with 401
	Close        bool   // the connection ends after this answer

	RetryAfter time.Duration // with 429 and 503; 0 means a moment
	IsUnknown  bool          // the call may have been carried out: with 503, and no Retry-After
	OAuth      string        // the error code on an OAuth endpoint; empty means that of the status
	More       []byte        // further members of the body there, each after a comma
}

// Error says what is refused and why.
func (r *Refusal) Error() string {
	if r.Cause != nil {
		return fmt.Sprintf("%s: %v", r.Message, r.Cause)
	}
	return r.Message
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// The catalogue of all refusals.
var (
	InputMalformed       = Refusal{Status: http.StatusBadRequest, Code: "ERR_INPUT_MALFORMED", Message: "the input could not be read"}
	InputInvalid         = Refusal{Status: http.StatusBadRequest, Code: "ERR_INVALID_INPUT", Message: "one or more errors found validating request object"}
	AuthenticationFailed = Refusal{Status: http.StatusUnauthorized, Code: "ERR_AUTHENTICATION_FAILED", Message: auth.ErrNoIdentity.Error(), Authenticate: auth.ErrNoIdentity.WWWAuthenticate()}
	PermissionDenied     = Refusal{Status: http.StatusForbidden, Code: "ERR_PERMISSION_DENIED", Message: "not authorized to access"}
	SecondFactor         = Refusal{Status: http.StatusForbidden, Code: "ERR_SECOND_FACTOR", Message: "the caller must show a credential again"}
	NotLive              = Refusal{Status: http.StatusBadRequest, Code: "ERR_NOT_LIVE", Message: "this answer cannot be followed"}
	ActionNotFound       = Refusal{Status: http.StatusNotFound, Code: "ERR_ACTION_NOT_FOUND", Message: "action not found"}
	RecordNotFound       = Refusal{Status: http.StatusNotFound, Code: "ERR_RECORD_NOT_FOUND", Message: "record not found"}
	MethodNotAllowed     = Refusal{Status: http.StatusMethodNotAllowed, Code: "ERR_HTTP_METHOD_NOT_ALLOWED", Message: "method not allowed"}
	Conflict             = Refusal{Status: http.StatusConflict, Code: "ERR_CONFLICT", Message: "a validation rule failed"}
	BodyTooLarge         = Refusal{Status: http.StatusRequestEntityTooLarge, Code: "ERR_REQUEST_TOO_LARGE", Message: "the request body is too large", Close: true}
	HeaderTooLarge       = Refusal{Status: http.StatusRequestHeaderFieldsTooLarge, Code: "ERR_REQUEST_TOO_LARGE", Message: "the request header is too large", Close: true}
	UnsupportedMediaType = Refusal{Status: http.StatusUnsupportedMediaType, Code: "ERR_UNSUPPORTED_MEDIA_TYPE", Message: "the request body must be application/json"}
	KeyReused            = Refusal{Status: http.StatusUnprocessableEntity, Code: "ERR_IDEMPOTENCY_KEY_REUSED", Message: "the idempotency key was used for another request"}
	RateLimited          = Refusal{Status: http.StatusTooManyRequests, Code: "ERR_RATE_LIMITED", Message: "too many uploads outstanding"}
	Internal             = Refusal{Status: http.StatusInternalServerError, Code: "ERR_INTERNAL", Message: "an internal error occurred"}
	Unavailable          = Refusal{Status: http.StatusServiceUnavailable, Code: "ERR_UNAVAILABLE", Message: "the service is temporarily unavailable"}
	OutcomeUnknown       = Refusal{Status: http.StatusServiceUnavailable, Code: "ERR_OUTCOME_UNKNOWN", Message: "it is not known whether the action was carried out", IsUnknown: true}
	Overloaded           = Refusal{Status: http.StatusServiceUnavailable, Code: "ERR_UNAVAILABLE", Message: "the service is overloaded"}
	ReadOnly             = Refusal{Status: http.StatusServiceUnavailable, Code: "ERR_UNAVAILABLE", Message: "the database does not accept writes now"}
	Timeout              = Refusal{Status: http.StatusGatewayTimeout, Code: "ERR_TIMEOUT", Message: "the action took too long"}
)

// Catalogue lists all refusals, in the order of statuses. A code may have several statuses,
// and a status several codes.
func Catalogue() []*Refusal {
	return []*Refusal{
		&InputMalformed, &InputInvalid, &NotLive, &AuthenticationFailed, &PermissionDenied, &SecondFactor, &ActionNotFound, &RecordNotFound, &MethodNotAllowed,
		&Conflict, &BodyTooLarge, &UnsupportedMediaType, &KeyReused, &RateLimited, &HeaderTooLarge, &Internal, &Unavailable,
		&OutcomeUnknown, &Timeout,
	}
}

// databaseRefusals maps errors of the database, by SQLSTATE or by its class. Class SP is
// ours; its message is written for clients. Constraints are not here: the manifest
// defines their meaning. Any other error is unforeseen.
var databaseRefusals = map[string]*Refusal{
	"SP400": &InputInvalid,
	"SP401": &AuthenticationFailed,
	"SP403": &PermissionDenied,
	"SP404": &RecordNotFound,
	"SP405": &SecondFactor,
	"SP409": &Conflict,
	"SP422": &KeyReused,
	"SP429": &RateLimited,
	"40001": &Unavailable, // serialization failure, after the last retry
	"40P01": &Unavailable, // deadlock, likewise
	"55P03": &Timeout,     // lock_timeout
	"57014": &Timeout,     // statement_timeout
	"57P01": &Unavailable, // the database is being shut down
	"57P02": &Unavailable, // it crashed
	"57P03": &Unavailable, // it cannot take connections now
	"57P04": &Unavailable, // it was dropped
	"57P05": &Unavailable, // idle for too long
	"08":    &Unavailable, // connection
	"53":    &Unavailable, // out of memory, disk or connections
}

// With returns a copy of the refusal that remembers its cause.
func (r *Refusal) With(cause error) *Refusal {
	c := *r
	c.Cause = cause
	return &c
}

// Saying returns a copy of the refusal with another message.
func (r *Refusal) Saying(format string, args ...any) *Refusal {
	c := *r
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// Listing returns a copy of the refusal with entries.
func (r *Refusal) Listing(entries ...problem.Problem) *Refusal {
	c := *r
	c.entries = entries
	return &c
}

// InQuery returns a copy of the refusal that says which of several calls is refused, counted from 0.
func (r *Refusal) InQuery(index int) *Refusal {
	c := *r
	c.query = index + 1
	return &c
}

// NotAllowed refuses a method and names the allowed ones.
func NotAllowed(methods string) *Refusal {
	c := MethodNotAllowed
	c.Allow = methods
	return &c
}

// Of returns the refusal for an error.
func Of(err error) *Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	var malformed *input.Malformed
	if errors.As(err, &malformed) {
		return InputMalformed.Saying("the input could not be read: %s", malformed.Reason)
	}
	var invalid *input.Invalid
	if errors.As(err, &invalid) {
		return InputInvalid.Listing(invalid.Problems...)
	}
	return Internal.With(err)
}

// OfCall returns the refusal of one call for an error of the database.
func OfCall(err error, action *release.Action, constraints map[string]release.Constraint, sent []byte) *Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return Internal.With(err)
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
		// Raised inside the function: its code lacks the right to do this for the caller.
		// Otherwise the server itself lacks a right.
		return PermissionDenied.With(err)
	case code == "25006" && action.Kind.Writes():
		return ReadOnly.With(err)
	default:
		if r := databaseRefusals[code]; r != nil {
			return r.With(err)
		}
		if r := databaseRefusals[code[:min(2, len(code))]]; r != nil {
			return r.With(err)
		}
	}
	return Internal.With(err)
}

// IsMissingRight tells whether code was refused for a missing right, as on the columns that no
// caller reads. That is a mistake of the code, for any caller. A new row that a policy does not
// admit, and an exception that the code itself raised, are not.
func IsMissingRight(err error) bool {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) || raised.Code != "42501" {
		return false
	}
	// The routine of Postgres distinguishes them, in any language of messages.
	return raised.Routine != "ExecWithCheckOptions" && raised.Routine != "exec_stmt_raise"
}

// refuseAsRaised converts a refusal of class SP: its message, unless the catalogue fixes
// it, and the entries and the wait in its detail. Custom code may refuse for some reasons only, and
// only with a message.
func refuseAsRaised(raised *pgconn.PgError, action *release.Action) *Refusal {
	known := databaseRefusals[raised.Code]
	byCode := action.Custom && !isRaisedByPlatform(raised)
	if known == nil || byCode && !slices.Contains(codesOfCustomCode[:], raised.Code) {
		return Internal.With(raised)
	}
	r := known.With(raised)
	if raised.Message != "" {
		r.Message = Cut(raised.Message, 500)
	}
	var detail struct {
		Errors     []problem.Problem `json:"errors"`
		RetryAfter int               `json:"retryAfter"`
		Needs      string            `json:"needs"`
	}
	if !byCode && json.Unmarshal([]byte(raised.Detail), &detail) == nil {
		r.entries, r.needs, r.RetryAfter = detail.Errors, detail.Needs, time.Duration(detail.RetryAfter)*time.Second
	}
	return r
}

// codesOfCustomCode are the refusals that custom code may raise.
var codesOfCustomCode = [...]string{"SP400", "SP403", "SP404", "SP409"}

// isRaisedByPlatform tells whether a function of schema platform raised an error: the
// first line of the context names it, in any language of messages.
func isRaisedByPlatform(raised *pgconn.PgError) bool {
	first, _, _ := strings.Cut(raised.Where, "\n")
	return strings.Contains(first, " platform.")
}

// Envelope writes the body of a refusal.
func (r *Refusal) Envelope() []byte {
	b := []byte(`{"code":`)
	b = answer.Quote(b, r.Code)
	b = append(b, `,"message":`...)
	b = answer.Quote(b, r.Message)
	if r.query > 0 && len(r.entries) == 0 {
		b = append(strconv.AppendInt(append(b, `,"data":{"query":`...), int64(r.query-1), 10), '}')
	}
	if len(r.entries) > 0 {
		b = append(b, `,"data":{`...)
		if r.query > 0 {
			b = append(strconv.AppendInt(append(b, `"query":`...), int64(r.query-1), 10), ',')
		}
		b = append(b, `"errors":[`...)
		for i, e := range r.entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '{')
			if e.Field != "" {
				b = append(b, `"field":`...)
				b = answer.Quote(b, e.Field)
				b = append(b, ',')
			}
			b = append(b, `"code":`...)
			b = answer.Quote(b, string(e.Code))
			if e.Params != "" {
				b = append(b, `,"params":`...)
				b = append(b, e.Params...)
			}
			b = append(b, `,"error":`...)
			b = answer.Quote(b, e.Error)
			b = append(b, '}')
		}
		b = append(b, `]}`...)
	}
	if r.needs != "" {
		b = answer.Quote(append(b, `,"data":{"needs":`...), r.needs)
		b = append(b, '}')
	}
	return append(b, '}')
}

// Cut shortens a text to a number of characters.
func Cut(s string, characters int) string {
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	return string([]rune(s)[:characters])
}

// OfStore returns the refusal for an error that may come from the database. The store's
// functions raise one refusal, of a caller who must show a credential again. Every other error is a failure.
func OfStore(err error) *Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	code := SQLState(err)
	if raised := new(pgconn.PgError); code == "SP405" && errors.As(err, &raised) {
		return refuseAsRaised(raised, &release.Action{})
	}
	if r := databaseRefusals[code]; r != nil && !strings.HasPrefix(code, "SP") {
		return r.With(err)
	}
	if r := databaseRefusals[code[:min(2, len(code))]]; r != nil {
		return r.With(err)
	}
	if code == "25006" {
		return ReadOnly.With(err)
	}
	return Internal.With(err)
}

// IsOutage tells whether a call failed because the database is out of reach or in trouble,
// and not because of its content or size.
func IsOutage(err error) bool {
	var known *Refusal
	if errors.As(err, &known) {
		return known.Code == Unavailable.Code && known.Message != Overloaded.Message
	}
	code := SQLState(err)
	r := databaseRefusals[code]
	if r == nil {
		r = databaseRefusals[code[:min(2, len(code))]]
	}
	return r == &Unavailable
}

// IsOvertaken tells whether a call may have failed because a release was installed
// meanwhile. Either its function was gone, or it had waited for a table under migration
// and then did not find a column by its old name. The call left nothing in the database,
// so it can be repeated on a newer release, if any. Code of the project can fail in the
// same ways by itself.
func IsOvertaken(err error) bool {
	if err == nil {
		return false
	}
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return false
	}
	switch raised.Code {
	case "42883", "42703", "42P01", "42704", "42804", "42846", "42725", // undefined function, column, table or object; types that do not fit
		"3F000", // undefined schema, as while custom code is made anew
		"0A000": // cached plan must not change result type
		return true
	case "XX000":
		return strings.HasPrefix(raised.Message, "cache lookup failed for ") || strings.HasPrefix(raised.Message, "could not open relation with OID")
	}
	return false
}

// OfAuth returns the refusal of an action for a temporary refusal by package auth.
func OfAuth(err *auth.Error) *Refusal {
	r := Unavailable
	if err.Status == http.StatusTooManyRequests {
		r = RateLimited
	}
	r.Message, r.RetryAfter, r.Cause = err.Description, err.RetryAfter, err.Unwrap()
	return &r
}

// SQLState returns the code of a database error, or an empty string.
func SQLState(err error) string {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return ""
	}
	return raised.Code
}
