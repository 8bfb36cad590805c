package faults

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// result is a line of the table.
type result struct {
	name                      string
	acknowledged, waited      int
	refused, refusedStored    int
	unknown, unknownStored    int
	lost, doubled, halfDone   int
	recover, silence, slowest time.Duration
	mayLose, failsNothing     bool
	events, unheard           int
	heardAgain                int
	heardOfNothing            int
	strange                   []string
}

// judge fails if an answer to a client was not true.
func (r *result) judge(b testing.TB) {
	if r.lost > 0 && !r.mayLose || r.doubled > 0 || r.halfDone > 0 || r.refusedStored > 0 {
		b.Errorf("%s: lost %d, doubled %d, half done %d, refused and stored %d", r.name, r.lost, r.doubled, r.halfDone, r.refusedStored)
	}
	if r.failsNothing && r.refused+r.unknown > 0 {
		b.Errorf("%s: refused %d, unknown %d, where nothing may fail", r.name, r.refused, r.unknown)
	}
	if r.unheard+r.heardAgain+r.heardOfNothing > 0 {
		b.Errorf("%s: of %d events %d are lost, %d came again, and %d came of what was not written", r.name, r.events, r.unheard, r.heardAgain, r.heardOfNothing)
	}
	if len(r.strange) > 0 {
		b.Errorf("%s: answers that are none of those foreseen: %q", r.name, r.strange[:min(5, len(r.strange))])
	}
}

// table writes the results as Markdown.
func table(results []result, skipped []string) string {
	var t strings.Builder
	t.WriteString("| what happened | acknowledged | lost | doubled | half done | refused (stored) | unknown (stored) | writes again after | longest silence | writes that waited | slowest write |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&t, "| %s | %d | %d | %d | %d | %d (%d) | %d (%d) | %.2f s | %.2f s | %d | %.2f s |\n", r.name, r.acknowledged, r.lost, r.doubled, r.halfDone,
			r.refused, r.refusedStored, r.unknown, r.unknownStored, r.recover.Seconds(), r.silence.Seconds(), r.waited, r.slowest.Seconds())
	}
	for _, r := range results {
		if r.events > 0 {
			fmt.Fprintf(&t, "\nCode heard of %d events: %d lost, %d of what was rolled back, %d told again.\n", r.events, r.unheard, r.heardOfNothing, r.heardAgain)
		}
	}
	for _, s := range slices.Compact(skipped) {
		fmt.Fprintf(&t, "\nNot tried: %s.\n", s)
	}
	return t.String()
}

// write writes the table to a file, with its machine and version.
func write(b testing.TB, path, table string, took time.Duration) {
	b.Helper()
	text := fmt.Sprintf(`# Faults

What befell servers and databases while %d clients wrote, and what became of their writes. Written by
`+"`make faults RESULTS=integration/FAULTS.md`"+` on %s, in %s: %d cores, Linux, %s.

%s
- Each write is one call that creates three rows. Half of the clients send an `+"`Idempotency-Key`"+` and send a write again, to the next server, until
  it is acknowledged; the others do not.
- *Refused* was answered as not carried out, or met a closed port. *Unknown* is `+"`ERR_OUTCOME_UNKNOWN`"+`, or
  a connection that ended without an answer.
- *Writes again after* is the time from the moment that what was broken is there again (after a promotion: that it is done) to
  the answer of the first write that was sent from then on; the *longest silence* is that between any two acknowledgements.
- *Writes that waited* were acknowledged after more than %s.
- `+"`migrate up`"+` adds a field, an index and a rule to a table of %d rows, while another program reads that table in one transaction. The migration
  waits for the table for half a second at a time, and writes wait behind it; in between they go on.
- In the row of events, code hears of each line that the clients write, and of those that four sessions write in transactions of up to 1.5 s,
  every other one of which is rolled back. What the code has noted is compared with the lines when nothing waits.
- Servers and databases are on one machine, which others use as well, with fsync off: processes are killed, no power is cut.
- An asynchronous standby may lack what the primary had acknowledged last, which is then lost.
`, writers, time.Now().Format(time.DateOnly), took.Round(time.Second), runtime.NumCPU(), runtime.Version(), table, long, earlierRows)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
