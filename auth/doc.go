// Package auth tells who is calling, and lets people in.
//
// Tokens issues and verifies access tokens: JWTs of the profile of RFC 9068,
// signed with the service's own key. A token says which identity sent a request;
// whether that identity still exists is for the database to say, since nothing asks
// it then.
//
// Grants is what the token endpoint does: it takes a password, a refresh token, a
// code or a provider's ID token, and answers with tokens. Providers are the services
// that tell who somebody is, by OpenID Connect, and SignIns the way of a browser
// through one of them and back. What they keep from one request to the next is
// behind Store and SignInStore; secrets reach those as hashes only.
package auth
