package sqlgen_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestExamplesPage tests that the page with an example of each code has those that the
// tests of the packages compile, with the message if the example is a whole schema.
func TestExamplesPage(t *testing.T) {
	t.Parallel()
	var entries []string
	for _, path := range []string{"syntax/codes.go", "expr/codes.go", "check/codes.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if code, example, found := strings.Cut(spec.Doc.Text(), "\n\n\t"); found {
					_, meaning, _ := strings.Cut(strings.Join(strings.Fields(code), " "), ": ")
					entries = append(entries, exampleEntry(spec.Names[0].Name, meaning, strings.ReplaceAll(strings.TrimSpace(example), "\n\t", "\n")))
				}
			}
			return true
		})
	}
	if len(entries) < 100 {
		t.Fatalf("found %d examples", len(entries))
	}
	slices.Sort(entries)
	casetest.File(t, "../integration/guide/reference/examples.md", `# Examples of errors and warnings

One example for each code of the compiler, with its message where the example is a whole schema. What the codes mean,
and what to do, is in [Errors](errors.md#errors-of-the-compiler). The tests compile these examples and write this
page.
`+strings.Join(entries, ""))
}

// exampleEntry is the section of a code.
func exampleEntry(code, meaning, example string) string {
	entry := fmt.Sprintf("\n## %s\n\n%s\n\n```text\n%s\n```\n", code, filled(strings.ToUpper(meaning[:1])+meaning[1:]), example)
	source := &syntax.Source{Name: "schema.stern", Text: []byte(example)}
	_, errs := sqlgen.Check(&sqlgen.Project{Files: []*syntax.Source{source}})
	for _, d := range errs {
		if string(d.Code) == code {
			return entry + fmt.Sprintf("\nThe compiler says, at line %d:\n\n```text\n%s\n```\n", d.Span.Start.Line, d.Message)
		}
	}
	return entry
}

// filled is a paragraph in lines of at most 120 characters.
func filled(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+n > 120:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}
