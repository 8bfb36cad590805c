package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

func newMigrate() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Write migrations of a project and apply them to databases",
		Long: `Migrate works on the folder migrations of a project. It holds numbered files that bring
a database from one schema to the next, and snapshot.json, the schema that the last
file leads to. The files are migrations of tern; tern's own command line applies them
as well.

Commands that work on a database connect as its owner, by --database-url or
DATABASE_URL. The login of a server may not migrate.`,
		Args: takesCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMigrateNew(), newMigratePlan(), newMigrateUp(), newMigrateStatus(), newMigrateCheck(), newMigrateRebase(), newMigrateAdopt())
	return c
}

// ownerFlags say which database to migrate.
type ownerFlags struct {
	databaseURL string
}

func (f *ownerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.databaseURL, "database-url", "", "database to use, as its owner (default $DATABASE_URL)")
}

func (f *ownerFlags) url() (string, error) {
	if f.databaseURL != "" {
		return f.databaseURL, nil
	}
	if url := os.Getenv("DATABASE_URL"); url != "" {
		return url, nil
	}
	return "", usageError(errors.New("which database? Give --database-url or set DATABASE_URL"))
}

// addScratch adds the flag of commands that try migrations.
func addScratch(c *cobra.Command, url *string) {
	c.Flags().StringVar(url, "scratch-url", "", "a Postgres to try the migrations on, with a role that may create databases and roles (default: migrate starts one)")
}

// planFlags say what a migration may do.
type planFlags struct {
	allowed   []string
	backfills []string
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.allowed, "allow", nil, "a change to allow, as a refusal names it: drop:post.subtitle; repeatable")
	c.Flags().StringArrayVar(&f.backfills, "backfill", nil, "a value for existing rows: 'post.slug = lower(title)'; repeatable")
}

func (f *planFlags) options() (migrate.PlanOptions, error) {
	o := migrate.PlanOptions{Allow: f.allowed}
	for _, text := range f.backfills {
		b, err := diff.ParseBackfill(text)
		if err != nil {
			return o, usageError(fmt.Errorf("--backfill: %w", err))
		}
		o.Backfills = append(o.Backfills, b)
	}
	return o, nil
}

// migrateError says whether an error is about the arguments or about the environment.
func migrateError(err error) error {
	var unreachable *pgconn.ConnectError
	var name *migrate.NameError
	var path *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &name):
		return usageError(err)
	case errors.As(err, &unreachable), errors.As(err, &path):
		return environmentError(err)
	}
	return inputError(err)
}

func newMigrateNew() *cobra.Command {
	flags := &planFlags{}
	c := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Write the migration to the schema as it is now",
		Long: `New compiles the project and writes migrations/NNN_NAME.sql, which brings a database
from the last migration to the schema as it is now. It also writes snapshot.json. It
needs no database. The first migration installs the whole application. When a newer
Sternpost changes the platform, the next migration holds that change too. If nothing has
changed, new writes nothing.

Indexes, and other steps that would block a large table, go to a second file, which
runs outside a transaction.

New refuses changes that would lose rows or values, or may fail on existing rows, until
--allow names them. --backfill gives existing rows a value for a new required field.`,
		Args: takes(1, 2),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		options, err := flags.options()
		if err != nil {
			return err
		}
		if err := migrate.CheckName(args[0]); err != nil { // before the warnings about the schema
			return migrateError(err)
		}
		dir := projectDir(args[1:])
		compiled, err := compile(c.ErrOrStderr(), dir)
		if err != nil {
			return err
		}
		folder, err := migrate.ReadFolder(dir)
		if err != nil {
			return environmentError(err)
		}
		written, err := migrate.New(folder, args[0], compiled.Release(), options)
		if errors.Is(err, migrate.ErrNothingChanged) {
			fmt.Fprintln(c.OutOrStdout(), err)
			return nil
		}
		if err != nil {
			return migrateError(err)
		}
		for _, warning := range written.Warnings {
			fmt.Fprintln(c.ErrOrStderr(), "warning: "+warning)
		}
		for _, f := range written.Files {
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\n%s", filepath.Join(folder.Dir, f.Name), f.Head()+f.Plan())
		}
		return nil
	}
	return c
}

