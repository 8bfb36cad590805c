// Package account is the actions that every API has which exposes Identity: a new password
// by mail, proof and change of the e-mail address, the end of all sign-ins. They are
// described like the actions of a schema, and carried out by package auth. Beside them, the
// page on which an address is proven.
package account
