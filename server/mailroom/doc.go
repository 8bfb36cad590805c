// Package mailroom sends the mails that wait in the database: once the transaction has
// committed that asked for one, and again until the mail server takes it. Requests never
// wait for it.
package mailroom
