package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxDiagnostics is how many errors and warnings are shown at a time.
const maxDiagnostics = 50

func newCheck() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Compile only, and say what is wrong",
		Long: `Check compiles the project and prints errors and warnings, in the order of the
source. It exits with 1 if there is any error; warnings do not count.`,
		Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&format, "format", "text", "how to print: text, or json for editors")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", format))
		}
		project, err := sqlgen.ReadProject(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		_, errs := sqlgen.Compile(project)
		if format == "json" {
			return printJSON(c.OutOrStdout(), errs)
		}
		if err := render(c.ErrOrStderr(), errs); err != nil {
			return err
		}
		if !errs.HasErrors() {
			fmt.Fprintln(c.OutOrStdout(), "no errors")
		}
		return nil
	}
	return c
}

func printJSON(w io.Writer, errs syntax.Errors) error {
	text, err := json.MarshalIndent(errs, "", "  ")
	if err != nil {
		return environmentError(err)
	}
	fmt.Fprintf(w, "%s\n", text)
	if errs.HasErrors() {
		return inputError(nil)
	}
	return nil
}

// compile compiles a project, printing its errors and warnings.
func compile(w io.Writer, dir string) (*pg.Database, error) {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return nil, environmentError(err)
	}
	db, errs := sqlgen.Compile(project)
	if err := render(w, errs); err != nil {
		return nil, err
	}
	return db, nil
}

// render prints errors and warnings and returns an error if any was one.
func render(w io.Writer, errs syntax.Errors) error {
	if err := syntax.Render(w, errs, syntax.Options{Color: isTerminal(w), Max: maxDiagnostics}); err != nil {
		return environmentError(err)
	}
	if errs.HasErrors() {
		return inputError(nil)
	}
	return nil
}

// isTerminal tells whether what is written is read by a person.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
