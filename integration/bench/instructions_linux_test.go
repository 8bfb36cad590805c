package bench

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// instructions counts what processors carry out for a set of processes. The count
// repeats to one or two in a hundred, even where other programs take the processors.
type instructions struct {
	counters []int // file descriptors
}

// countInstructions begins to count for processes, each with its current and later
// threads. It fails if the kernel or the machine does not count (perf_event_open(2),
// /proc/sys/kernel/perf_event_paranoid).
func countInstructions(pids []int) (*instructions, error) {
	var c instructions
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil {
			return nil, err
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task))
			fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{
				Type:   unix.PERF_TYPE_HARDWARE,
				Size:   uint32(unix.PERF_ATTR_SIZE_VER1),
				Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
				Bits:   unix.PerfBitInherit | unix.PerfBitExcludeHv,
			}, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err == unix.ESRCH {
				continue // it has ended
			}
			if err != nil {
				c.close()
				return nil, os.NewSyscallError("perf_event_open", err)
			}
			c.counters = append(c.counters, fd)
		}
	}
	return &c, nil
}

// count returns the number of instructions so far.
func (c *instructions) count() (sum int64) {
	for _, fd := range c.counters {
		var b [8]byte
		if n, err := unix.Read(fd, b[:]); err == nil && n == len(b) {
			sum += int64(binary.NativeEndian.Uint64(b[:]))
		}
	}
	return sum
}

func (c *instructions) close() {
	for _, fd := range c.counters {
		unix.Close(fd)
	}
}
