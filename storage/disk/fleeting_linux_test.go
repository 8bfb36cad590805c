package disk_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/storage/disk"
)

// Fleeting reports files that would be lost with a container, or at power-off.
func TestFleeting(t *testing.T) {
	t.Parallel()
	memory, err := os.MkdirTemp("/dev/shm", "sternpost-")
	if err != nil {
		t.Skipf("needs a file system in memory at /dev/shm: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(memory) })
	if got := open(t, disk.Options{Directory: memory}).Fleeting(); !strings.HasPrefix(got, "in memory") {
		t.Errorf("in memory: got %q", got)
	}
	if got := open(t, disk.Options{Directory: memory + "/none"}).Fleeting(); got != "" {
		t.Errorf("a folder that is not there: got %q", got)
	}
	if got := open(t, disk.Options{Directory: "/proc"}).Fleeting(); got != "" {
		t.Errorf("another file system: got %q", got)
	}
}
