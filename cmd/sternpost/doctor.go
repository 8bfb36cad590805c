package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sql/doctor"
)

func newDoctor() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Try what Sternpost needs of a database",
		Long: `Doctor tries on a database, point by point, what Sternpost needs of one: of a
managed service, behind a pooler, or of another engine that speaks like Postgres.
It says for each point whether it works, what Sternpost falls back to, or that it
keeps Sternpost from running, and exits with 1 if there is any of these.

It works in a schema and with a role of its own, which it removes in any case, and
looks at nothing else. Connect as the role that is to own the database. To learn
what a pooler does, connect through it.`,
		Args: cobra.NoArgs,
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		url, err := flags.url()
		if err != nil {
			return err
		}
		findings, err := doctor.Examine(c.Context(), url)
		prevented := false
		for _, f := range findings {
			line := fmt.Sprintf("%-10s  %s", f.Verdict, f.Point)
			if f.Detail != "" {
				line += "\n            " + f.Detail
			}
			fmt.Fprintln(c.OutOrStdout(), line)
			prevented = prevented || f.Verdict == doctor.Prevents || f.Verdict == doctor.Untried
		}
		if err != nil {
			return environmentError(err)
		}
		if prevented {
			return inputError(nil)
		}
		fmt.Fprintln(c.OutOrStdout(), "Sternpost runs on this database")
		return nil
	}
	return c
}
