//go:build !linux

package server

// releaseProgram does nothing outside Linux.
func releaseProgram() error { return nil }
