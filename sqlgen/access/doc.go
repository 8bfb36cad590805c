// Package access reads off a checked schema who may do what.
//
// In comes a schema; out comes a matrix of its actions and of classes of callers:
// anyone who is anonymous, anyone who is authenticated and has no role, and the members
// of each role. Each entry says whether the rules admit every such caller, none,
// or some, depending on rules that it names. That is the early decision, taken for
// a class of callers instead of one: what is not the same for the whole class is
// unknown.
//
// The package looks at rules alone. It does not follow what custom code does.
package access
