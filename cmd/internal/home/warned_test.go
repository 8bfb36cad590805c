package home_test

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestFresh compiles again and again: a warning is shown when it appears, and again
// when it reappears.
func TestFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, turn := range []struct {
		errs  string // a message each; one in capitals is of an error
		want  string
		known int
	}{
		{"a b", "a b", 0},
		{"a b", "", 2},
		{"b c", "c", 1},
		{"E", "E", 0},
		{"E b c d", "E d", 2},
		{"b c", "", 2},
		{"", "", 0},
		{"b", "b", 0},
		{"a b c d e", "a c d e", 1}, // e is one more than are shown
		{"a b c d e", "e", 4},
	} {
		var errs syntax.Errors
		for _, message := range strings.Fields(turn.errs) {
			errs = append(errs, &syntax.Diagnostic{Code: "Some", Message: message, Warning: message == strings.ToLower(message)})
		}
		fresh, known := home.Fresh(dir, errs, 3)
		var got []string
		for _, d := range fresh {
			got = append(got, d.Message)
		}
		if strings.Join(got, " ") != turn.want || known != turn.known {
			t.Errorf("turn %d, of %q: got %q and %d as before, want %q and %d", i+1, turn.errs, got, known, turn.want, turn.known)
		}
	}
}
