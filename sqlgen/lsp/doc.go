// Package lsp is the language server: it tells editors over standard input and
// output what is wrong with a project while it is being written, what the names
// in it mean, and what can be written next.
//
// In come messages of the Language Server Protocol 3.17; out go answers, and the
// diagnostics of the compiler for each project that has an open file. What is
// open in the editor goes before what is on disk.
//
// The package checks nothing itself: diagnostics are what sqlgen.Compile says.
// Names are resolved on the syntax trees of the parts that parse (index.go), at a
// place that is told by the tokens before it (spot.go), so that the line being
// written need not parse. One function (candidates.go) says what can be named at
// a place: hover and definition look a name up in it, and completion lists what the
// compiler does not refuse there (offer.go). Of which declared names a name is made is told
// by its spelling, from which references and renames follow (mention.go, rename.go).
package lsp
