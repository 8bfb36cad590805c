// Package schema decides what a schema means and which schemas there are.
//
// In come syntax trees, the compiler's part of the configuration and the names of
// the project's function files. Out comes a Schema, in which every name is
// resolved and every rule of the language holds, or diagnostics, all of them, each
// at the word that is wrong. What an expression means is decided in package expr,
// to which this package tells what each name means; how a schema becomes a
// database is decided in package lower.
//
// Check lists the stages in order. Each has a file of its own, named for what it
// checks; messages.go holds the wording, codes.go the codes.
package schema
