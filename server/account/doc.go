// Package account is the actions of every API that exposes Identity: a new password by
// mail, proof and change of the e-mail address, the end of all sign-ins. They are described
// like the actions of a schema, and package auth carries them out. The package also has the
// page that proves an address.
package account
