package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/sql/release"
)

// runsShown is the number of runs that the command lists.
const runsShown = 100

func newJobsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "jobs",
		Short: "Start, list, retry and cancel runs of jobs",
		Long: `A run of a job is done by a running server. The database login is the owner of the
tables, or that of a server.`,
		Args: takesCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	run := newAskingCommand("run JOB [INPUTS]", "Start a job, with its inputs as a JSON object", `Run queues a run of a job, which has no caller, and prints its id. A server does it within
two seconds.`, takes(1, 2), runJob)
	run.Example = `  sternpost jobs run CloseMonth '{"month": "2026-11-01"}'`
	c.AddCommand(run,
		newAskingCommand("list", "List the latest 100 runs, the newest first", "", takes(0, 0), listRuns),
		newAskingCommand("retry RUN", "Let a run that failed run again", "", takes(1, 1), mendRun(false, "has not failed")),
		newAskingCommand("cancel RUN", "Give up a run that waits or runs; what it has written is undone", "", takes(1, 1), mendRun(true, "has ended")))
	return c
}

func runJob(c *cobra.Command, ask events.Querier, args []string) error {
	var raw []byte
	if err := ask(`select manifest from platform.release order by number desc limit 1`, nil, &raw); err != nil {
		return environmentError(fmt.Errorf("read the release: %w", err))
	}
	m, err := release.ReadManifest(raw)
	if err != nil {
		return environmentError(fmt.Errorf("read the release: %w", err))
	}
	run, err := ask.Start(m, args[0], []byte(append(args, "{}")[1]))
	switch refused := events.Refused(""); {
	case errors.As(err, &refused):
		return inputError(refused)
	case err != nil:
		return environmentError(err)
	}
	fmt.Fprintln(c.OutOrStdout(), run)
	return nil
}

func listRuns(c *cobra.Command, ask events.Querier, _ []string) error {
	list, err := ask.Runs(runsShown)
	if err != nil {
		return environmentError(err)
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tJOB\tINPUTS\tSTATE\tASKED\tATTEMPTS\tRESULT")
	for _, r := range list {
		result := r.Failure
		if result == "" && string(r.Result) != "null" {
			result = string(r.Result)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.Run, r.Job, r.Inputs, r.State, r.AskedAt.UTC().Format(time.RFC3339), r.Attempts, strings.Join(strings.Fields(result), " "))
	}
	return w.Flush()
}

func mendRun(isCancelled bool, refused string) func(*cobra.Command, events.Querier, []string) error {
	return func(_ *cobra.Command, ask events.Querier, args []string) error {
		isDone, err := ask.MendRun(isCancelled, args[0])
		switch {
		case err != nil:
			return environmentError(err)
		case !isDone:
			return inputError(fmt.Errorf("there is no run %s, or it %s: sternpost jobs list shows the runs", args[0], refused))
		}
		return nil
	}
}
