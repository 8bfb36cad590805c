// Package bench is what the pages for developers can do in development, and nowhere else:
// read and change the rows of the database as its owner, explain calls, and tell what is
// the matter with the project's files.
//
// In come questions of the pages, as JSON, and what the loop of sternpost dev has compiled
// last; out come answers as JSON. Who may ask is not decided here: package server/docs lets
// nobody through but the pages themselves, on the developer's machine.
package bench
