// Package code splits the files of custom code into statements as Postgres does.
//
// Its input is files of SQL; its output is their statements, and errors at their places:
// statements that do not make functions of schema functions, commands and variables of
// psql, and settings of the platform. The database checks the rest when the code is
// installed. It takes one statement at a time, so two that were read as one are refused.
package code
