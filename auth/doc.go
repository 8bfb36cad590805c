// Package auth tells who is calling.
//
// Tokens issues and verifies access tokens: JWTs of the profile of RFC 9068,
// signed with the service's own key. A token says which identity sent a request;
// whether that identity still exists is for the database to say, since nothing
// here asks it.
package auth
