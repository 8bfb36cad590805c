// Package faults causes faults of servers and databases while clients write, and compares
// the answers to the clients with the stored rows. `make faults` runs it and prints a
// table; RESULTS=FILE writes it to a file.
package faults
