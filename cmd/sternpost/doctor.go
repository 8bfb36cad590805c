package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sql/doctor"
)

func newDoctor() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Test whether a database has what Sternpost needs",
		Long: `Doctor tests each feature that Sternpost needs of a database. The database may be a
managed service, may be behind a pooler, or may be another engine that speaks the
protocol of Postgres. For each feature doctor says one of three things: it works,
Sternpost falls back to something else, or it is missing and Sternpost cannot run without
it. In the last case doctor exits with 1.

Doctor works in a schema and with a role of its own, looks at nothing else, and always
removes both. Connect as the role that is to own the database. Connect through the
pooler to test the pooler.`,
		Args: takes(0, 0),
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
			prevented = prevented || f.Verdict == doctor.Missing || f.Verdict == doctor.Untried
		}
		if err != nil {
			return environmentError(err)
		}
		if prevented {
			return inputError(errors.New("Sternpost cannot run on this database: see the lines that begin with missing"))
		}
		fmt.Fprintln(c.OutOrStdout(), "Sternpost runs on this database")
		return nil
	}
	return c
}
