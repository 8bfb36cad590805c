// Package budget limits the memory that requests take together, and the part of one client.
// A caller reserves memory before it grows, is refused if none is left, and releases it at
// the end.
package budget
