package main

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/cmd/internal/dev"
	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/sqlgen"
)

func newReset() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "reset [DIR]",
		Short: "Drop a project's own development database",
		Long: `Reset drops the database that sternpost dev keeps in .sternpost/ inside the
project, with all its rows and files. It asks first. The next dev starts with an
empty database, and fills it from the folder seed again. Reset never touches a
database that DATABASE_URL names.`,
		Args: takes(0, 1),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := projectDir(args)
		if err := sqlgen.CheckDir(dir); err != nil {
			return environmentError(err)
		}
		kept := filepath.Join(dir, home.Name)
		if !exists(filepath.Join(kept, "postgres")) {
			fmt.Fprintf(c.OutOrStdout(), "%s has no development database of its own\n", dir)
			return nil
		}
		if !yes {
			if !isTyping(c.InOrStdin()) {
				return inputError(errors.New("there is no terminal to ask for confirmation: give --yes to drop the development database in " + kept))
			}
			fmt.Fprintf(c.OutOrStdout(), "Drop the development database in %s, with all its rows and files? [y/N] ", kept)
			answer, _ := bufio.NewReader(c.InOrStdin()).ReadString('\n') // without an answer it stays
			if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
				fmt.Fprintln(c.OutOrStdout(), "nothing was dropped")
				return nil
			}
		}
		if err := dev.Reset(c.Context(), dir); err != nil {
			return environmentError(err)
		}
		next := "an empty database"
		if files, err := seed.Read(dir); err != nil || len(files) > 0 {
			next = "what is in " + seed.Folder + "/"
		}
		fmt.Fprintf(c.OutOrStdout(), "dropped; sternpost dev starts with %s\n", next)
		return nil
	}
	return c
}
