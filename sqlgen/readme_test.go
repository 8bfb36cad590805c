package sqlgen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// readmeBlock is a fenced block of a README.
//
//	```stern          a schema that compiles
//	```stern checked  a schema that is only checked today: Compile refuses it
//	```json action    a body that the action takes; the last schema with it is meant
//	```yaml sternpost.yaml, ```sql functions/a.sql
//	                  further files of the project of the schema before
type readmeBlock struct {
	readme   string
	line     int    // of the fence
	section  string // the text between the last heading and the block
	language string
	info     string // the words after the language
	text     string
}

func (b *readmeBlock) String() string { return fmt.Sprintf("%s:%d", b.readme, b.line) }

// readmeSchema is a block with a schema, and the further files of its project.
type readmeSchema struct {
	*readmeBlock
	project *sqlgen.Project
}

// The pages whose other contents tests read too.
const (
	languagePage = "../integration/guide/reference/language.md"
	changesPage  = "../integration/guide/how-to/schema-changes.md"
	errorsPage   = "../integration/guide/reference/errors.md"
	agentsPage   = "../cmd/sternpost/project/AGENTS.md"
)

// guidePages returns the pages of the guide that show schemas.
func guidePages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../integration/guide/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(readFile(t, name), "\n```stern") })
	if len(names) < 3 || !slices.Contains(names, languagePage) {
		t.Fatalf("found the pages %q", names)
	}
	return names
}

// blocksOf returns the fenced blocks of a README.
func blocksOf(t *testing.T, readme string) []*readmeBlock {
	t.Helper()
	var blocks []*readmeBlock
	var block *readmeBlock
	var section, text strings.Builder
	for i, line := range strings.Split(readFile(t, readme), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && block == nil:
			language, info, _ := strings.Cut(fence, " ")
			block = &readmeBlock{readme: readme, line: i + 1, section: section.String(), language: language, info: info}
		case isFence:
			block.text = text.String()
			blocks = append(blocks, block)
			block = nil
			text.Reset()
		case block != nil:
			text.WriteString(line + "\n")
		case strings.HasPrefix(line, "#"):
			section.Reset()
			section.WriteString(line + "\n")
		default:
			section.WriteString(line + "\n")
		}
	}
	if block != nil {
		t.Fatalf("%s: the block is not closed", block)
	}
	return blocks
}

// schemasOf returns the schemas of a README.
func schemasOf(t *testing.T, readme string) []*readmeSchema {
	t.Helper()
	var schemas []*readmeSchema
	for _, b := range blocksOf(t, readme) {
		isFile := b.info == sqlgen.ConfigName || strings.HasPrefix(b.info, "functions/")
		switch {
		case b.language == "stern":
			source := &syntax.Source{Name: b.String(), Text: []byte(b.text)}
			schemas = append(schemas, &readmeSchema{b, &sqlgen.Project{Files: []*syntax.Source{source}}})
		case isFile && len(schemas) == 0:
			t.Fatalf("%s: there is no schema before the file %s", b, b.info)
		case b.info == sqlgen.ConfigName:
			schemas[len(schemas)-1].project.Config = &syntax.Source{Name: b.info, Text: []byte(b.text)}
		case isFile:
			p := schemas[len(schemas)-1].project
			p.Functions = append(p.Functions, &syntax.Source{Name: b.info, Text: []byte(b.text)})
		}
	}
	if len(schemas) == 0 {
		t.Fatalf("%s shows no schema", readme)
	}
	return schemas
}

// announcedPattern matches the announced code in a line of a schema. Several codes are separated by
// spaces.
var announcedPattern = regexp.MustCompile(`// (ERROR|WARN) ([A-Z]\w*(?: [A-Z]\w*)*)$`)

// announced returns the diagnostics that a schema announces, as found writes them.
func (b *readmeBlock) announced() []string {
	var want []string
	for i, line := range strings.Split(b.text, "\n") {
		if m := announcedPattern.FindStringSubmatch(line); m != nil {
			for code := range strings.FieldsSeq(m[2]) {
				want = append(want, fmt.Sprintf("line %d: %s %s", i+1, m[1], code))
			}
		}
	}
	slices.Sort(want)
	return want
}

// found returns the diagnostics of a schema. A schema without actions need not announce that nothing
// is exposed.
func (b *readmeBlock) found(errs syntax.Errors) []string {
	var got []string
	for _, d := range errs {
		word := "ERROR"
		if d.Warning {
			word = "WARN"
		}
		if d.Code == check.NothingExposed && !strings.Contains(b.text, "actions {") {
			continue
		}
		got = append(got, fmt.Sprintf("line %d: %s %s", d.Span.Start.Line, word, d.Code))
	}
	slices.Sort(got)
	return got
}

