package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// AsBefore says how many warnings were shown before.
const AsBefore = "warnings as before: %d (sternpost check shows them)"

// Fresh returns what no command has shown in a project: every error, and the warnings that are new since the last schema
// without errors. It counts the others. Warnings beyond the most that are shown at a time come again. A project whose
// folder cannot be written is warned of everything each time.
func Fresh(dir string, errs syntax.Errors, most int) (fresh syntax.Errors, known int) {
	file := filepath.Join(dir, Name, "warnings")
	text, _ := os.ReadFile(file) // without it, all are new
	shown := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		shown[line] = true
	}
	var warned strings.Builder
	for _, d := range errs {
		line := fmt.Sprintf("%s %q\n", d.Code, d.Message) // regardless of its place
		switch {
		case d.Warning && shown[line]:
			known++
			warned.WriteString(line)
			continue
		case d.Warning && (most == 0 || len(fresh) < most):
			warned.WriteString(line)
		}
		fresh = append(fresh, d)
	}
	if !errs.HasErrors() && warned.String() != string(text) { // with errors, what there is to warn of is not all known
		if _, err := Make(dir); err == nil {
			_ = os.WriteFile(file, []byte(warned.String()), 0o644)
		}
	}
	return fresh, known
}
