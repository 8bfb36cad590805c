package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/encryption"
)

func newSecretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Look after what is encrypted",
		Args:  cobra.NoArgs,
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
		Long: `Rotate encrypts with encryption.key what a key of encryption.previousKeys has
encrypted, and says for each Secret field how many values those were. Once it
ends with code 0, the previous keys are not needed any more. A value that no key
decrypts stays as it is; it is named, and the exit code is 1. Servers may go on,
provided that all have the new key. Configuration is that of serve, but the
database login must be the owner of the tables.`,
		Args: cobra.NoArgs,
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
