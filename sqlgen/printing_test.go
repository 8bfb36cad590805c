package sqlgen_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// generated returns the scripts of all cases that compile, by the case's name,
// without the hand-written platform and the release, which is JSON.
func generated(t *testing.T) map[string]string {
	t.Helper()
	scripts := map[string]string{}
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if compiled, _ := sqlgen.Compile(projectOf(archive)); compiled != nil {
			_, script, found := strings.Cut(install.Script(compiled.Release()), "\n-- Tables ---")
			script, _, foundRelease := strings.Cut(script, "\n-- Release ---")
			if !found || !foundRelease {
				t.Fatalf("%s: the script lacks a section", path)
			}
			scripts[filepath.Base(path)] = "-- Tables ---" + script
		}
	}
	return scripts
}

// sqlToken is one word, sign or literal of SQL as far as its length matters.
var sqlToken = regexp.MustCompile(`[eE]?'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|[\pL\pN_$.]+|::|\S`)

// TestLineWidth tests that lines are below 120 characters. A line may be longer for the
// sake of one token that has no room: a comment, a text that is not broken.
func TestLineWidth(t *testing.T) {
	t.Parallel()
	const width = 120
	for name, script := range generated(t) {
		inText := false // whether the line begins inside a literal of several lines
		for _, line := range strings.Split(script, "\n") {
			began := inText
			inText = inText != (strings.Count(line, "'")%2 == 1)
			trimmed := strings.TrimLeft(line, " ")
			if _, value, ok := strings.Cut(trimmed, " := "); ok {
				trimmed = value // it begins on the line of its variable
			}
			if utf8.RuneCountInString(line) <= width || began || inText || strings.HasPrefix(trimmed, "--") {
				continue
			}
			longest := 0
			for _, word := range sqlToken.FindAllString(trimmed, -1) {
				longest = max(longest, utf8.RuneCountInString(word))
			}
			indent := len(line) - len(trimmed)
			if indent+longest <= width-10 { // room for what cannot be on another line: brackets, a comma, ||
				t.Errorf("%s: %d characters, the longest token %d:\n%s", name, utf8.RuneCountInString(line), longest, line)
			}
		}
	}
}

func TestNoStraySpace(t *testing.T) {
	t.Parallel()
	for name, script := range generated(t) {
		for _, line := range strings.Split(script, "\n") {
			if strings.TrimRight(line, " \t\r") != line || strings.Contains(line, "\t") {
				t.Errorf("%s: stray space in %q", name, line)
			}
		}
		if strings.Contains(script, "\n\n\n") {
			t.Errorf("%s: two empty lines in a row", name)
		}
	}
}

// TestDeterminism compiles each case several times: a result that depends on the order of Go's maps
// would change. With the flag -generated it compiles them more often.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	times := 3
	if *generatedFor > 0 {
		times = 30
	}
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var first string
		for i := range times {
			compiled, errs := sqlgen.Compile(projectOf(archive))
			got := rendered(t, errs)
			if compiled != nil {
				got = install.Script(compiled.Release())
			}
			if i == 0 {
				first = got
			} else if got != first {
				t.Errorf("%s: compiled twice, it gives\n%s\nand\n%s", path, first, got)
				break
			}
		}
	}
}

// TestOrderOfFiles compiles files in another order. Only the order of the printed text may change with
// it.
func TestOrderOfFiles(t *testing.T) {
	t.Parallel()
	files := []*syntax.Source{
		{Name: "a.stern", Text: []byte("model Author { fields { name Text posts Post[] favourite Post? @unique } }")},
		{Name: "b.stern", Text: []byte(`model Post { fields { author Author @relation(posts) state State tags Text[] }
			actions { get getPost(id) list listPosts(author.id?, state?) create createPost() with (author.id, state, tags) }
			@permission(expression: true, actions: [get, list, create]) }`)},
		{Name: "c.stern", Text: []byte("enum State { On Off } api Phone { models { Post } }")},
	}
	paragraphs := func(files []*syntax.Source) []string {
		t.Helper()
		compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: files})
		if compiled == nil {
			t.Fatal(rendered(t, errs))
		}
		script, _, _ := strings.Cut(install.Script(compiled.Release()), "\n-- Release ---")
		var all []string
		for _, p := range strings.Split(script, "\n\n")[1:] { // the first names the files
			// One paragraph may hold a line for each of several objects.
			if strings.HasPrefix(p, "create index") || strings.HasPrefix(p, "create trigger") ||
				strings.HasPrefix(p, "grant execute") || strings.HasPrefix(p, "alter function") {
				lines := strings.Split(p, ";\n")
				lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], ";")
				all = append(all, lines...)
				continue
			}
			all = append(all, p)
		}
		slices.Sort(all)
		return all
	}
	want := paragraphs(files)
	for _, order := range [][]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		got := paragraphs([]*syntax.Source{files[order[0]], files[order[1]], files[order[2]]})
		if !slices.Equal(got, want) {
			t.Errorf("with the files in the order %v\ngot\n%s\nwant\n%s", order, strings.Join(got, "\n\n"), strings.Join(want, "\n\n"))
		}
	}
}

// TestEditMovesOnlyWhatItChanges adds a model between two others: the rest of the
// output stays.
func TestEditMovesOnlyWhatItChanges(t *testing.T) {
	t.Parallel()
	const first, last = "model A { actions { get getA(id) } }\n", "model C { fields { a A } actions { list listC(a.id?) } }\n"
	before := install.Script(compile(t, first+last))
	after := install.Script(compile(t, first+"model B { fields { name Text @unique } actions { get getB(name) } }\n"+last))
	before, _, _ = strings.Cut(before, "\n-- Release ---")
	lines := strings.Split(after, "\n")
	at := 0
	for _, line := range strings.Split(before, "\n") {
		i := slices.Index(lines[at:], line)
		if i < 0 {
			t.Fatalf("a new model changes the line\n%s", line)
		}
		at += i + 1
	}
}
