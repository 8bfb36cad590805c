// Package emit prints SQL.
//
// In comes a database (package pg) or a plan of changes (package diff); out comes
// SQL text that a Postgres engineer would sign: lower case, two spaces, one
// column, condition or argument per line once a line would wrap, parentheses only
// where precedence needs them. Equal input gives equal bytes. Nothing is decided
// or looked up here.
package emit
