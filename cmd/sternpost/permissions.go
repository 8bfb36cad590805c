package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/access"
)

func newPermissions() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "permissions [DIR]",
		Short: "Show who may call what, as a matrix",
		Long: `Permissions reads the rules of the project and prints, for each action, what they
say to anonymous callers, to authenticated ones without a role, and to the
members of each role without further roles:

  always    every such call is admitted, whatever the row
  never     every such call is refused
  depends   on the rules printed below: on the row, the caller, the inputs

Below the matrix are the warnings of the compiler: exposed actions that anonymous
callers reach, actions that nobody can call, and actions whose rules show or
write rows that the rules of those rows' own models would not, or tell about
them. What an @allow says to be meant is listed by itself.

As JSON:

  callers    the names of the columns
  actions[]  action, kind, model, apis, and
    rules[]    rule, file, line, column: those that count for the action
    callers{}  by column: decision (always, never, depends), rules (those on which
               it depends, counted from 0) and on (row, caller, input, header,
               environment, time)
  warnings[] code, action, message, callers (for whom access is widened), file, line,
             column; the codes are
             ReachedAnonymously, ClosedForAll and those of the compiler
  allowed[]  likewise, those of the compiler that an @allow says to be meant

Further members may come. It exits with 1 if the schema has errors.`,
		Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&format, "format", "text", "how to print: text, or json for scripts")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", format))
		}
		project, err := sqlgen.ReadProject(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		checked, errs := sqlgen.Check(project)
		if checked == nil {
			return render(c.ErrOrStderr(), errs)
		}
		matrix := access.Of(checked)
		warnings := access.Warnings(checked, matrix, errs)
		out := access.JSON(matrix, warnings)
		if format == "text" {
			out = []byte(access.Text(matrix, warnings))
		}
		if _, err := c.OutOrStdout().Write(out); err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}
