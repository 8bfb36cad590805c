// Package refusal converts errors of any kind, including those of the database, to a
// Refusal with its status, code and message. It has the only catalogue of them.
//
// It writes bodies, in two forms, and no responses.
package refusal
