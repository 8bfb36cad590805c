//go:build linux || darwin

package disk

import (
	"math"
	"syscall"
)

// freeBytes returns how much of a folder's file system is left for this process.
func freeBytes(folder string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	blocks, size := uint64(s.Bavail), uint64(s.Bsize)
	if blocks > math.MaxInt64/size {
		return math.MaxInt64, nil
	}
	return int64(blocks * size), nil
}
