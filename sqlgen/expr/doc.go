// Package expr is the expression language: the expressions of @where, @permission,
// @validate, @set and @default, and their meaning.
//
// Its input is a syntax tree and a Scope, which tells what each name means where the
// expression is. Its output is a typed Node, in which every name is resolved and
// every operator fits its operands. The package also defines the meaning of a Node,
// as an interpreter over rows in memory: the reference that generated SQL is tested
// against.
//
// The package knows no schema and writes no SQL. Package schema decides about
// attributes, and what may be assigned where.
package expr
