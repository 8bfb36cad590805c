// Package lower decides how a schema becomes a database.
//
// Its input is a checked schema. Its output is the database as plain data:
// tables with their constraints and policies, views, one function per action,
// and the manifest by which a server finds them. Every such decision is made
// here and in the rooms below, and nowhere else. Schema lists the steps. It cannot
// fail: Unsupported refuses beforehand what is not built yet, at its place in the
// user's files.
//
// Ten terms are used throughout:
//
//   - Table alias: a row that an expression has come to, by the name of its table in the
//     query. An expression joins a table only where it reads more of the row than the id
//     that refers to it. See value.TableAlias.
//   - Prefix: the part of a path up to a to-many. It means rows, not one row.
//   - Witness: the one row behind a prefix for which all conjuncts hold that mention the
//     prefix. In SQL it is the row of an exists. See value.Expression.
//   - Conjunct: one of several conditions that have to hold together. Conjuncts that share a
//     witness become one exists. See value.Conjunct.
//   - Early: what is known of a rule before any row is read, in three-valued logic. It
//     refuses a call before it reads, or admits it for every row. See rule.Decider.
//   - Way: an alternative of a rule, read by an index of its own. The rows of several ways are
//     merged by the order of the list. All of them together are the admission. See package list.
//   - Keyset: the values of a row that a list is ordered by. A page begins behind the keyset
//     of the row before it, which an index finds, and not behind a number of rows.
//   - Specialized plan: a static statement of a list for one set of operators that a filter
//     may hold, so that Postgres keeps its plan. A form names the set. Other filters go to
//     the general list, which puts a statement together. See package list.
//   - Level: the rows that a create writes at one depth of its input. See value.Level.
//   - Arm: the model of a union under the conditions that make its rows members. See value.Arm.
package lower
