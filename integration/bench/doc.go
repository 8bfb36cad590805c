// Package bench measures what Sternpost costs beside what a careful developer
// would write by hand for one schema: Fiber and pgx with prepared statements,
// Postgres building the JSON, the server passing the bytes on. Where callers sign
// their requests, the server written by hand verifies the same tokens with the same
// cache, and has the rule in its statement with the caller as a parameter.
//
// Both servers run as processes of their own against one Postgres, in the same
// run, in rounds whose order changes, under the same bounded load from this
// process. What is compared is CPU per request, of the server and of Postgres
// together: on a shared machine it is repeatable to a few per cent, where requests
// per second are not. `make bench` prints the table, each row with the goal that the
// project has set itself. One run proves little: a goal is missed if two runs miss it.
package bench
