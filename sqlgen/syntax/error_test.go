package syntax

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	errorComment = regexp.MustCompile("// ERROR (.*)$")
	quoted       = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
)

// TestErrorsWhereMade runs the schemas in testdata/errors. Each error is
// beside what makes it, as a comment
//
//	// ERROR "regexp" "regexp"
//
// with one pattern for each error of the line; it is matched against the code,
// a colon and the message. There must be no others.
func TestErrorsWhereMade(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "testdata/errors/*.stern") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".stern"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, errs := parse(string(text))
			got := map[int][]string{}
			for _, d := range errs.Sorted() {
				line := d.Span.Start.Line
				got[line] = append(got[line], fmt.Sprintf("%s: %s", d.Code, d.Message))
			}
			for i, line := range strings.Split(string(text), "\n") {
				var want []string
				if m := errorComment.FindStringSubmatch(line); m != nil {
					want = quoted.FindAllString(m[1], -1)
				}
				matchErrors(t, i+1, line, got[i+1], want)
			}
		})
	}
}

func matchErrors(t *testing.T, number int, line string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("line %d: %s\ngot %d errors: %q\nwant %d: %s", number, line, len(got), got, len(want), want)
		return
	}
	for i, pattern := range want {
		expression, err := strconv.Unquote(pattern)
		if err != nil {
			t.Fatalf("line %d: pattern %s: %v", number, pattern, err)
		}
		if !regexp.MustCompile(expression).MatchString(got[i]) {
			t.Errorf("line %d: %s\ngot %q\nwant %s", number, line, got[i], pattern)
		}
	}
}
