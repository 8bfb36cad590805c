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
		Short: "Look after the contents of files",
		Args:  cobra.NoArgs,
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
		Long: `Verify compares the objects in storage with the rows of the database. It prints
a line for each file whose contents are missing, for each object that is older
than a day and belongs to nothing, and for each file that another number of
rows name than is counted, and then exits with code 1. Configuration is that of
serve.

It changes nothing, unless --recount has it first count anew which files rows
name. That is needed once a table or column with files was dropped or truncated
by hand, or rows were restored with triggers off: what nobody names any longer
is then deleted like any other file, and what a row names is kept.`,
		Args: cobra.NoArgs,
	}
	var recount bool
	c.Flags().BoolVar(&recount, "recount", false, "count anew which files rows name; writes of files wait meanwhile")
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
