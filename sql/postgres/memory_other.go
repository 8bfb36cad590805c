//go:build !linux

package postgres

// memoryDir is "": where data in memory would be kept is known for Linux only.
func memoryDir() string { return "" }
