// Package explain tells why a call is admitted or refused.
//
// In come a checked schema, a database in which it is installed, and a call: the
// action, the caller, the inputs. Out comes what each rule says, clause by clause,
// of the row that the call is about, and what would have to hold for the rule to
// admit it. The rules are evaluated by the interpreter of package expr, over rows
// that are read as they are needed; nothing is written.
//
// What is not looked at: the write itself, with the constraints that may refuse it,
// and what custom code does. The filters of a list are not applied.
package explain
