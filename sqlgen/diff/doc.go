// Package diff compares two databases and says what must change between them.
//
// Its input is the database as it was installed, read from its description, and the freshly compiled one. Its output is
// a Plan: steps in the order in which they must run, each with its reason, its hazards and its lock, and the changes
// that it will not make until a user allows them. Nothing here sees the schema language or prints statements: package
// emit does.
package diff
