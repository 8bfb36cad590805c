package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// headOf says what a file's steps lose, write anew and lock, and for how long: what a reviewer decides by.
func headOf(plan *diff.Plan, later bool) []string {
	var lost, rewritten, read []string
	note := func(list *[]string, what string) {
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	perMillion := 0 // rows: seconds
	for _, s := range plan.Steps {
		if s.Later != later {
			continue
		}
		if slices.Contains(s.Hazards, diff.LosesData) {
			note(&lost, lossOf(s))
		}
		if slices.Contains(s.Hazards, diff.Rewrites) {
			note(&rewritten, "app."+pg.Ident(s.Table))
		}
		if slices.Contains(s.Hazards, diff.Long) {
			note(&read, "app."+pg.Ident(s.Table))
			perMillion += secondsOf(s)
		}
	}
	long := ""
	if perMillion > 0 {
		long = fmt.Sprintf("about %d s for each million rows of %s", perMillion, strings.Join(read, ", "))
	}
	if later {
		return []string{"Loses: nothing.", "Rewrites: nothing.", "Locks: nothing for longer than a moment. It takes " + long + "."}
	}
	if long == "" {
		long = "a moment"
	}
	head := []string{"Loses: " + orNothing(lost), "Rewrites: " + orNothing(rewritten)}
	all, writers := plan.Locks.Replaced, []*pg.Table(nil)
	for _, t := range plan.Locks.Written {
		if !slices.Contains(all, t) {
			writers = append(writers, t)
		}
	}
	if len(all) > 0 {
		head = append(head, fmt.Sprintf("Locks: %s. Calls that use %s wait: %s.", namesOf(all), oneOrMore(all), long))
	}
	if len(writers) > 0 {
		head = append(head, fmt.Sprintf("Locks: %s. Calls that write %s wait: %s.", namesOf(writers), oneOrMore(writers), long))
	}
	if len(all)+len(writers) == 0 {
		head = append(head, "Locks: "+orNothing(nil))
	}
	for i, line := range head {
		head[i] = plainLine(line)
	}
	return head
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing."
	}
	return strings.Join(list, ", ") + "."
}

func namesOf(tables []*pg.Table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = pg.Qualified(t.Schema, t.Name)
	}
	return strings.Join(names, ", ")
}

func oneOrMore(tables []*pg.Table) string {
	if len(tables) == 1 {
		return "it"
	}
	return "them"
}

// lossOf says what goes with a step.
func lossOf(s *diff.Step) string {
	table := "app." + pg.Ident(s.Table)
	switch c := s.Change.(type) {
	case diff.DropTable:
		return table + " with its rows"
	case diff.DropColumn:
		return table + "." + pg.Ident(c.Column.Name) + " with its values"
	case diff.AlterType:
		return "values of " + table + "." + pg.Ident(c.New.Name) + " that do not fit its new type"
	case diff.UpdateRows:
		return "values of " + table + "." + pg.Ident(c.Column.Name)
	case diff.DropTrigger:
		return "the history of " + table
	}
	panic(fmt.Sprintf("migrate: it is not known what %T loses", s.Change))
}

// secondsOf is how long a step takes for a million rows, as it was measured on two busy cores with rows of 150 bytes.
func secondsOf(s *diff.Step) int {
	if slices.Contains(s.Hazards, diff.Rewrites) {
		return 10
	}
	switch s.Change.(type) {
	case diff.UpdateRows, diff.NumberRows, diff.FillColumn, diff.AlterType:
		return 30
	case diff.CreateIndex, diff.CreateUnique:
		return 3
	}
	return 1
}
