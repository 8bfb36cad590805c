//go:build !linux && !darwin

package disk

import "math"

// freeBytes is not known here: what is written meets the end of the disk itself.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }
