// Package compiletest compiles projects and schemas for tests.
package compiletest

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Project compiles a project without errors.
func Project(t testing.TB, p *sqlgen.Project) *sqlgen.Compiled {
	t.Helper()
	compiled, errs := sqlgen.Compile(p)
	if compiled == nil {
		t.Fatalf("the schema\n%s\ndoes not compile:\n%s", p.Files[0].Text, Rendered(t, errs))
	}
	return compiled
}

// Schema compiles a schema without errors, with files of custom code by name and text,
// and returns the release to install.
func Schema(t testing.TB, schema string, functions ...[2]string) *emit.Release {
	t.Helper()
	p := &sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(schema)}}}
	for _, f := range functions {
		p.Functions = append(p.Functions, &syntax.Source{Name: f[0], Text: []byte(f[1])})
	}
	return Project(t, p).Release()
}

// Rendered writes diagnostics as a user reads them.
func Rendered(t testing.TB, errs syntax.Errors) string {
	t.Helper()
	var b strings.Builder
	if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
