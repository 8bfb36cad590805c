// Package access reads off a checked schema which callers may do what.
//
// Its input is a schema; its output is a matrix of its actions and of classes of callers:
// anonymous ones, authenticated ones without a role, and the members of each role. Each
// entry says whether the rules admit every such caller, none, or some, depending on rules
// that it names. That is the early decision, taken for a class of callers: a value that
// is not the same for the whole class is unknown.
//
// The package reads only rules. It does not follow what custom code does.
package access
