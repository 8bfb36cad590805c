// Package model is what a checked schema is: names are resolved, types are known, and
// every rule of the language holds.
//
// It is the vocabulary of all stages behind package check, which makes it. It decides
// nothing but what follows from a schema alone: the shape of a record, the parameters of
// a function, the rows that an action writes, the forms of names.
package model
