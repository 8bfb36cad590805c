// Package pipeline runs the reads of many requests over a few connections.
//
// A statement is sent with a Sync of its own, so it is a transaction of its own: an
// error, a time limit or a cancellation ends one statement and leaves the next alone,
// and settings that are local to one transaction do not reach another. Statements of
// several callers are on their way on one connection at once. That saves Postgres and
// the server most of their wake-ups, which are half of the cost of a small read
// (Postgres 15, chapter 55.2.4, "Pipelining").
//
// Only reads that can be made twice may pass here: a statement that waits behind a slow
// one, or whose connection breaks, is not finished here but made elsewhere.
//
// A connection on which nothing is on its way can be lent (Loan): one caller has it for
// itself, for what must not be made twice. One connection always stays with the reads.
//
// There is no goroutine per connection. The caller whose statement is the oldest on a
// connection reads the answers. When its own is complete, it delivers what has arrived
// of the others' and hands the reading to the next caller. So a caller that finds an
// idle connection uses it directly, without a switch between goroutines.
package pipeline
