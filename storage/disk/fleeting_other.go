//go:build !linux

package disk

// Fleeting returns why stored objects would not last; it knows no reason on this system.
func (s *Store) Fleeting() string { return "" }
