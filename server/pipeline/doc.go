// Package pipeline runs the reads of many requests over a few connections.
//
// Each statement is sent with its own Sync, so it is its own transaction. An error, a
// time limit or a cancellation ends only one statement, and settings that are local to a
// transaction do not reach another. Statements of several callers are in flight on one
// connection at once. That saves Postgres and the server most of their wake-ups, which
// are half of the cost of a small read (Postgres 15, chapter 55.2.4, "Pipelining").
//
// Only reads that can be repeated may use this package: a statement that waits behind a
// slow one, or loses its connection, is made elsewhere.
//
// An idle connection can be lent (Loan): one caller has it exclusively, for a statement
// that must not be repeated. One connection always stays with the reads.
//
// Exclusive speaks the same protocol for one caller on a connection of its own, or on a lent one. Its statements need
// not be repeatable: it tells whether a failed one may have taken effect.
//
// Connections have no goroutines. The caller with the oldest statement on a connection
// reads the answers. When its own is complete, it delivers the others that have arrived
// and hands the reading to the next caller. So a caller that finds an idle connection
// uses it directly, without a switch between goroutines.
package pipeline
