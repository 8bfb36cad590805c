package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/sql/postgres"
)

// eventsShown is the number of events that the command lists.
const eventsShown = 100

func newEventsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "events",
		Short: "List events that could not be told, and mend them",
		Long: `Subscribers are told of what was written: their code, or the address of a webhook. An
event that fails again and again is given up, and the later events of its record wait
behind it. The database login is the owner of the tables, or that of a server.`,
		Args: takesCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newAskingCommand("list", "List subscribers, and the events that wait or were given up", `List prints how far each subscriber is behind, and then up to 100 events, those that were
given up first.`, takes(0, 0), listEvents),
		newAskingCommand("retry ID|NAME...", "Tell events again that failed", `Retry has an event told again at once, with all its attempts: that of an id, or all that
wait or were given up of a subscriber.`, takes(1, math.MaxInt), mendEvents(false)),
		newAskingCommand("skip ID|NAME...", "Pass over events", `Skip passes over an event: that of an id, or all that were given up of a subscriber. The
later events of its record go on.`, takes(1, math.MaxInt), mendEvents(true)),
		newAskingCommand("resume NAME", "Let a webhook go on that was stopped", `Resume lets a webhook go on whose address has answered 410.`, takes(1, 1), resumeEvents),
		newEventsReplay(),
	)
	return c
}

// newAskingCommand makes a command that asks a database about events or runs, as its owner or as a server.
func newAskingCommand(use, short, long string, args cobra.PositionalArgs, do func(c *cobra.Command, ask events.Querier, args []string) error) *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: args}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		url, err := flags.url()
		if err != nil {
			return err
		}
		conn, err := postgres.Connect(c.Context(), url)
		if err != nil {
			return environmentError(fmt.Errorf("connect to the database: %w", err))
		}
		defer conn.Close(context.WithoutCancel(c.Context()))
		return do(c, func(statement string, arguments []any, into ...any) error {
			return conn.QueryRow(c.Context(), statement, arguments...).Scan(into...)
		}, args)
	}
	return c
}

func listEvents(c *cobra.Command, ask events.Querier, _ []string) error {
	states, err := ask.States()
	if err != nil {
		return environmentError(err)
	}
	list, err := ask.List(eventsShown, false)
	if err != nil {
		return environmentError(err)
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SUBSCRIBER\tIS\tUNREAD\tSECONDS\tWAITING\tDEAD")
	for _, s := range states {
		is := "webhook"
		switch {
		case s.IsCode:
			is = "code"
		case s.StoppedAt != nil:
			is = "stopped"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%d\t%d\n", s.Name, is, s.Changes, s.Seconds, s.Waiting, s.Dead)
	}
	if len(list) > 0 {
		fmt.Fprintln(w, "\nID\tSUBSCRIBER\tEVENT\tRECORD\tATTEMPTS\tSTATE\tFAILURE")
	}
	for _, l := range list {
		name, record := l.Name()
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\n", *l.ID, l.Subscriber, name, record, l.Attempts, l.State, strings.Join(strings.Fields(l.Failure), " "))
	}
	return w.Flush()
}

func mendEvents(isSkipped bool) func(*cobra.Command, events.Querier, []string) error {
	return func(c *cobra.Command, ask events.Querier, args []string) error {
		done := "told again"
		if isSkipped {
			done = "skipped"
		}
		for _, named := range args {
			n, err := ask.Mend(isSkipped, named)
			switch {
			case err != nil:
				return environmentError(err)
			case n == 0:
				return inputError(fmt.Errorf("%s is not an event that waits or was given up, nor a subscriber with such events: sternpost events list shows them", named))
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d %s\n", named, n, done)
		}
		return nil
	}
}

func resumeEvents(c *cobra.Command, ask events.Querier, args []string) error {
	isResumed, err := ask.Resume(args[0])
	switch {
	case err != nil:
		return environmentError(err)
	case !isResumed:
		return inputError(fmt.Errorf("%s is not a webhook that is stopped: sternpost events list shows them", args[0]))
	}
	fmt.Fprintln(c.OutOrStdout(), args[0]+" goes on")
	return nil
}

func newEventsReplay() *cobra.Command {
	var since string
	c := newAskingCommand("replay NAME --since WHEN", "Tell a subscriber again what was written since", `Replay tells a subscriber again what it was told since a moment: a webhook gets the same
events with the same ids, and code runs once more for each. The record of writes goes
back for a day at least, and for a week at most.`, takes(1, 1), func(c *cobra.Command, ask events.Querier, args []string) error {
		from, err := parseSince(since, time.Now())
		if err != nil {
			return usageError(err)
		}
		n, err := ask.Replay(args[0], from)
		switch {
		case err != nil:
			return environmentError(err)
		case n == nil:
			return inputError(fmt.Errorf("there is no subscriber %s: sternpost events list shows them", args[0]))
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %d events since %s\n", args[0], *n, from.UTC().Format(time.RFC3339))
		return nil
	})
	c.Flags().StringVar(&since, "since", "", "from when on: hours such as 3h, days such as 2d, or a moment such as 2026-11-23T09:00:00Z")
	return c
}

var isAgo = regexp.MustCompile(`^([1-9][0-9]{0,3})(h|d)$`)

// parseSince reads a moment, or how long ago it was.
func parseSince(text string, now time.Time) (time.Time, error) {
	if match := isAgo.FindStringSubmatch(text); match != nil {
		ago, err := time.ParseDuration(match[1] + "h")
		if match[2] == "d" {
			ago *= 24
		}
		return now.Add(-ago), err
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, errors.New("--since is required: hours such as 3h, days such as 2d, or a moment such as 2026-11-23T09:00:00Z")
	}
	return moment, nil
}