func newMigratePlan() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Show what up would do, and change nothing",
		Long: `Plan lists the migrations that a database lacks. For each step it prints the reason, the
risk and the lock that it takes, and how many rows the tables hold. It also lists what
was changed by hand. Plan changes nothing.`,
		Args: takes(0, 1),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		folder, err := migrate.ReadFolder(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		url, err := flags.url()
		if err != nil {
			return err
		}
		status, err := migrate.ReadStatus(c.Context(), folder, url)
		if err != nil {
			return migrateError(err)
		}
		for _, f := range status.Pending {
			fmt.Fprintf(c.OutOrStdout(), "%s\n%s", f.Name, f.Head()+f.Plan())
		}
		for _, rows := range status.Rows {
			fmt.Fprintln(c.OutOrStdout(), rows)
		}
		if len(status.Pending) == 0 {
			fmt.Fprintln(c.OutOrStdout(), "nothing to do")
		}
		return verdict(c.OutOrStdout(), status)
	}
	return c
}

// verdict prints the obstacles to migrations.
func verdict(w io.Writer, status *migrate.Status) error {
	for _, d := range status.Drift {
		fmt.Fprintf(w, "by hand: %s %s\n", d.Object, d.Change)
	}
	if status.Obstacle != nil {
		return inputError(status.Obstacle)
	}
	if len(status.Drift) > 0 {
		return inputError(errors.New("the database was changed by hand since its last release"))
	}
	return nil
}

func newMigrateUp() *cobra.Command {
	flags := &ownerFlags{}
	var options migrate.UpOptions
	c := &cobra.Command{
		Use:   "up [DIR]",
		Short: "Apply the migrations that a database lacks",
		Long: `Up applies the migrations that a database lacks, in order, as its owner. Servers of the
database switch to the new release by themselves. You can start several at once: one
works, and the others wait and find nothing left to do. After an interruption, even by
kill -9, up continues where it was.

If a migration does not get its locks within --lock-timeout, up rolls it back, lets
others go on, and tries it again until --patience ends. Up refuses a database that was
changed by hand, unless --allow-drift is given.`,
		Args: takes(0, 1),
	}
	flags.add(c)
	c.Flags().DurationVar(&options.LockTimeout, "lock-timeout", 2*time.Second, "how long to wait for a table; other calls wait behind it")
	c.Flags().DurationVar(&options.Patience, "patience", 5*time.Minute, "how long to try again")
	c.Flags().BoolVar(&options.AllowDrift, "allow-drift", false, "apply to a database that was changed by hand")
	c.RunE = func(c *cobra.Command, args []string) error {
		folder, err := migrate.ReadFolder(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		if options.URL, err = flags.url(); err != nil {
			return err
		}
		if options.LockTimeout <= 0 || options.Patience < 0 {
			return usageError(errors.New("--lock-timeout must be positive, and --patience must not be negative"))
		}
		if options.Patience == 0 {
			options.Patience = -1
		}
		options.Say = func(line string) { fmt.Fprintln(c.OutOrStdout(), line) }
		applied, err := migrate.Up(c.Context(), folder, options)
		if err != nil {
			return migrateError(err)
		}
		if applied == 0 {
			fmt.Fprintln(c.OutOrStdout(), "nothing to do")
		} else {
			fmt.Fprintf(c.OutOrStdout(), "applied %d; the database is at migration %d\n", applied, len(folder.Files))
		}
		return nil
	}
	return c
}

func newMigrateStatus() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Show which migrations a database has",
		Long: `Status lists the migrations and marks those that a database lacks. It prints the
database's release, and what was changed by hand since that was installed. It exits with
1 unless all migrations are applied and nothing was changed by hand.`,
		Args: takes(0, 1),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		folder, err := migrate.ReadFolder(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		url, err := flags.url()
		if err != nil {
			return err
		}
		status, err := migrate.ReadStatus(c.Context(), folder, url)
		if err != nil {
			return migrateError(err)
		}
		for _, f := range folder.Files {
			word := "applied"
			if f.Number > status.Version {
				word = "pending"
			}
			fmt.Fprintf(c.OutOrStdout(), "%s  %s\n", word, f.Name)
		}
		fmt.Fprintf(c.OutOrStdout(), "migration %d of %d, release %d\n", status.Version, len(folder.Files), status.Release)
		if status.Halfway {
			fmt.Fprintln(c.OutOrStdout(), "the last change is not complete: sternpost migrate up goes on with it")
		}
		if err := verdict(c.OutOrStdout(), status); err != nil {
			return err
		}
		if !status.IsCurrent() {
			return inputError(nil)
		}
		return nil
	}
	return c
}

