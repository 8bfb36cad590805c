// Package bench measures what Sternpost costs beside what a careful developer
// would write by hand for one schema: Fiber and pgx with prepared statements,
// Postgres building the JSON, the server passing the bytes on. Where callers sign
// their requests, the server written by hand verifies the same tokens with the same
// cache, and has the rule in its statement with the caller as a parameter.
//
// Both servers run as processes of their own against one Postgres, in the same
// run, in rounds whose order changes, under the same bounded load from this
// process. The server written by hand logs in as an ordinary role that rules do not
// bind. What is compared, of the server and of Postgres together, is the number of
// instructions and CPU per request. Instructions repeat to one or two in a hundred even
// on a busy machine, but do not see wake-ups and cold caches; CPU does, and moves by ten.
// Where the processor does not count for this machine, the column is empty.
//
// `make bench` prints the table, each row with the goal that the project has set itself;
// `make bench QUICK=1` makes one round in a minute. One run proves little: a goal is
// missed if two runs miss it.
package bench
