package openapi

import (
	"net/http"
	"strings"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// The parts of every description, for any schema: errors, the token, the time zone.

const (
	bearerScheme            = "bearer"
	timeZoneParameter       = "TimeZone"
	idempotencyKeyParameter = "IdempotencyKey"
	positionParameter       = "Position"
	errorSchema             = "Error"
)

var bearer = securityScheme{Type: "http", Scheme: "bearer", BearerFormat: "JWT"}

var timeZone = parameter{
	Name:        "Time-Zone",
	In:          "header",
	Description: "The IANA time zone for relative dates, such as Europe/Berlin.",
	Schema:      release.Typed("string").With("default", "UTC"),
}

var idempotencyKey = parameter{
	Name: "Idempotency-Key",
	In:   "header",
	Description: "A unique key of this call, such as a UUID. A repetition with the same key and body within 24 hours is not carried out again; " +
		"it gets the first response.",
	Schema: release.Typed("string").With("minLength", 1).With("maxLength", 255),
}

// replayedHeader comes with the answer of a call that takes a key.
var replayedHeader = members[header]{{"Idempotent-Replayed", header{Description: "true if this is the response to an earlier call with the same key.", Schema: release.Typed("boolean")}}}

var position = parameter{
	Name: positionName,
	In:   "header",
	Description: "The value of this header in the response to a write. The response to this request includes that write and all before it, " +
		"even if it comes from a replica of the database.",
	Schema: positionSchema,
}

// positionHeader comes with the answer of a write.
var positionHeader = members[header]{{positionName, header{
	Description: "The position of this write in the database's log, for later requests that must see it. Present if the service reads from replicas.",
	Schema:      positionSchema,
}}}

const positionName = "Sternpost-Position"

var positionSchema = release.Typed("string").With("pattern", "^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$")

// everyStatus lists the error statuses of every operation.
var everyStatus = []int{400, 401, 403, 405, 413, 415, 431, 500, 503, 504}

// ownSchemas are the service's own components.
var ownSchemas = release.Schemas{
	{Name: errorSchema, JSON: errorAnswer.Text()},
	{Name: files.UploadRequestName, JSON: files.UploadRequestSchema.Text()},
	{Name: uploadResponseName, JSON: uploadResponse.Text()},
}

var errorAnswer = release.Typed("object").Described("The body of every error response.").With("properties", release.Properties{}.
	With("code", release.Typed("string").Described("The error code, which is the same in all releases.")).
	With("message", release.Typed("string").Described("A description for people.")).
	With("data", release.ObjectOf(release.Properties{}.
		With("errors", release.Typed("array").With("minItems", 1).With("items", errorEntry))).Requiring("errors"))).
	Requiring("code", "message")

var errorEntry = release.ObjectOf(release.Properties{}.
	With("field", release.Typed("string").Described("The dotted path of the input.")).
	With("code", release.Typed("string").With("enum", problem.Codes()).Described("The kind of problem, which is the same in all releases.")).
	With("params", release.Typed("object").Described("What belongs to a problem of its code, such as the limit.")).
	With("error", release.Typed("string").Described("A description for people."))).
	Requiring("code", "error")

// responses describes each declared error status with its codes.
func (d *describer) responses() members[response] {
	var all members[response]
	for _, status := range errorStatuses {
		if !d.statuses[status] {
			continue
		}
		codes := release.Properties{}.With("code", release.Typed("string").With("enum", codesOf(status)))
		all.add(responseName(status), response{
			Description: responseTexts[status],
			Headers:     responseHeaders(status),
			Content:     jsonContent(release.AllOf(release.RefTo(errorSchema), release.ObjectOf(codes).Requiring("code"))),
		})
	}
	return append(all, oauthResponses()...)
}

// errorStatuses lists every error status of actions and upload routes in order.
var errorStatuses = []int{400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 500, 503, 504}

var responseTexts = map[int]string{
	400: "The request cannot be read, or an input is not valid.",
	401: "The access token is missing or not valid.",
	403: "The permission rules refuse the caller.",
	404: "The record or the action does not exist.",
	405: "The method is not allowed; the header Allow lists the allowed ones.",
	409: "The record would violate a validation rule, or has changed since the call that is repeated.",
	413: "The body is too large.",
	415: "The content type of the body is not JSON.",
	422: "The idempotency key was used for another request.",
	429: "Too many uploads are outstanding, too many answers are kept for idempotency keys, too much was sent with calls that failed, or too many attempts failed.",
	431: "The request line and headers are too large.",
	500: "An internal error occurred.",
	503: "The service is temporarily unavailable or overloaded, or it is not known whether the action was carried out.",
	504: "The action took too long.",
}

// codesOf lists the codes of a status.
func codesOf(status int) []string {
	var codes []string
	for _, r := range refusal.Catalogue() {
		if r.Status == status && r != &refusal.NotLive { // of streams
			codes = append(codes, r.Code)
		}
	}
	return codes
}

// responseHeaders describes the headers of a status.
func responseHeaders(status int) members[header] {
	one := func(name, description, kind string) members[header] {
		return members[header]{{name, header{description, true, release.Typed(kind)}}}
	}
	switch status {
	case 401:
		return one("WWW-Authenticate", "The error of the token (RFC 6750).", "string")
	case 405:
		return one("Allow", "The allowed methods.", "string")
	case 429:
		return one("Retry-After", "The number of seconds after which to try again.", "integer")
	case 503:
		after := one("Retry-After", "The number of seconds after which to try again. Absent if the outcome is unknown.", "integer")
		after[0].value.Required = false
		return after
	}
	return nil
}

// responseName is the component of a status: its phrase in one word.
func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}
