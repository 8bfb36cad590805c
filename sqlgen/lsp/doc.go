// Package lsp is the language server: over standard input and output it tells editors
// the errors of a project while it is being written, the meaning of its names, and
// the possible next words.
//
// Its input is messages of the Language Server Protocol 3.17; its output is answers,
// and the diagnostics of the compiler for each project with an open file. An open
// document takes precedence over the file on disk.
//
// The package checks nothing itself: diagnostics are those of sqlgen.Compile. Names are
// resolved on the syntax trees of the parts that parse (index.go), at a place that the
// tokens before it determine (cursor.go), so that the current line need not parse. One
// function (candidates.go) lists the possible names at a place: hover and definition look
// a name up in it, and completion lists those that the compiler does not refuse there
// (offer.go). The spelling of a name tells which declared names it is made of. References
// and renames follow from that (reference.go, rename.go).
package lsp
