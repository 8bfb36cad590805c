// Package syntax reads and prints the schema language.
//
// Its input is the bytes of schema files; its output is syntax trees with a position on
// every node, or diagnostics. Parse accepts the whole grammar, also parts that later
// stages refuse; Format prints a tree in the one spelling of the language and loses
// nothing. The package knows no models, types or rules: package schema decides what a
// name means, and package expr what an expression means.
//
// Parse always returns a tree, also with errors. A part that did not parse is left out,
// or is there as a BadExpr, and the nodes around it are Incomplete: so later stages can
// check the rest and do not report missing parts.
//
// Diagnostics of all stages are collected in Errors. Render shows them to
// people; their JSON form is for editors and scripts.
package syntax
