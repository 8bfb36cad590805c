// Package migrate keeps the migrations of a project: numbered files that plain tern applies, each with the statements
// of one change of the schema, and the way to apply them.
//
// New computes the next files from the snapshot of the last ones and a compiled database, without a running database.
// Up applies the migrations that a database lacks, with tern as a library; Status, Plan, Check, Rebase and Adopt do the
// rest. The page integration/guide/how-to/migrations.md is written for those who run an application.
package migrate
