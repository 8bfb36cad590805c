// Package bench measures what Sternpost costs beside what a careful developer
// would write by hand for one schema: Fiber and pgx with prepared statements,
// Postgres building the JSON, the server passing the bytes on.
//
// Both servers run as processes of their own against one Postgres, in the same
// run, in rounds whose order changes, under the same bounded load from this
// process. What is compared is CPU per request, of the server and of Postgres
// together: on a shared machine it is repeatable to a few per cent, where requests
// per second are not. `make bench` prints the table.
package bench
