package server

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestProgramMappings checks that only memory that equals a file is released.
func TestProgramMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-018b4000 r-xp 00001000 08:01 131 /usr/bin/sternpost
Rss:                 100 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me sd
018b4000-02e67000 r--p 014b4000 08:01 131 /usr/bin/stern post
Rss:                 100 kB
Anonymous:             0 kB
02e67000-02e68000 r--p 02a67000 08:01 131 /usr/bin/sternpost
Anonymous:             4 kB
02e68000-03180000 rw-p 02a68000 08:01 131 /usr/bin/sternpost
Anonymous:             0 kB
03180000-03190000 r--s 00000000 08:01 132 /usr/share/shared
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7ffd1000-7ffd2000 r-xp 00000000 00:00 0                                  [vdso]
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x18b4000}, {0x18b4000, 0x2e67000}}
	if got := programMappings([]byte(smaps)); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestReleaseProgram checks that the program continues without its pages.
func TestReleaseProgram(t *testing.T) {
	t.Parallel()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if len(programMappings(smaps)) == 0 {
		t.Fatalf("no mapping of the program is found in:\n%s", smaps)
	}
	for range 3 {
		if err := releaseProgram(); err != nil {
			t.Fatal(err)
		}
		if got := strings.ToUpper("still here"); got != "STILL HERE" {
			t.Errorf("got %s", got)
		}
	}
}
