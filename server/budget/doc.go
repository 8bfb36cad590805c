// Package budget bounds the memory that requests take together, and the part of one
// client. Anyone who takes memory asks before it grows, is refused where there is none left,
// and gives it back in the end.
package budget
