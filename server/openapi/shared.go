package openapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// What every description has, whatever the schema: errors, the token, the time zone.

const (
	bearerScheme            = "bearer"
	timeZoneParameter       = "TimeZone"
	idempotencyKeyParameter = "IdempotencyKey"
	errorSchema             = "Error"
)

var bearer = securityScheme{Type: "http", Scheme: "bearer", BearerFormat: "JWT"}

var timeZone = parameter{
	Name:        "Time-Zone",
	In:          "header",
	Description: "The IANA name of the zone in which relative dates are meant, such as Europe/Berlin.",
	Schema:      json.RawMessage(`{"type":"string","default":"UTC"}`),
}

var idempotencyKey = parameter{
	Name: "Idempotency-Key",
	In:   "header",
	Description: "A text that names this call, such as a UUID. Within 24 hours a repetition with the same key and body is not carried out again, " +
		"and gets the answer that the first one got.",
	Schema: json.RawMessage(`{"type":"string","minLength":1,"maxLength":255}`),
}

// replayedHeader comes with the answer of a call that takes a key.
var replayedHeader = members[header]{{"Idempotent-Replayed", header{Description: "Whether this is the answer that a call under the same key got before.", Schema: json.RawMessage(`{"type":"boolean"}`)}}}

// everyStatus lists the errors that any operation may answer.
var everyStatus = []int{400, 401, 403, 405, 413, 415, 431, 500, 503, 504}

// ownSchemas are the components that are the service's own.
var ownSchemas = release.Schemas{
	{Name: errorSchema, JSON: json.RawMessage(`{"type":"object","description":"What every answer but 200 holds.","properties":{` +
		`"code":{"type":"string","description":"What went wrong; it stays the same from release to release."},` +
		`"message":{"type":"string","description":"The same for people."},` +
		`"data":{"type":"object","properties":{"errors":{"type":"array","minItems":1,"items":{"type":"object","properties":{` +
		`"field":{"type":"string","description":"The dotted path of the input that is meant."},` +
		`"error":{"type":"string"}},"required":["error"]}}},"required":["errors"]}},` +
		`"required":["code","message"]}`)},
	{Name: files.UploadRequestName, JSON: json.RawMessage(files.UploadRequestSchema)},
	{Name: uploadResponseName, JSON: json.RawMessage(uploadResponseSchema)},
}

// responses describes each error status that some operation declares: which codes it
// comes with.
func (d *describer) responses() members[response] {
	var all members[response]
	for _, status := range errorStatuses {
		if !d.statuses[status] {
			continue
		}
		codes, err := answer.Encode(codesOf(status))
		if err != nil {
			panic("server: write the codes of a status: " + err.Error()) // they are strings
		}
		schema := `{"allOf":[` + string(release.RefTo(errorSchema)) + `,{"type":"object","properties":{"code":{"type":"string","enum":` +
			string(codes) + `}},"required":["code"]}]}`
		all.add(responseName(status), response{
			Description: responseTexts[status],
			Headers:     responseHeaders(status),
			Content:     jsonContent(json.RawMessage(schema)),
		})
	}
	return all
}

// errorStatuses lists every error status of actions and upload routes in order.
var errorStatuses = []int{400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 431, 500, 503, 504}

var responseTexts = map[int]string{
	400: "The request cannot be read, or an input does not fit.",
	401: "The token does not hold.",
	403: "The rules refuse the caller.",
	404: "There is no such record, or no longer such an action.",
	405: "The method is not one of those that Allow lists.",
	409: "The record would break a validation rule.",
	413: "The body is too large.",
	415: "The body is not said to be JSON.",
	422: "The idempotency key was used for another request.",
	429: "Too many uploads are outstanding, too much was sent with calls that failed, or too many attempts failed.",
	431: "The request line and headers are too large.",
	500: "A mistake of the service.",
	503: "The service is away for a moment, or overloaded; or it broke off, and it is not known whether the action was carried out.",
	504: "The action took too long.",
}

// codesOf lists the codes that come with a status.
func codesOf(status int) []string {
	switch status {
	case 400:
		return []string{refusal.InputMalformed.Code, refusal.InputInvalid.Code}
	case 401:
		return []string{refusal.AuthenticationFailed.Code}
	case 403:
		return []string{refusal.PermissionDenied.Code}
	case 404:
		return []string{refusal.ActionNotFound.Code, refusal.RecordNotFound.Code}
	case 405:
		return []string{refusal.MethodNotAllowed.Code}
	case 409:
		return []string{refusal.Conflict.Code}
	case 413:
		return []string{refusal.BodyTooLarge.Code}
	case 415:
		return []string{refusal.UnsupportedMediaType.Code}
	case 422:
		return []string{refusal.KeyReused.Code}
	case 429:
		return []string{refusal.RateLimited.Code}
	case 431:
		return []string{refusal.HeaderTooLarge.Code}
	case 500:
		return []string{refusal.Internal.Code}
	case 503:
		return []string{refusal.Unavailable.Code, refusal.OutcomeUnknown.Code}
	case 504:
		return []string{refusal.Timeout.Code}
	}
	panic("server: no codes for a status")
}

// responseHeaders describes the headers that a status comes with.
func responseHeaders(status int) members[header] {
	text := func(name, description, schema string) members[header] {
		return members[header]{{name, header{description, true, json.RawMessage(schema)}}}
	}
	switch status {
	case 401:
		return text("WWW-Authenticate", "What is wrong with the token (RFC 6750).", `{"type":"string"}`)
	case 405:
		return text("Allow", "The methods that are allowed.", `{"type":"string"}`)
	case 429:
		return text("Retry-After", "When to come back, in seconds.", `{"type":"integer"}`)
	case 503:
		after := text("Retry-After", "When to come back, in seconds. It is not there where the outcome is unknown.", `{"type":"integer"}`)
		after[0].value.Required = false
		return after
	}
	return nil
}

// responseName is the component of a status: its phrase in one word.
func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}
