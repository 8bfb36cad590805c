package client

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/server/refusal"
)

// errorCode is a code of an error for clients.
type errorCode struct {
	code     string
	text     string
	statuses []int // 0 is none
}

// codeTexts describe codes in more detail than their messages, which cover one case.
var codeTexts = map[string]string{
	refusal.AuthenticationFailed.Code: "the token is not valid, or the sign-in has ended",
	refusal.RateLimited.Code:          "too many uploads are outstanding, or too many attempts failed",
	refusal.BodyTooLarge.Code:         "the request is too large",
	refusal.InputInvalid.Code:         "inputs are not valid: data.errors lists each with the reason",
	refusal.Conflict.Code:             "the record would violate a validation rule of its model",
}

// ownCodes are the errors that the runtime raises itself.
var ownCodes = []errorCode{
	{"ERR_NO_ANSWER", "the server could not be reached, or the connection broke; a call that writes may have been carried out", []int{0}},
	{"ERR_UNEXPECTED_ANSWER", "the response is not from the server, but for example from a proxy", nil},
	{"ERR_UPLOAD_REFUSED", "storage refused a file", nil},
	{"ERR_SIGN_IN_NOT_BEGUN", "the sign-in through a provider did not begin here, or began too long ago", []int{0}},
}

// errorCodes lists all of them: those of actions, those of sign-ins, and the runtime's own.
func errorCodes() []errorCode {
	var all []errorCode
	add := func(code, text string, status int) {
		at := slices.IndexFunc(all, func(known errorCode) bool { return known.code == code })
		if at < 0 {
			all = append(all, errorCode{code, text, []int{status}})
		} else if !slices.Contains(all[at].statuses, status) {
			all[at].statuses = append(all[at].statuses, status)
		}
	}
	for _, r := range refusal.Catalogue() {
		add(r.Code, cmp.Or(codeTexts[r.Code], r.Message), r.Status)
	}
	for _, c := range refusal.OAuthCatalogue() {
		add(c.Code, "at sign-in: "+c.Text, c.Status)
	}
	for _, c := range refusal.RedirectCatalogue() {
		add(c.Code, "at sign-in through a provider: "+c.Text, 0)
	}
	return append(all, ownCodes...)
}

// writeErrors writes the union of all errors.
func writeErrors(p *printer) {
	p.line(0, "")
	p.comment(0, "The error of a failed call. Its code tells the case: if (error instanceof ApiError) switch (error.code) { … }")
	p.line(0, "export type %s =", errorType)
	all := errorCodes()
	for i, c := range all {
		p.comment(1, c.text)
		var statuses []string
		for _, status := range c.statuses {
			statuses = append(statuses, strconv.Itoa(status))
		}
		if statuses == nil {
			statuses = []string{"number"}
		}
		end := ""
		if i == len(all)-1 {
			end = ";"
		}
		p.line(1, "| ErrorOf<%s, %s>%s", quote(c.code), alternatives("|", statuses, 0, 0), end)
	}
}
