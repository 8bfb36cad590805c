//go:build !linux

package disk

// Fleeting says why what is stored would not last; here nothing is known of that.
func (s *Store) Fleeting() string { return "" }
