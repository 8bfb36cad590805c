// Package replica decides which reads a replica of the database may answer.
//
// In comes how to connect to the primary and to its replicas; out comes, for a caller, a
// replica that has all that the caller must see, or none. It asks the primary and each
// replica a few times a second how far they are, and makes no calls itself.
package replica
