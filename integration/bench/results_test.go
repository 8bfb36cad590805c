package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// write writes the report to a file, with its machine and versions.
func (s *stage) write(b testing.TB, path string) {
	b.Helper()
	processor := "unknown processor"
	cpus, _ := os.ReadFile("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(string(cpus), "model name\t: "); ok {
		processor, _, _ = strings.Cut(rest, "\n")
	}
	ctx := context.Background()
	conn := s.connect(b, "")
	defer conn.Close(ctx)
	var version string
	if err := conn.QueryRow(ctx, "select split_part(version(), ' (', 1)").Scan(&version); err != nil {
		b.Fatal(err)
	}
	text := fmt.Sprintf("# Results\n\nWritten by `make bench RESULTS=%s` on %s: %s, %d cores, %s, %s.\n\n```text\n%s\n```\n",
		"integration/bench/RESULTS.md", time.Now().Format(time.DateOnly), processor, runtime.NumCPU(), version, runtime.Version(),
		strings.TrimSpace(s.report.String()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}
