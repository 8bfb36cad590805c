package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen/lsp"
)

func newLSP() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Help an editor: diagnostics, completion, hover, formatting",
		Long: `Lsp is a language server: an editor starts it and talks to it over standard
input and output. It finds the project of each schema file by itself.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			err := lsp.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), lsp.Options{
				Version: currentVersion(),
				Log:     c.ErrOrStderr(),
				Quiet:   150 * time.Millisecond,
			})
			if errors.Is(err, lsp.ErrAbandoned) {
				return inputError(err) // the protocol asks for exit code 1
			}
			if err != nil {
				return environmentError(err)
			}
			return nil
		},
	}
}
