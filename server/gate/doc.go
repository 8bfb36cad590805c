// Package gate admits as many calls at a time as there are connections. It decides which calls wait, in which
// order, and which are refused.
//
// Calls wait in one queue, first come, first served. No call of an action or of a caller that has its share of the places
// passes a call of another, and it leaves the last place to others. Beyond that a share binds only while others wait.
//
// The queue is bounded: when it is full, the youngest call beyond a share is refused, else the new one. While it is long,
// calls are refused after a part of the time, so that those that are served did not wait for long. (Newest first would
// serve more clients that are still there, and let the oldest starve.)
package gate
