// Package pattern has the regular expressions of schemas: one grammar that Go, Postgres and JSON Schema read alike. Read
// writes a pattern in the form that all of them take. A Matcher takes a constant time for each character.
package pattern
