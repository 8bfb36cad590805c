// Package pages serves the pages for developers in development only: it reads and changes
// the rows of the database as its owner, explains calls, and reports the trouble with the
// project's files.
//
// Its input is questions of the pages, as JSON, and the last compilation of sternpost dev;
// its output is answers as JSON. It does not check who asks: package server/docs admits
// only the pages themselves, on the developer's machine.
package pages
