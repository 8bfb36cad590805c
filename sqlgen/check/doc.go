// Package check checks schemas and decides what they mean.
//
// Its input is syntax trees, the compiler's part of the configuration and the names
// of the project's function files. Its output is a model.Schema, in which every name is
// resolved and every rule of the language holds, or all diagnostics, each at the
// word that is wrong. Package expr decides what an expression means, and this
// package tells it what each name means. Package lower decides how a schema becomes
// a database.
//
// Check lists the stages in order. Each has a file of its own, named for what it
// checks; attributes.go holds the table of where an attribute may be, messages.go the
// wording, codes.go the codes.
package check
