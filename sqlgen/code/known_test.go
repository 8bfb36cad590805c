package code

import (
	"testing"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestRemembersWhatIsClean checks files twice. A clean file is known the second time; a refused one is
// refused again.
func TestRemembersWhatIsClean(t *testing.T) {
	clean := "create function functions.f() returns int language sql as 'select 1'; -- " + t.TempDir()
	wrong := "create table functions.t (); -- " + t.TempDir()
	for range 2 {
		for text, want := range map[string]int{clean: 0, wrong: 1} {
			var errs syntax.Errors
			Check([]*syntax.Source{{Name: "functions/f.sql", Text: []byte(text)}}, &errs)
			if len(errs) != want {
				t.Errorf("%s: got %v, want %d errors", text, errs, want)
			}
			if got := isKnown([]byte(text)); got != (want == 0) {
				t.Errorf("%s: known: %v", text, got)
			}
		}
	}
	if isKnown([]byte(clean + " ")) {
		t.Error("another text is known")
	}
}
