// Package bench compares the cost of Sternpost with that of others, on the same tables, in the same run:
//
//   - a server written by hand as a careful developer would for one schema: Fiber and pgx with prepared statements,
//     Postgres building the JSON, the server passing the bytes on. It verifies the same tokens with the same cache, and
//     has the rule in its statement with the caller as a parameter. It logs in as an ordinary role that rules do not
//     bind;
//   - pgbench with the bare statement, the limit of every server;
//   - PostGraphile 5, where npm can install it;
//   - Sternpost itself with other pools, more actions, more models and more rows, and with and without computed fields.
//
// The servers run as processes of their own against one Postgres, in rounds whose order changes, under the same bounded
// load from this process. The benchmark compares the number of instructions and the CPU per request, of the server and
// of Postgres together. Instructions repeat to one or two in a hundred even on a busy machine, but do not count
// wake-ups and cold caches; CPU does, and varies by ten. The column is empty if the processor does not count for this
// machine.
//
// `make bench` prints the tables, each row with the project's goal, and takes a quarter of an hour. `make bench QUICK=1` makes
// one round, without pools and growth. `make bench RESULTS=integration/bench/RESULTS.md` writes the tables to a file as well.
// `go test ./integration/bench -run '^$' -bench Overload` sends a server as much as it can do, twice and ten times that, from
// clients that give up and from patient ones, and `-bench Computed` measures what computed fields cost.
//
// One run proves little: a goal is missed if two runs miss it.
package bench
