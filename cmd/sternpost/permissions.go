package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/access"
)

func newPermissions() *cobra.Command {
	var format string
	var conditions bool
	c := &cobra.Command{
		Use:   "permissions [DIR]",
		Short: "Show who may call what, as a matrix",
		Long: `Permissions prints, for each action, what its rules decide for three kinds of callers:
anonymous ones, authenticated ones without a role, and the members of each role who
have no other role.

  always    every such call is admitted, for any row
  never     every such call is refused
  depends   the decision depends on the rules below: on the row, the caller, the inputs

Then it prints what the code of jobs and subscribers may do to the rows of models, for
those who have started it. A get is a list, too. Code that nobody starts has no caller.

Below the matrix are warnings: actions of an API that anonymous callers reach, actions
that nobody can call, and actions with wider access: they show or write rows, or let
callers find out about rows, against the rules of those rows' own models. Warnings that
an @allow accepts are in a list of their own.

As JSON:

  callers    the names of the columns
  actions[]  action, kind, model, apis, and
    rules[]    rule, file, line, column: those that apply to the action
    callers{}  by column: decision (always, never, depends), rules (those on which
               it depends, counted from 0) and on (row, caller, input, header,
               environment, time)
  code[]     the same members, of what code may do
  warnings[] code, action, message, callers (for whom access is widened), file, line,
             column; the codes are
             ReachedAnonymously, ClosedForAll and those of the compiler
  allowed[]  the same members, for warnings that an @allow accepts

Later versions may add members. Permissions exits with 1 if the schema has errors.`,
		Args: takes(0, 1),
	}
	c.Flags().BoolVar(&conditions, "conditions", false, "show what named conditions stand for")
	c.Flags().StringVar(&format, "format", "text", "how to print: text, or json for scripts")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", format))
		}
		return permissions(c.OutOrStdout(), c.ErrOrStderr(), projectDir(args), format, conditions)
	}
	return c
}

// permissions prints the matrix of a project.
func permissions(out, diagnostics io.Writer, dir, format string, conditions bool) error {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return environmentError(err)
	}
	checked, errs := sqlgen.Check(project)
	if checked == nil {
		return renderFresh(diagnostics, dir, errs)
	}
	if conditions {
		checked.SpellConditions()
	}
	matrix := access.Of(checked)
	warnings := access.Warnings(checked, matrix, errs)
	text := access.JSON(matrix, warnings)
	if format == "text" {
		text = []byte(access.Text(matrix, warnings))
	}
	if _, err := out.Write(text); err != nil {
		return environmentError(err)
	}
	return nil
}
