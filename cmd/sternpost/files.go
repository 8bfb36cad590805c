package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/files"
)

func newFilesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "files",
		Short: "Check the contents of files",
		Args:  takesCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newFilesVerify())
	return c
}

func newFilesVerify() *cobra.Command {
	flags := &serverFlags{}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that storage and database agree",
		Long: `Verify compares the objects in storage with the rows of the database. It reads the same
configuration as serve. It prints a line for each of these, and then exits with code 1:

  - a file whose contents are missing
  - an object that is older than a day and belongs to no file
  - a file whose count of rows is wrong

Verify changes nothing without --recount. With --recount it first counts the rows of
each file anew. You need that after a table or column with files was dropped or
truncated by hand, and after rows were restored with triggers off. A file that no row
names is then deleted like any other file, and a file that a row names is kept.`,
		Args: takes(0, 0),
	}
	var recount bool
	c.Flags().BoolVar(&recount, "recount", false, "count the rows of each file anew; writes of files wait meanwhile")
	flags.addDatabase(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := flags.load()
		if err != nil {
			return err
		}
		faults, err := server.VerifyFiles(c.Context(), settings, "", files.VerifyOptions{Recount: recount})
		if err != nil {
			return environmentError(err)
		}
		for _, fault := range faults {
			fmt.Fprintln(c.OutOrStdout(), fault)
		}
		if len(faults) > 0 {
			return inputError(nil)
		}
		fmt.Fprintln(c.OutOrStdout(), "storage and database agree")
		return nil
	}
	return c
}
