//go:build !unix

package listener

import "math"

// descriptorLimit returns the descriptors that the process may open: unlimited on this system.
func descriptorLimit() int64 {
	return math.MaxInt64
}
