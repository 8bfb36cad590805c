package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// slowGo replaces go: it ends when it has been told to, and fails then.
const slowGo = `#!/bin/sh
while [ ! -e "$(dirname "$0")/end" ]; do sleep 0.1; done
echo "it does not compile" >&2
exit 1
`

// TestBuildTells compiles with another program in place of go, which is at work until make has said twice that it is.
func TestBuildTells(t *testing.T) {
	t.Parallel()
	tool := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(tool, []byte(slowGo), 0o755); err != nil {
		t.Fatal(err)
	}
	p := program.Start(t, makeCommand(t, "build", "GO="+tool))
	p.Await(t, 0, "still compiling after 10 s\n")
	replaceFile(t, filepath.Join(filepath.Dir(tool), "end"), "")
	<-p.Ended
	if p.Err == nil || strings.Contains(p.Out.String(), "Terminated") {
		t.Errorf("a failed build ends with %v:\n%s", p.Err, p.Out)
	}
}
