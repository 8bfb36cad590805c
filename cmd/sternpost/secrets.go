package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/encryption"
)

func newSecretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Rotate the key of Secret fields",
		Args:  takesCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSecretsRotate())
	return c
}

func newSecretsRotate() *cobra.Command {
	flags := &serverFlags{}
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Encrypt the values of Secret fields with the present key",
		Long: `Rotate encrypts with encryption.key all values that a key of encryption.previousKeys has
encrypted. For each Secret field it prints the number of these values. When it exits
with code 0, the servers no longer need the previous keys. A value that no key decrypts stays
as it is; rotate names it and exits with code 1. Servers may keep running if all of them
have the new key. The configuration is that of serve, but the database login must be the
owner of the tables.`,
		Args: takes(0, 0),
	}
	flags.addDatabase(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := flags.load()
		if err != nil {
			return err
		}
		rotated, err := encryption.Rotate(c.Context(), settings)
		if err != nil {
			return environmentError(err)
		}
		lost := 0
		for _, r := range rotated {
			for _, sentence := range r.Lost {
				fmt.Fprintln(c.OutOrStdout(), sentence)
			}
			lost += len(r.Lost)
			fmt.Fprintf(c.OutOrStdout(), "%s: %d encrypted anew\n", r.Column, r.Encrypted)
		}
		if lost > 0 {
			return inputError(nil)
		}
		return nil
	}
	return c
}
