package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
)

// TestAppCalls runs the tests of the example apps. In the clinic's matrix no line has rows, or members, of both
// practices.
func TestAppCalls(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"workshop", "ledger", "clinic"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			shell := casetest.Shell{Command: buildCommand(t), Dir: appDir(name), Env: []string{"SCRATCH=" + db.SuperuserURL()}}
			if out, code := shell.Run(t, `sternpost test --matrix --scratch-url "$SCRATCH"`); code != 0 || !strings.Contains(out, " as they must be") {
				t.Errorf("exit %d:\n%s", code, out)
			}
		})
	}
	lines := strings.Split(fileText(t, filepath.Join(appDir("clinic"), "tests", "matrix.txt")), "\n")
	apart := 0
	for _, line := range lines {
		_, rows, _ := strings.Cut(line, ": ")
		if strings.Contains(rows, "north") && strings.Contains(rows, "south") {
			t.Errorf("rows of both practices are reached: %s", line)
		} else if strings.Contains(rows, "north") {
			apart++
		}
	}
	if apart < 20 {
		t.Errorf("rows of the north are on %d lines", apart)
	}
}
