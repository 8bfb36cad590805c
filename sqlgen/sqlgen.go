// Package sqlgen is the compiler: it turns the files of a project into the
// database that they describe.
//
// Compile lists its stages in order; each is a package of its own, takes a
// finished value and returns one. Read the language first, in
// integration/guide/reference/language.md, then the stages in the order of Compile.
package sqlgen

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/code"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/manifest"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/parallel"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Compiled is what a project becomes.
type Compiled struct {
	Schema   *model.Schema     // names resolved, types known
	Database *pg.Database      // tables, policies, functions
	Manifest *release.Manifest // what a server reads of the release
	Warnings syntax.Errors
}

// Release is what is installed of it.
func (c *Compiled) Release() *emit.Release {
	return &emit.Release{Database: c.Database, Manifest: c.Manifest.Text()}
}

// Compile turns a project into all that it becomes. It reports every error and warning
// it finds, in source order; the result is nil if there is any error.
func Compile(p *Project) (*Compiled, syntax.Errors) {
	checked, errs := Check(p) // text → names resolved, types known
	if errs.HasErrors() {
		return nil, errs
	}
	lower.Unsupported(checked, &errs) // what the language allows and nobody can build yet
	if errs.HasErrors() {
		return nil, errs.Sorted()
	}
	db, m := lower.Schema(checked, p.source()) // schema → tables, policies, functions; cannot fail
	db.Code = p.code()                         // custom code → as it is
	m.Mails = p.Mails                          // mails that the code may send → their names
	parallel.Do(
		func() { emit.Render(db) },               // policies, triggers, functions and code → their texts
		func() { manifest.Complete(m, checked) }, // schema → requests, answers and rules, as clients are told of them
	)
	return &Compiled{checked, db, m, errs}, errs
}

// code returns the files of custom code, in the order in which they run.
func (p *Project) code() []*pg.CodeFile {
	var list []*pg.CodeFile
	byName := func(a, b *syntax.Source) int { return strings.Compare(a.Name, b.Name) }
	for _, f := range slices.SortedStableFunc(slices.Values(p.Functions), byName) {
		list = append(list, &pg.CodeFile{Name: f.Name, Text: string(f.Text)})
	}
	return list
}

// Check turns a project into a checked schema, which is nil if there is any error.
func Check(p *Project) (*model.Schema, syntax.Errors) {
	var errs syntax.Errors

	trees := parseAll(p.Files, &errs)            // text → syntax trees, as much as parses
	config := check.ReadConfig(p.Config, &errs)  // the compiler's part of sternpost.yaml
	checked := check.Check(trees, check.Options{ // trees → names resolved, types known
		Config:    config,
		Functions: p.functionFiles(),
	}, &errs)
	code.Check(p.Functions, &errs) // custom code → nothing but functions, and nothing of the platform's
	return checked, errs.Sorted()
}

func parseAll(files []*syntax.Source, errs *syntax.Errors) []*syntax.File {
	trees := make([]*syntax.File, len(files))
	for i, f := range files {
		trees[i] = syntax.Parse(f, errs)
	}
	return trees
}

// source names the schema files, as the first line of the output has it.
func (p *Project) source() string {
	names := make([]string, len(p.Files))
	for i, f := range p.Files {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// functionFiles names the files of custom code.
func (p *Project) functionFiles() []string {
	names := make([]string, len(p.Functions))
	for i, f := range p.Functions {
		names[i] = f.Name
	}
	return names
}
