package integration

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// pagesDir has the scripts that use pages with Chromium.
const pagesDir = "clients/pages"

// findBrowser returns the path of Chromium, and installs the modules of the scripts. It skips the test without Chromium
// and says the consequence.
func findBrowser(t *testing.T, consequence string) string {
	t.Helper()
	program.Modules(t, pagesDir, consequence)
	return program.Chromium(t, consequence)
}

// browse runs a script with a browser, and compares its output. The script knows the expected output, so that it waits
// for it to appear.
func browse(t *testing.T, browser, want, script string, args ...string) {
	t.Helper()
	got := node(t, pagesDir, []string{"CHROMIUM=" + browser, "EXPECTED=" + want}, append([]string{script}, args...)...)
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s\ndiffering lines:\n%s", script, got, want, differing(got, want))
	}
}

// differing lists the lines of two texts that are not the same.
func differing(got, want string) string {
	var b strings.Builder
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "", ""
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			b.WriteString("got  " + g + "\nwant " + w + "\n")
		}
	}
	return b.String()
}
