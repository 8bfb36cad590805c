package postgres

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// plenty is the amount of memory that must be available, and free in its file system, for data in memory: 8 GiB. The
// tests of a package need less than one.
const plenty = 8 << 30

// memoryDir returns the file system in memory if it has plenty of room, else "". A variable TMPDIR takes precedence.
func memoryDir() string {
	const dir = "/dev/shm"
	var stat syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(dir, &stat) != nil || stat.Bavail*uint64(stat.Bsize) < plenty {
		return ""
	}
	if availableMemory() < plenty {
		return ""
	}
	return dir
}

// availableMemory returns the bytes that the kernel could give to programs without swapping; 0 if unknown (proc(5),
// /proc/meminfo).
func availableMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	var kibibytes uint64
	if _, err := fmt.Sscan(rest, &kibibytes); err != nil {
		return 0
	}
	return kibibytes << 10
}
