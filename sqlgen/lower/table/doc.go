// Package table lowers a model to its table: columns, keys, checks, references and triggers of its own.
//
// What other rows make of a table is in package derive. The indexes are in package list, since orders and filters need
// most of them.
package table
