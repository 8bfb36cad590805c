package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/client"
)

func newClient() *cobra.Command {
	c := &cobra.Command{
		Use:   "client",
		Short: "Print a client of an API",
		Args:  takesCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTypeScriptClient())
	return c
}

func newTypeScriptClient() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "ts [DIR]",
		Short: "Print a client in TypeScript",
		Long: `Ts compiles the project and prints a client of one of its APIs as one TypeScript
file without dependencies: a function for each action, with the types of its input
and its answer, sign-in, uploads, pages, safe retries and errors.

  sternpost client ts > client.ts

It runs in browsers, Node, Deno, Bun and React Native. Generate it again when the
schema changes. The TypeScript compiler then shows what no longer fits.`,
		Args: takes(0, 1),
	}
	c.Flags().StringVar(&name, "api", "", "which API (the first one)")
	c.RunE = func(c *cobra.Command, args []string) error {
		compiled, err := compile(c.ErrOrStderr(), projectDir(args))
		if err != nil {
			return err
		}
		manifest := account.Extend(compiled.Manifest, account.All)
		api, err := chooseAPI(manifest, name)
		if err != nil {
			return inputError(err)
		}
		text, err := client.TypeScript(manifest, api)
		if err != nil {
			panic(fmt.Sprintf("client ts: %v", err))
		}
		if _, err := io.WriteString(c.OutOrStdout(), text); err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}
