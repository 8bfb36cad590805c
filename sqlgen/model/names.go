package model

import (
	"strings"
	"unicode"
)

// PathName joins the names of a path's fields with dots.
func PathName(path []*Field) string {
	names := make([]string, len(path))
	for i, f := range path {
		names[i] = f.Name
	}
	return strings.Join(names, ".")
}

// The longest snake forms, in bytes. Names derived from a table's name must still
// fit into the 63 bytes of a Postgres identifier.
const (
	MaxTableName  = 52
	MaxColumnName = 63
)

// SnakeForm returns the snake form of a name: lower case, with an underscore
// between a lower-case and an upper-case letter, between a letter and a digit in
// either order, and between two capitals of which the second is followed by a
// lower-case letter.
func SnakeForm(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && isBoundary(runes, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// isBoundary tells whether a word of the name begins at i > 0.
func isBoundary(name []rune, i int) bool {
	left, right := name[i-1], name[i]
	switch {
	case unicode.IsLower(left) && unicode.IsUpper(right):
		return true
	case unicode.IsLetter(left) && unicode.IsDigit(right), unicode.IsDigit(left) && unicode.IsLetter(right):
		return true
	case unicode.IsUpper(left) && unicode.IsUpper(right):
		return i+1 < len(name) && unicode.IsLower(name[i+1])
	}
	return false
}

// Variable returns the name of a row of a model or union in
// expressions: the leading run of capitals is lower-cased, but for the run's last
// one if the run is longer than one and a lower-case letter follows.
func Variable(name string) string {
	runes := []rune(name)
	run := 0
	for run < len(runes) && unicode.IsUpper(runes[run]) {
		run++
	}
	if run > 1 && run < len(runes) && unicode.IsLower(runes[run]) {
		run--
	}
	for i := range run {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// FlatName returns the flat name of a path: the steps joined, each but the first
// with its first letter in upper case.
func FlatName(steps []string) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			s = capitalize(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

// capitalize returns the name with its first letter in upper case.
func capitalize(name string) string {
	runes := []rune(name)
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}

// AcceptInvitation is the action of Identity that a schema without @invitation lacks.
const AcceptInvitation = "acceptInvitation"

// IdentityActions lists the actions of Identity, which are the server's own.
func IdentityActions() []string {
	return []string{"requestPasswordReset", "resetPassword", "requestEmailVerification", "verifyEmail", "changePassword", "changeEmail", "signOutEverywhere",
		"listSessions", "endSession", "endOtherSessions",
		"startAuthenticator", "confirmAuthenticator", "removeAuthenticator",
		"startPasskey", "confirmPasskey", "removePasskey", "renewRecoveryCodes", "listFactors",
		"startProviderLink", "confirmProviderLink", "removeProviderLink", "listProviderLinks", AcceptInvitation}
}
