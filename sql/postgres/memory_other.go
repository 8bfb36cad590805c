//go:build !linux

package postgres

// memoryDir is "": the place for data in memory is known only on Linux.
func memoryDir() string { return "" }
