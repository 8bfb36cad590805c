package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/cmd/internal/dev"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/sqlgen"
)

func newDev() *cobra.Command {
	flags := &serverFlags{}
	c := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Compile, install and serve a project, again after each change",
		Long: `Dev starts a Postgres of its own (unless DATABASE_URL names one), compiles the
project, installs it and serves it. It watches the project's files: after each
change it compiles and installs again, and the server goes over to the new
release. For an action whose custom code is missing it writes a first version
of the file. Changes that would lose data are refused. Data, files and keys of
development are kept in .sternpost/ inside the project.`,
		Args: cobra.MaximumNArgs(1),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := projectDir(args)
		if flags.config == "" {
			if name := filepath.Join(dir, sqlgen.ConfigName); exists(name) {
				flags.config = name
			}
		}
		env := append([]string{"STERNPOST_MODE=development"}, os.Environ()...)
		config, err := server.LoadConfig(server.Source{File: flags.config, Env: append(env, flags.environment()...)})
		if err != nil {
			return inputError(err)
		}
		err = dev.Run(c.Context(), dev.Options{
			Dir:    dir,
			Config: config,
			Out:    c.ErrOrStderr(),
			Color:  isTerminal(c.ErrOrStderr()),
			Max:    maxDiagnostics,
		})
		if err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
