// Package auth identifies callers, and signs people in.
//
// Tokens issues and verifies access tokens: JWTs of the profile of RFC 9068, signed with
// the service's own key. A token names the identity that sent a request. The token itself
// does not show whether that identity still exists: only the database knows.
//
// Grants implements the token endpoint: it takes a password, a refresh token, a code or a
// provider's ID token, and answers with tokens. Providers are the services that identify
// a person by OpenID Connect, and SignIns takes a browser through one of them and back.
// Store and SignInStore keep their data between requests; they see secrets as hashes
// only.
package auth
