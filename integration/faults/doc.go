// Package faults does to servers and databases what befalls them, while clients write, and
// compares what the clients were told with what is stored. `make faults` runs it and prints
// a table; RESULTS=FILE writes that down.
package faults
