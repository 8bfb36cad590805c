package postgres

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// plenty is how much memory has to be available, and free in its file system, for data to be kept there: 8 GiB. The tests of
// a package need less than one.
const plenty = 8 << 30

// memoryDir is the file system in memory if there is plenty of room, and "" otherwise. A variable TMPDIR has the last word.
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

// availableMemory is what the kernel could give to programs without swapping, in bytes; 0 if it does not say (proc(5),
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
