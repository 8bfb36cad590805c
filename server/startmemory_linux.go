package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram takes the pages of the program's code and constants out of this process. Linux maps the pages around
// each used page, and most are never used again. A page that is used again is mapped from the page cache, without a
// read from the disk.
func releaseProgram() error {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range programMappings(text) {
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("release %x-%x: %w", m.from, m.to, errno)
		}
	}
	return nil
}

// mapping is a part of the memory of a process.
type mapping struct {
	from, to uintptr
}

// programMappings returns the mappings of files that are read-only and unmodified: releasing them loses nothing
// (proc(5), /proc/PID/smaps). Pages that the linker has relocated are excluded.
func programMappings(smaps []byte) []mapping {
	var list []mapping
	var at mapping
	isFile := false
	for line := range bytes.Lines(smaps) {
		fields := strings.Fields(string(line))
		switch {
		case len(fields) == 0:
		case !strings.HasSuffix(fields[0], ":"): // 00400000-018b4000 r-xp 00000000 08:01 131 /usr/bin/sternpost
			from, to, _ := strings.Cut(fields[0], "-")
			at.from, at.to = hexadecimal(from), hexadecimal(to)
			isFile = len(fields) >= 6 && strings.HasPrefix(fields[5], "/") && len(fields[1]) == 4 && fields[1][1] == '-' && fields[1][3] == 'p'
		case fields[0] == "Anonymous:" && isFile && fields[1] == "0":
			list = append(list, at)
		}
	}
	return list
}

func hexadecimal(text string) uintptr {
	n, _ := strconv.ParseUint(text, 16, 64) // unreadable text becomes an empty mapping, which releases nothing
	return uintptr(n)
}