func newMigrateCheck() *cobra.Command {
	var scratchURL string
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Prove that the migrations lead to the schema",
		Long: `Check is for CI. It checks that the files follow one another, applies them to an empty
database of a scratch Postgres, installs the schema in another one, and compares the
two. It exits with 1 and prints the reason if the two differ, if the schema has changed
since the last migration, or if two branches have used one number for two files.`,
		Args: takes(0, 1),
	}
	addScratch(c, &scratchURL)
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := projectDir(args)
		compiled, err := compile(c.ErrOrStderr(), dir)
		if err != nil {
			return err
		}
		folder, err := migrate.ReadFolder(dir)
		if err != nil {
			return environmentError(err)
		}
		if err := migrate.Check(c.Context(), folder, compiled.Release(), scratchURL); err != nil {
			return migrateError(err)
		}
		fmt.Fprintf(c.OutOrStdout(), "%d migrations lead to the schema\n", len(folder.Files))
		return nil
	}
	return c
}

func newMigrateRebase() *cobra.Command {
	flags := &planFlags{}
	var scratchURL string
	c := &cobra.Command{
		Use:   "rebase [FILE] [DIR]",
		Short: "Put a migration after all others and plan it again",
		Long: `Rebase is for a merge of two branches that both added a migration. It gives FILE the next
number and plans it again, from the other migrations to the schema as it is now. FILE
must not have been applied to a database that you keep. Rebase applies the other
migrations to a scratch Postgres, so snapshot.json may be in any state. It keeps
statements that somebody added to FILE as comments at its end.

Without FILE it only makes snapshot.json anew.`,
		Args: takes(0, 2),
	}
	flags.add(c)
	addScratch(c, &scratchURL)
	c.RunE = func(c *cobra.Command, args []string) error {
		name := ""
		if len(args) > 0 && strings.HasSuffix(args[0], ".sql") {
			name, args = args[0], args[1:]
		} else if len(args) > 1 {
			return usageError(fmt.Errorf("%s is not a migration: give the name of its file", args[0]))
		}
		dir := projectDir(args)
		if folder := filepath.Dir(name); len(args) == 0 && filepath.Base(folder) == migrate.DirName {
			dir = filepath.Dir(folder) // shop/migrations/007_a.sql names its project
		}
		options, err := flags.options()
		if err != nil {
			return err
		}
		compiled, err := compile(c.ErrOrStderr(), dir)
		if err != nil {
			return err
		}
		folder, err := migrate.ReadFolder(dir)
		if err != nil {
			return environmentError(err)
		}
		outcome, err := migrate.Rebase(c.Context(), folder, name, compiled.Release(), options, scratchURL)
		if err != nil {
			return migrateError(err)
		}
		for _, f := range outcome.Removed {
			fmt.Fprintf(c.OutOrStdout(), "removed %s\n", filepath.Join(folder.Dir, f.Name))
		}
		for _, f := range outcome.Written {
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\n%s", filepath.Join(folder.Dir, f.Name), f.Head()+f.Plan())
		}
		fmt.Fprintf(c.OutOrStdout(), "wrote %s\n", filepath.Join(folder.Dir, migrate.SnapshotName))
		for _, f := range outcome.Kept {
			fmt.Fprintf(c.OutOrStdout(), "%s was changed by hand: its text is at the end of %s, as comments\n", f.Name, outcome.Written[len(outcome.Written)-1].Name)
		}
		return nil
	}
	return c
}

func newMigrateAdopt() *cobra.Command {
	flags := &ownerFlags{}
	var options migrate.AdoptOptions
	c := &cobra.Command{
		Use:   "adopt [DIR]",
		Short: "Start migrations on a database that was installed without them",
		Long: `Adopt is for a database that sternpost build or dev has installed. It applies the
migrations, or those up to --at, to a scratch Postgres. If they leave a database exactly
like this one, it notes their number there, and from then on up works. Otherwise it
refuses the database and prints the differences.`,
		Args: takes(0, 1),
	}
	flags.add(c)
	c.Flags().IntVar(&options.At, "at", 0, "`number` of the migration that leaves such a database (default the last one)")
	addScratch(c, &options.ScratchURL)
	c.RunE = func(c *cobra.Command, args []string) error {
		folder, err := migrate.ReadFolder(projectDir(args))
		if err != nil {
			return environmentError(err)
		}
		if options.URL, err = flags.url(); err != nil {
			return err
		}
		version, err := migrate.Adopt(c.Context(), folder, options)
		if err != nil {
			return migrateError(err)
		}
		fmt.Fprintf(c.OutOrStdout(), "the database is at migration %d of %d\n", version, len(folder.Files))
		return nil
	}
	return c
}
