package main

import (
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/cmd/internal/dev"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
)

func newDev() *cobra.Command {
	flags := &serverFlags{}
	c := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Compile, install and serve a project, again after each change",
		Long: `Dev starts a Postgres of its own (unless DATABASE_URL names one), compiles the
project, installs it and serves it. It watches the project's files: after each
change it compiles and installs again, and the server switches to the new release.
At / it shows the application: the rows, forms to try actions as any identity, and
the errors of the schema. If the custom code of an action is missing, dev writes a
first version of the file. It keeps data, files and keys of development in
.sternpost/ inside the project.

Dev fills an empty database from seed/*.json, seed/*.yaml and seed/*.sql in the project:
rows, calls of actions, and identities that can sign in.

Dev asks on a terminal before it makes a change that would lose rows or values.
Without a terminal it prints the --allow to run it with. Each --allow counts once.
--backfill gives a value to rows that lack one. You can always restore the old files, or
start over with sternpost reset.

If DATABASE_URL names a database, dev asks before it uses it, unless no server serves it
and it is empty or dev has installed it.`,
		Args: takes(0, 1),
	}
	flags.add(c)
	var allow, backfills []string
	var yes bool
	c.Flags().StringArrayVar(&allow, "allow", nil, "a loss to allow, as dev names it: drop:post.subtitle; repeatable")
	c.Flags().StringArrayVar(&backfills, "backfill", nil, "a value for existing rows: 'post.slug = lower(title)'; repeatable")
	c.Flags().BoolVar(&yes, "yes", false, "use the given database without asking, even if it has other data")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := projectDir(args)
		if flags.config == "" {
			if name := filepath.Join(dir, sqlgen.ConfigName); exists(name) {
				flags.config = name
			}
		}
		env := append([]string{"STERNPOST_MODE=development"}, os.Environ()...)
		settings, err := config.Load(config.Source{Dir: dir, File: flags.config, Env: append(env, flags.environment()...)})
		if err != nil {
			return inputError(err)
		}
		options := dev.Options{
			Dir:    dir,
			Config: settings,
			Out:    c.ErrOrStderr(),
			Color:  isTerminal(c.ErrOrStderr()),
			Max:    maxDiagnostics,
			Allow:  allow,
			Yes:    yes,
		}
		for _, text := range backfills {
			b, err := diff.ParseBackfill(text)
			if err != nil {
				return usageError(err)
			}
			options.Backfills = append(options.Backfills, b)
		}
		if isTyping(c.InOrStdin()) && isTyping(c.ErrOrStderr()) {
			options.In = c.InOrStdin()
		}
		err = dev.Run(c.Context(), options)
		if err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}

// isTyping tells whether a stream is a terminal, with a person to ask.
func isTyping(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
