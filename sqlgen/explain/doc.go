// Package explain tells why a call is admitted or refused.
//
// Its input is a checked schema, a database in which it is installed, and a call: the
// action, the caller, the inputs. Its output is the decision of each rule, clause by
// clause, for the row of the call, and the changes that would make the rule admit it.
// The database evaluates each clause, as a column of one statement that package lower
// prints as it prints the functions and policies; nothing is written.
//
// The package ignores the write itself, with the constraints that may refuse it, and the
// effects of custom code.
package explain