// TestReadmeSchemas checks every schema of a page. It must be formatted, and have exactly the errors
// and warnings that it announces. One without errors is compiled, unless it is marked as only checked.
// Then Compile must refuse it as not supported yet, so that the mark is removed once the feature is
// built.
func TestReadmeSchemas(t *testing.T) {
	t.Parallel()
	for _, readme := range append(guidePages(t), "../README.md", agentsPage) {
		for _, s := range schemasOf(t, readme) {
			t.Run(fmt.Sprintf("%s_%d", strings.TrimSuffix(filepath.Base(readme), ".md"), s.line), func(t *testing.T) {
				t.Parallel()
				checkReadmeSchema(t, s)
			})
		}
	}
}

func checkReadmeSchema(t *testing.T, s *readmeSchema) {
	_, errs := sqlgen.Check(s.project)
	if got, want := s.found(errs), s.announced(); !slices.Equal(got, want) {
		t.Errorf("%s: the schema\n%s\ngot\n%s\nwant %q\n%s", s, s.text, strings.Join(got, "\n"), want, rendered(t, errs))
	}

	var parseErrs syntax.Errors
	tree := syntax.Parse(s.project.Files[0], &parseErrs)
	if got := string(syntax.Format(tree)); got != s.text {
		t.Errorf("%s: the schema\n%s\nis formatted as\n%s", s, s.text, got)
	}

	if s.info != "" && s.info != "checked" {
		t.Errorf("%s: %q says nothing about a schema", s, s.info)
	}
	isOnlyChecked := s.info == "checked"
	if errs.HasErrors() {
		if isOnlyChecked {
			t.Errorf("%s: a schema with errors is marked as checked", s)
		}
		return
	}
	_, errs = sqlgen.Compile(s.project)
	switch {
	case !isOnlyChecked && errs.HasErrors():
		t.Errorf("%s: the schema\n%s\ndoes not compile; if that is a matter of time, mark it as checked\n%s", s, s.text, rendered(t, errs))
	case isOnlyChecked && !errs.HasErrors():
		t.Errorf("%s: the schema\n%s\ncompiles; remove the mark, and what the text says of it", s, s.text)
	}
	for _, d := range errs {
		if !d.Warning && d.Code != syntax.NotSupportedYet {
			t.Errorf("%s: the schema\n%s\nis refused for another reason than being marked as checked: %s", s, s.text, d.Message)
		}
	}
}

// notBuilt is the text about a feature that Compile refuses today.
const notBuilt = "not built yet"

// TestReadmeSaysWhatIsNotBuilt compares the text of each section of the guide with the marks of its
// schemas.
func TestReadmeSaysWhatIsNotBuilt(t *testing.T) {
	t.Parallel()
	for _, page := range guidePages(t) {
		for _, s := range schemasOf(t, page) {
			if s.info == "checked" && !saysNotBuilt(s.section) {
				t.Errorf("%s: the schema is only checked, and the section before it does not say %q:\n%s", s, notBuilt, s.section)
			}
		}
		for _, section := range regexp.MustCompile(`(?m)^#+ `).Split(readFile(t, page), -1) {
			title, body, _ := strings.Cut(section, "\n")
			if saysNotBuilt(body) && !strings.Contains(body, "```stern checked") && title != "What is not built yet" {
				t.Errorf("%s: the section %q says %q, and no schema in it is only checked", page, title, notBuilt)
			}
		}
	}
}

// saysNotBuilt tells whether a text says that something is not built, also across lines.
func saysNotBuilt(text string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), notBuilt)
}

// TestReadmeRequests reads the bodies of the guide as a server does. A body for an action that is not
// built yet must be JSON.
func TestReadmeRequests(t *testing.T) {
	t.Parallel()
	bodies := 0
	for _, page := range append(guidePages(t), agentsPage) {
		bodies += readRequests(t, page)
	}
	if bodies < 10 {
		t.Errorf("the guide shows %d requests", bodies)
	}
}

