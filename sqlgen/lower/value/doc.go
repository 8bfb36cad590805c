// Package value lowers expressions: literals, paths, comparisons and arithmetic of a schema become SQL.
//
// It knows rows, the arms of unions, the levels that a create writes, the keys of an order, and how each type is
// described to Postgres. It knows nothing of tables as a whole, of policies or of functions.
package value
