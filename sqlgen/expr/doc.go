// Package expr is the expression language: what @where, @permission, @validate,
// @set and @default may say, and what it means.
//
// In come a syntax tree and a Scope, which tells what each name means where the
// expression is. Out comes a typed Node, in which every name is resolved and
// every operator fits its operands. The package also holds the meaning of a
// Node, as an interpreter over rows in memory: the reference that generated SQL
// is tested against.
//
// The package knows no schema and writes no SQL. Attributes, and what may be
// assigned where, are the business of package schema.
package expr
