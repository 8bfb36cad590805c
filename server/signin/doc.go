// Package signin implements the endpoints under /auth and /.well-known: sign-in by password
// and through providers, refreshing and revoking tokens, and the documents that describe
// these endpoints to clients. They speak the protocol of package auth over HTTP, and store
// its state through functions of schema platform.
package signin
