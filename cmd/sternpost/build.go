package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen/install"
)

func newBuild() *cobra.Command {
	return &cobra.Command{
		Use:   "build [DIR]",
		Short: "Print the whole application as SQL",
		Long: `Build prints the whole application as one SQL script on standard output:
the platform, tables, policies, functions and the release. Run it against an
empty database in one transaction:

  sternpost build | psql -1 -v ON_ERROR_STOP=1 DATABASE_URL`,
		Args: takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			compiled, err := compile(c.ErrOrStderr(), projectDir(args))
			if err != nil {
				return err
			}
			if _, err := io.WriteString(c.OutOrStdout(), install.Script(compiled.Release())); err != nil {
				return environmentError(err)
			}
			return nil
		},
	}
}
