//go:build !unix

package listener

import "math"

// descriptorLimit is how many descriptors the process may open: here there is no limit.
func descriptorLimit() int64 {
	return math.MaxInt64
}
