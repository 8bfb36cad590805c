// Package bench compares the cost of Sternpost with that of others, on the same tables, in the same run:
//
//   - a server written by hand for this one schema, as by somebody who wants it to win: Fiber and pgx, prepared
//     statements whose plans are kept, orders that an index has, the row rule as the author of one schema would write it. It
//     has two forms. In one, Postgres builds the JSON and the server passes the bytes on; in the other, the server reads rows
//     in binary into structs and writes them as JSON without reflection. The form that takes less CPU counts for a request.
//     It verifies the same tokens with the same cache, and logs in as an ordinary role that rules do not bind. TestEqualAnswers
//     shows that all three servers answer the same rows;
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
// one round, without pools and growth, and `CELLS=REGEXP ROUNDS=5` measures only some requests. `make bench RESULTS=integration/bench/RESULTS.md` writes the tables to a file as well.
// `go test ./integration/bench -run '^$' -bench Overload` sends a server as much as it can do, twice and ten times that, from
// clients that give up and from patient ones, and `-bench Computed` measures what computed fields cost.
//
// One run proves little: a goal is missed if two runs miss it.
package bench
