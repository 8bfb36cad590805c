// Package refusal says how what went wrong is answered. In come errors of any kind, those
// of the database among them; out comes a Refusal, with its status, code and message. The
// catalogue of all there are is here and nowhere else.
//
// It writes bodies, in the two forms that there are, and no responses.
package refusal
