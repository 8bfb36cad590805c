package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/compatibility"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func newDiff() *cobra.Command {
	var format string
	var allowed []string
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what changes for clients and callers from one schema to another",
		Long: `Diff compiles two versions of a project and prints what changes for those who call
its actions. A version is a folder, or a single schema file, which is read with the
configuration and functions beside it. Each change has a class:

  breaking     clients fail: a request that was accepted is refused, or an answer is
               not what clients rely on. Examples are removed or renamed members,
               narrower inputs, rules that admit fewer calls, new @validates and
               unique fields
  widening     more callers reach an action or row than before: anonymous callers,
               callers of another role, or everybody if nobody could call the action
  compatible   everything else: new actions, optional inputs, more members of results

Some rules cannot be compared. A new one then counts as widening, and a removed one
as breaking. Diff does not compare what actions do with their inputs (@set, custom
code).

Diff exits with 0 if nothing is breaking or widening, and with 1 otherwise. --allow
names what may change: a class (breaking, widening), an action, or the subject that a
line names behind the action, such as Order.title. If --allow names all breaking and
widening changes, diff exits with 0. It exits with 1 if a schema has errors.

As JSON: changes[] with class, area (api, action, input, result, rows, error,
permission), subject, actions, change, reason and allowed; and counts{} by class.
Later versions may add members.`,
		Args: takes(2, 2),
	}
	c.Flags().StringVar(&format, "format", "text", "how to print: text, or json for scripts")
	c.Flags().StringArrayVar(&allowed, "allow", nil, "a class of changes, an action or a subject that may change; repeatable")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", format))
		}
		var releases [2]*compatibility.Release
		for i, path := range args {
			release, err := releaseAt(c.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			releases[i] = release
		}
		changes := compatibility.Compare(releases[0], releases[1])
		out := compatibility.JSON(changes, allowed)
		if format == "text" {
			out = []byte(compatibility.Text(changes, allowed))
		}
		if _, err := c.OutOrStdout().Write(out); err != nil {
			return environmentError(err)
		}
		return verdictOf(c.ErrOrStderr(), changes, allowed)
	}
	return c
}

// releaseAt compiles the project in a folder, or that of a single schema file,
// printing its errors.
func releaseAt(w io.Writer, path string) (*compatibility.Release, error) {
	info, err := stat(path)
	if err != nil {
		return nil, environmentError(err)
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return nil, environmentError(err)
	}
	if !info.IsDir() {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, environmentError(err)
		}
		project.Files = []*syntax.Source{{Name: filepath.Base(path), Text: text}}
	}
	compiled, errs := sqlgen.Compile(project)
	if compiled == nil {
		fmt.Fprintf(w, "%s has errors:\n", path)
		return nil, renderFresh(w, path, errs)
	}
	return compatibility.NewRelease(compiled.Schema, compiled.Warnings, compiled.Manifest), nil
}

// verdictOf returns the error for changes that are not allowed. It reports an allowance
// without a change, since it may be misspelt.
func verdictOf(w io.Writer, changes []compatibility.Change, allowed []string) error {
	for _, name := range allowed {
		isClass := name == string(compatibility.Breaking) || name == string(compatibility.Widening)
		if !isClass && !slices.ContainsFunc(changes, func(c compatibility.Change) bool { return c.Subject == name || slices.Contains(c.Actions, name) }) {
			fmt.Fprintf(w, "sternpost: nothing changes about %s, which --allow names\n", name)
		}
	}
	var parts []string
	for _, class := range []compatibility.Class{compatibility.Breaking, compatibility.Widening} {
		n := 0
		for _, c := range changes {
			if c.Class == class && !c.IsAllowed(allowed) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	switch {
	case len(parts) == 0:
		return nil
	case len(allowed) > 0:
		return inputError(errors.New(strings.Join(parts, " and ") + " beyond what is allowed"))
	}
	return inputError(errors.New(strings.Join(parts, " and ")))
}
