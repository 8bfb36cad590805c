package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// project is the input of a case: the schema files, the configuration and the names of the function
// files.
type project struct {
	sources   []*syntax.Source
	config    *syntax.Source // nil means none
	functions []string
}

// projectOf reads a project from an archive.
func projectOf(archive *txtar.Archive) project {
	var p project
	for _, f := range archive.Files {
		switch {
		case strings.HasPrefix(f.Name, "functions/"):
			p.functions = append(p.functions, f.Name)
		case f.Name == "sternpost.yaml":
			p.config = &syntax.Source{Name: f.Name, Text: f.Data}
		case strings.HasSuffix(f.Name, ".stern"):
			p.sources = append(p.sources, &syntax.Source{Name: f.Name, Text: f.Data})
		}
	}
	return p
}

// check parses and checks a project.
func (p project) check() (*model.Schema, syntax.Errors) {
	var errs syntax.Errors
	config := ReadConfig(p.config, &errs)
	var files []*syntax.File
	for _, s := range p.sources {
		files = append(files, syntax.Parse(s, &errs))
	}
	s := Check(files, Options{Config: config, Functions: p.functions}, &errs)
	return s, errs.Sorted()
}

// expectation is an // ERROR or // WARN comment: the code and the text of a
// diagnostic that begins on its line.
type expectation struct {
	file    string
	line    int
	warning bool
	code    syntax.Code
	message *regexp.Regexp
	raw     string
}

var expectationPattern = regexp.MustCompile(`(ERROR|WARN) (\w+) "((?:[^"\\]|\\.)*)"`)

// expectations reads the comments of a file. In YAML they begin with #.
func expectations(t *testing.T, src *syntax.Source) []expectation {
	t.Helper()
	var all []expectation
	for i, line := range strings.Split(string(src.Text), "\n") {
		_, comment, found := strings.Cut(line, "// ")
		if strings.HasSuffix(src.Name, ".yaml") {
			_, comment, found = strings.Cut(line, "# ")
		}
		if !found {
			continue
		}
		for _, m := range expectationPattern.FindAllStringSubmatch(comment, -1) {
			pattern, err := regexp.Compile(m[3])
			if err != nil {
				t.Fatalf("%s:%d: %v", src.Name, i+1, err)
			}
			all = append(all, expectation{src.Name, i + 1, m[1] == "WARN", syntax.Code(m[2]), pattern, m[0]})
		}
	}
	return all
}

// compare reports diagnostics that no comment expects, and comments without a diagnostic. It ignores
// warnings if the file expects none.
func compare(t *testing.T, wanted []expectation, got syntax.Errors) {
	t.Helper()
	wantsWarnings := slices.ContainsFunc(wanted, func(e expectation) bool { return e.warning })
	met := make([]bool, len(wanted))
	for _, d := range got {
		if d.Warning && !wantsWarnings {
			continue
		}
		file := ""
		if d.Span.File != nil {
			file = d.Span.File.Name
		}
		i := 0
		for ; i < len(wanted); i++ {
			w := wanted[i]
			if !met[i] && w.file == file && w.line == d.Span.Start.Line && w.warning == d.Warning && w.code == d.Code && w.message.MatchString(d.Message) {
				break
			}
		}
		if i == len(wanted) {
			t.Errorf("%s:%d:%d: unexpected %s %q", file, d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message)
			continue
		}
		met[i] = true
	}
	for i, w := range wanted {
		if !met[i] {
			t.Errorf("%s:%d: nothing reported %s", w.file, w.line, w.raw)
		}
	}
}

// TestCheck compiles the cases of testdata. A case holds a project. The diagnostics must be those that
// its // ERROR and // WARN comments announce. Diagnostics without a place are announced in the comment
// of the archive. A case without errors can show the checked schema in want/schema.
func TestCheck(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/*.txtar", func(t *testing.T, c *casetest.Case) {
		p := projectOf(c.Archive)
		s, got := p.check()
		var wanted []expectation
		for _, src := range append(p.sources, p.config) {
			if src != nil {
				wanted = append(wanted, expectations(t, src)...)
			}
		}
		for _, m := range expectationPattern.FindAllStringSubmatch(string(c.Comment), -1) {
			wanted = append(wanted, expectation{code: syntax.Code(m[2]), message: regexp.MustCompile(m[3]), raw: m[0]})
		}
		compare(t, wanted, got)
		switch shown := c.Index("want/schema"); {
		case shown < 0:
		case s == nil:
			t.Errorf("the case wants a schema but has errors")
		default:
			c.Want(t, shown, Dump(s))
		}
	})
}

// cases returns the files of testdata.
func cases(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("testdata holds no cases")
	}
	return paths
}

// show writes diagnostics, one per line, for messages of tests.
func show(errs syntax.Errors) string {
	var b strings.Builder
	for _, d := range errs {
		file := ""
		if d.Span.File != nil {
			file = d.Span.File.Name
		}
		fmt.Fprintf(&b, "%s:%d:%d: %s %s\n", file, d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message)
	}
	return b.String()
}
