// Package mailroom sends the mails in the database's queue: after the commit of the
// transaction that requested one, with retries until the mail server takes it. Requests
// never wait for it.
package mailroom