// readRequests reads the bodies of a page, and returns their number.
func readRequests(t *testing.T, page string) int {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^ +(?:get|list|create|update|delete|read|write) (\w+)\(`)
	projects := map[int]*readmeSchema{} // by the line of the schema
	for _, s := range schemasOf(t, page) {
		projects[s.line] = s
	}
	schemas := map[string]*readmeSchema{} // the last that declares the action
	bodies := 0
	for _, b := range blocksOf(t, page) {
		switch b.language {
		case "stern":
			for _, m := range declared.FindAllStringSubmatch(b.text, -1) {
				schemas[m[1]] = projects[b.line]
			}
		case "json":
			if !json.Valid([]byte(b.text)) {
				t.Errorf("%s is no JSON:\n%s", b, b.text)
			}
			if b.info == "" {
				continue // a response
			}
			bodies++
			switch s := schemas[b.info]; {
			case s == nil:
				t.Errorf("%s: no schema before declares the action %s", b, b.info)
			case s.info == "":
				readBody(t, b, compileProject(t, s.project))
			}
		}
	}
	return bodies
}

// readBody reads a body as the input of the action that the block names.
func readBody(t *testing.T, b *readmeBlock, db *emit.Release) {
	t.Helper()
	m := manifestOf(t, db)
	for _, a := range m.Actions {
		if a.Name != b.info {
			continue
		}
		reader, err := input.Compile(m.Schemas, a.Input)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if _, err := reader.Read([]byte(b.text)); err != nil {
			t.Errorf("%s: the action %s does not take\n%s\n%v", b, b.info, b.text, err)
		}
		return
	}
	t.Errorf("%s: the release has no action %s", b, b.info)
}

// TestReadmeExpressions checks the expressions in the chapter about expressions, as conditions of the
// schema of that chapter.
func TestReadmeExpressions(t *testing.T) {
	t.Parallel()
	const condition = "booking.discount == null"
	chapter := sectionOf(t, languagePage, "## Expressions")
	_, rest, _ := strings.Cut(chapter, "```stern\n")
	text, prose, _ := strings.Cut(rest, "```\n")
	if !strings.Contains(text, "@where("+condition+")") {
		t.Fatalf("the schema of the chapter has no condition to replace:\n%s", text)
	}
	operator := regexp.MustCompile(` (==|!=|<|>|in|&&|\|\|) `)
	count := 0
	for _, m := range regexp.MustCompile("`([^`\n]*booking\\.[^`\n]*)`").FindAllStringSubmatch(prose, -1) {
		expression := strings.ReplaceAll(m[1], `\|`, "|")
		if !operator.MatchString(expression) {
			continue
		}
		count++
		changed := strings.Replace(text, condition, expression, 1)
		source := &syntax.Source{Name: "schema.stern", Text: []byte(changed)}
		if _, errs := sqlgen.Check(&sqlgen.Project{Files: []*syntax.Source{source}}); len(errs) > 0 {
			t.Errorf("the expression %s is no condition:\n%s", expression, rendered(t, errs))
		}
	}
	if count < 10 {
		t.Errorf("found %d expressions", count)
	}
}

// TestReadmeTypes compares the table of types with the columns that the compiler
// makes.
func TestReadmeTypes(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([A-Z]\\w+)` \\| `([^`]+)`")
	rows := row.FindAllStringSubmatch(sectionOf(t, languagePage, "### Types"), -1)
	for kind := expr.ID; kind <= expr.Secret; kind++ {
		if !slices.ContainsFunc(rows, func(r []string) bool { return r[1] == kind.String() }) {
			t.Errorf("the table of types lacks %s", kind)
		}
	}
	var fields strings.Builder
	for i, r := range rows {
		fmt.Fprintf(&fields, "    f%c %s\n", 'A'+i, r[1])
	}
	db := compile(t, "model Sample {\n  fields {\n"+fields.String()+"  }\n}\n")
	for _, table := range db.Tables {
		if table.Name != "sample" {
			continue
		}
		for i, r := range rows {
			name := fmt.Sprintf("f_%c", 'a'+i)
			at := slices.IndexFunc(table.Columns, func(c *pg.Column) bool { return c.Name == name })
			if at < 0 {
				t.Errorf("type %s has no column", r[1])
			} else if got := table.Columns[at].Type; got != r[2] {
				t.Errorf("column of type %s: got %s, the table says %s", r[1], got, r[2])
			}
		}
	}
}

// TestFunctionsPage tests that the table of functions is that of the compiler.
func TestFunctionsPage(t *testing.T) {
	t.Parallel()
	const head = "| function | value | type |\n|---|---|---|\n"
	before, behind, found := strings.Cut(readFile(t, languagePage), head)
	_, rest, foundEnd := strings.Cut(behind, "\n\n")
	if !found || !foundEnd {
		t.Fatal("the table is gone")
	}
	var rows []string
	for _, b := range expr.Builtins() {
		if !b.IsAggregate {
			rows = append(rows, fmt.Sprintf("| `%s(%s)` | %s | %s |", b.Name, strings.Join(b.Parameters, ", "), b.Doc, b.Result))
		}
	}
	casetest.File(t, languagePage, before+head+strings.Join(rows, "\n")+"\n\n"+rest)
}

// TestReadmeChanges compares the table of changes of types with the steps of a plan.
func TestReadmeChanges(t *testing.T) {
	t.Parallel()
	_, text, found := strings.Cut(readFile(t, changesPage), "| from → to |")
	if !found {
		t.Fatal("the table is gone")
	}
	types := map[string]string{
		"Text, Markdown, enum, ID": "text", "Number": "bigint", "Decimal": "numeric", "Boolean": "boolean",
		"Timestamp": "timestamptz(3)", "Date": "date", "Duration": "interval",
	}
	words := map[diff.Keeps]string{diff.Exactly: "all", diff.Readable: "read", diff.Rounded: "cut", diff.Nothing: "–"}
	cells := func(line string) []string {
		var list []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			list = append(list, strings.TrimSpace(cell))
		}
		return list
	}
	lines := strings.Split(text, "\n")
	head := cells(lines[0])
	for _, line := range lines[2 : 2+len(types)] {
		row := cells(line)
		for i, to := range head {
			if got := words[diff.Convert(types[row[0]], types[to]).Keeps]; row[i+1] != got {
				t.Errorf("%s to %s: the table says %q, a plan keeps %q", row[0], to, row[i+1], got)
			}
		}
	}
}

// TestReadmeAttributes compares the table of attributes with those of the compiler.
func TestReadmeAttributes(t *testing.T) {
	t.Parallel()
	names := func(pattern, text string) []string {
		var names []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	got := names("(?m)^\\| `@(\\w+)", sectionOf(t, languagePage, "## Attributes"))
	var want []string
	for _, a := range check.Attributes() {
		want = append(want, a.Name)
	}
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the table of attributes\ngot  %q\nwant %q", got, want)
	}
}

// TestReadmeCodes compares the codes on the page with those that the compiler reports: errors in the
// tables of one section, warnings in those of another.
func TestReadmeCodes(t *testing.T) {
	t.Parallel()
	errs, warnings := compilerCodes(t)
	for _, c := range []struct {
		heading string
		codes   []string
	}{
		{"## Errors of the compiler", errs},
		{"## Warnings of the compiler", warnings},
	} {
		explained := map[string]bool{}
		for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*)$").FindAllStringSubmatch(sectionOf(t, errorsPage, c.heading), -1) {
			code := m[1]
			if explained[code] {
				t.Errorf("section %q explains %s twice", c.heading, code)
			}
			explained[code] = true
			if !slices.Contains(c.codes, code) {
				t.Errorf("section %q explains %s, which the compiler does not report there", c.heading, code)
			}
			if cells := strings.Split(strings.ReplaceAll(m[2], `\|`, ""), "|"); len(cells) != 3 || strings.TrimSpace(cells[0]) == "" || strings.TrimSpace(cells[1]) == "" {
				t.Errorf("section %q: %s needs what it means and what to do: %q", c.heading, code, m[2])
			}
		}
		for _, code := range c.codes {
			if !explained[code] {
				t.Errorf("section %q does not explain %s", c.heading, code)
			}
		}
	}
}

// compilerCodes reads the constants of type Code of the packages that report them.
func compilerCodes(t *testing.T) (errs, warnings []string) {
	t.Helper()
	for _, path := range []string{"syntax/codes.go", "expr/codes.go", "check/codes.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for _, s := range decl.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if strings.TrimSpace(decl.Doc.Text()) == "Warnings." {
						warnings = append(warnings, name.Name)
					} else {
						errs = append(errs, name.Name)
					}
				}
			}
		}
	}
	if len(errs) == 0 || len(warnings) == 0 {
		t.Fatalf("read %d errors and %d warnings", len(errs), len(warnings))
	}
	return errs, warnings
}

// sectionOf returns the section of a page under a heading, with its subsections.
func sectionOf(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(readFile(t, page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	for i := len(level); i > 0; i-- {
		if body, _, found := strings.Cut(rest, "\n"+strings.Repeat("#", i)+" "); found {
			rest = body
		}
	}
	return rest
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
}
