// Package live lets clients follow answers: it reads the record of changes, calls anew what a change may have made
// another, and sends what is new to the streams that follow it.
//
// A class is subscriptions with the same answer. They share its calls. A viewer is a caller of an action whose rules ask
// something of the caller; what they ask says to which class the caller belongs. Both are units, which depend on keys of
// rows, are marked when a change has one of them, and are called in batches.
package live
