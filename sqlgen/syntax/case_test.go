package syntax

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
)

// TestCases runs the cases in testdata/cases: a schema, and one section for each expected result.
func TestCases(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/cases/*.txtar", func(t *testing.T, c *casetest.Case) {
		if len(c.Files) < 2 || c.Files[0].Name != "schema.stern" {
			t.Fatal("a case is schema.stern and at least one section want/…")
		}
		source := &Source{Name: "schema.stern", Text: c.Files[0].Data}
		var errs Errors
		file := Parse(source, &errs)
		wantsErrors := false
		for i, section := range c.Files[1:] {
			got := ""
			switch section.Name {
			case "want/tree":
				got = dump(file)
			case "want/errors":
				wantsErrors = true
				got = rendered(t, errs.Sorted(), Options{})
			case "want/formatted":
				got = string(Format(file))
				checkFormatted(t, file, errs)
			case "want/unchanged":
				if formatted := string(Format(file)); formatted != string(source.Text) {
					t.Errorf("not in the formatted spelling:\n%s\ngot\n%s", source.Text, formatted)
				}
			default:
				t.Fatalf("unknown section %s", section.Name)
			}
			c.Want(t, i+1, got)
		}
		if len(errs) > 0 && !wantsErrors {
			t.Errorf("unexpected errors:\n%s", rendered(t, errs.Sorted(), Options{}))
		}
	})
}

// checkFormatted checks the rules for the formatted text of any file.
func checkFormatted(t *testing.T, file *File, errs Errors) {
	t.Helper()
	text := file.Source.Text
	formatted := Format(file)
	if file.Incomplete() {
		if !bytes.Equal(formatted, text) {
			t.Errorf("a file that does not parse was changed: %q became %q", text, formatted)
		}
		return
	}
	var errsAgain Errors
	again := Parse(&Source{Name: file.Source.Name, Text: formatted}, &errsAgain)
	if len(errsAgain) != len(errs) || again.Incomplete() {
		t.Errorf("formatting changes the errors of\n%s\nformatted\n%s\ngot\n%s\nwant\n%s",
			text, formatted, rendered(t, errsAgain, Options{}), rendered(t, errs, Options{}))
		return
	}
	if got, want := dump(again), dump(file); got != want {
		t.Errorf("formatting changes the tree of\n%s\nformatted\n%s\ngot\n%s\nwant\n%s", text, formatted, got, want)
	}
	if got := Format(again); !bytes.Equal(got, formatted) {
		t.Errorf("formatted text is not its own formatted text:\n%s\nformatted\n%s\nformatted again\n%s", text, formatted, got)
	}
	rest := strings.Join(comments(again), "\n")
	for _, c := range comments(file) {
		_, after, found := strings.Cut(rest, c)
		if !found {
			t.Errorf("formatting loses a comment %q or puts it before another in\n%s\nformatted\n%s", c, text, formatted)
			return
		}
		rest = after
	}
}

// comments returns the text of all comments of a file.
func comments(file *File) []string {
	var list []string
	for _, token := range file.Tokens {
		for _, trivia := range token.Leading {
			if trivia.Kind != LineEnd {
				list = append(list, plainLineEnds(trivia.Text))
			}
		}
	}
	return list
}

// parse parses a text that may have errors.
func parse(text string) (*File, Errors) {
	var errs Errors
	file := Parse(&Source{Name: "schema.stern", Text: []byte(text)}, &errs)
	return file, errs
}

func rendered(t testing.TB, errs Errors, options Options) string {
	t.Helper()
	var b strings.Builder
	if err := Render(&b, errs, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no files %s", pattern)
	}
	return paths
}
