// Package lower decides how a schema becomes a database.
//
// In comes a checked schema; out goes the database that it is, as plain data:
// tables with their constraints and policies, views, one function per action,
// and the manifest by which a server finds them. Every such decision is made
// here and nowhere else. Schema cannot fail: what is not built yet is refused
// before, by Unsupported, at its place in the user's files.
package lower
