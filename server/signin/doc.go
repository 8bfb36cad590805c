// Package signin is the endpoints under /auth and /.well-known: sign-in by password and
// through providers, refreshing and revoking tokens, and the documents by which clients find
// all that. They speak the protocol of package auth over HTTP, and keep its state by
// functions of schema platform.
package signin
