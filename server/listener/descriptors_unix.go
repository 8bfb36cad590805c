//go:build unix

package listener

import (
	"math"
	"syscall"
)

// descriptorLimit returns the descriptors that the process may open. Go has raised the
// limit to the maximum.
func descriptorLimit() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
