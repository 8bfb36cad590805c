// Package syntax reads and prints the schema language.
//
// In come the bytes of schema files; out go syntax trees with a position on every
// node, or diagnostics. Parse accepts the whole grammar, also what later stages
// refuse; Format prints a tree in the one spelling of the language and loses
// nothing. The package knows no models, types or rules: what a name means is
// decided in package schema, what an expression means in package expr.
//
// Parse always returns a tree, also with errors. What did not parse is left out of
// it, or is there as a BadExpr, and the nodes around it are Incomplete: so
// later stages can check the rest and stay silent about what is missing.
//
// Diagnostics of all stages are collected in Errors. Render shows them to
// people; their JSON form is for editors and scripts.
package syntax
