// Package pg describes a Postgres database as plain data: tables, constraints,
// policies, views, functions, and their SQL.
//
// It imports no other package of the project and knows nothing of models or
// actions. Package lower builds these values, package emit prints them, package
// diff compares what they describe. Nothing here decides anything beyond quoting
// and the folding of constant truth values.
package pg
