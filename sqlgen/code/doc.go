// Package code reads the files of custom code as Postgres does.
//
// Its input is files of SQL; its output is their errors, each at its place, and the
// beginnings of their statements. The grammar is Postgres' own, of version 17, compiled to
// WebAssembly: psql and every server split a text in the same way. It is prepared on first
// use, which takes a second, and only if there is code to read; a server never uses it. The
// database checks names and types when the code is installed.
package code
