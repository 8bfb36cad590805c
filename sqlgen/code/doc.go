// Package code reads the files of custom code as Postgres does.
//
// In come files of SQL; out go what is wrong with them, each at its place, and where
// their statements begin. The grammar is Postgres' own, of version 17, compiled to
// WebAssembly: what it takes apart, psql and every server take apart in the same way.
// It is made ready on first use, which takes a second, and only where there is code to
// read; a server never uses it. What names and types mean is found when the code is
// installed, by the database.
package code
