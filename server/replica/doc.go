// Package replica decides which reads a replica of the database may answer.
//
// Its input is how to connect to the primary and to its replicas. Its output is, for a caller, a replica with
// everything that the caller must see, or none. It asks the primary and each replica for their positions a few times
// a second, and makes no calls itself.
package replica
