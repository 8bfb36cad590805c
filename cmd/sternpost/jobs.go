package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sql/release"
)

func newJobsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "jobs",
		Short: "Start, list, retry and cancel runs of jobs",
		Long: `A run of a job is done by a running server. The database login must be the owner of
the tables.`,
		Args: takesCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newJobsRun(), newJobsList(),
		newJobsChange("retry RUN", "Let a run that failed run again", `select platform.job_retry($1)`, "has not failed"),
		newJobsChange("cancel RUN", "Give up a run that waits or runs; what it has written is undone", `select platform.job_cancel($1)`, "has ended"))
	return c
}

// asOwner does something on a connection of the owner.
func (f *ownerFlags) asOwner(ctx context.Context, do func(*pgx.Conn) error) error {
	url, err := f.url()
	if err != nil {
		return err
	}
	conn, err := postgres.Connect(ctx, url)
	if err != nil {
		return environmentError(fmt.Errorf("connect to the database: %w", err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}

func newJobsRun() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "run JOB [INPUTS]",
		Short: "Start a job, with its inputs as a JSON object",
		Long: `Run queues a run of a job, which has no caller, and prints its id. A server does it within
two seconds.`,
		Example: `  sternpost jobs run CloseMonth '{"month": "2026-11-01"}'`,
		Args:    takes(1, 2),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		inputs := "{}"
		if len(args) == 2 {
			inputs = args[1]
		}
		return flags.asOwner(c.Context(), func(conn *pgx.Conn) error {
			read, err := readInputs(c.Context(), conn, args[0], inputs)
			if err != nil {
				return err
			}
			var text string
			if err := conn.QueryRow(c.Context(), `select platform.job_start($1, $2)`, args[0], string(read)).Scan(&text); err != nil {
				return environmentError(fmt.Errorf("start the job: %w", err))
			}
			var started struct{ Run string }
			if err := json.Unmarshal([]byte(text), &started); err != nil {
				return environmentError(fmt.Errorf("start the job: %w", err))
			}
			fmt.Fprintln(c.OutOrStdout(), started.Run)
			return nil
		})
	}
	return c
}

// readInputs checks the inputs of a job as the API does.
func readInputs(ctx context.Context, conn *pgx.Conn, name, inputs string) ([]byte, error) {
	var raw []byte
	if err := conn.QueryRow(ctx, `select manifest from platform.release order by number desc limit 1`).Scan(&raw); err != nil {
		return nil, environmentError(fmt.Errorf("read the release: %w", err))
	}
	m, err := release.ReadManifest(raw)
	if err != nil {
		return nil, environmentError(fmt.Errorf("read the release: %w", err))
	}
	i := slices.IndexFunc(m.Jobs, func(j release.Job) bool { return j.Name == name })
	if i < 0 {
		var names []string
		for _, j := range m.Jobs {
			names = append(names, j.Name)
		}
		return nil, inputError(fmt.Errorf("the release has no job %s; it has: %s", name, strings.Join(names, ", ")))
	}
	reader, err := input.Compile(m.Schemas, m.Jobs[i].Input)
	if err != nil {
		return nil, environmentError(err)
	}
	read, err := reader.Read([]byte(inputs))
	var invalid *input.Invalid
	if errors.As(err, &invalid) {
		p := invalid.Problems[0]
		return nil, inputError(fmt.Errorf("the inputs: %s %s", p.Field, p.Error))
	}
	if err != nil {
		return nil, inputError(fmt.Errorf("the inputs: %w", err))
	}
	return read.JSON, nil
}

func newJobsList() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the latest 100 runs, the newest first",
		Args:  takes(0, 0),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return flags.asOwner(c.Context(), func(conn *pgx.Conn) error {
			rows, err := conn.Query(c.Context(), `select run, job, inputs::text, state, asked_at, attempts, coalesce(failure, result::text, '') from platform.job_list(100)`)
			if err != nil {
				return environmentError(fmt.Errorf("list the runs: %w", err))
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "RUN\tJOB\tINPUTS\tSTATE\tASKED\tATTEMPTS\tRESULT")
			var run, job, inputs, state, result string
			var asked time.Time
			var attempts int
			_, err = pgx.ForEachRow(rows, []any{&run, &job, &inputs, &state, &asked, &attempts, &result}, func() error {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", run, job, inputs, state, asked.UTC().Format(time.RFC3339), attempts, result)
				return nil
			})
			if err != nil {
				return environmentError(fmt.Errorf("list the runs: %w", err))
			}
			return w.Flush()
		})
	}
	return c
}

// newJobsChange makes a command that changes one run by a function, which tells whether it did.
func newJobsChange(use, short, statement, refused string) *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{Use: use, Short: short, Args: takes(1, 1)}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return flags.asOwner(c.Context(), func(conn *pgx.Conn) error {
			var isDone bool
			if err := conn.QueryRow(c.Context(), statement, args[0]).Scan(&isDone); err != nil {
				return environmentError(fmt.Errorf("change the run: %w", err))
			}
			if !isDone {
				return inputError(fmt.Errorf("there is no run %s, or it %s: sternpost jobs list shows the runs", args[0], refused))
			}
			return nil
		})
	}
	return c
}
