// Package problem has the problems of single inputs, as a refusal lists them: a code and what belongs to it, for
// programs, and a text. It does not find them: input, files, refusal and package auth do.
package problem
