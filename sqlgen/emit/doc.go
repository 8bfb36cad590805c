// Package emit prints SQL.
//
// Its input is a database (package pg) or a plan of changes (package diff). Its
// output is SQL text that a Postgres engineer would sign: lower case, two spaces,
// one column, condition or argument per line once a line would wrap, parentheses
// only where precedence needs them. Equal input gives equal bytes. Nothing is
// decided or looked up here.
package emit
