//go:build !linux

package server

// releaseProgram does nothing: only Linux is asked.
func releaseProgram() error { return nil }
