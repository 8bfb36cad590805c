package dev

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// readLines passes on the lines that a person types. It returns nil without a person to
// read from.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	if in == nil {
		return nil
	}
	lines := make(chan string)
	go func() { // it ends with the process: a read from a terminal cannot be cancelled
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// question asks about the changes of one turn that would lose data, one by one.
type question struct {
	refused   []*diff.Refusal
	at        int // the index of the current question
	allow     []string
	backfills []diff.Backfill
	renames   []diff.Rename
}

// refused reports the possible loss, and asks about it or says how to go on.
func (l *loop) refused(e *install.RefusedError) {
	l.say("%v\n%s.", e, unchanged)
	decidable := !slices.ContainsFunc(e.Refused, func(r *diff.Refusal) bool { return len(choices(r)) == 0 })
	switch {
	case !decidable:
		l.say("Undo the change in the schema, or change the rows%s", l.startOver())
	case l.lines == nil:
		l.say("Undo the change in the schema, or stop dev and run this to go on:\n  %s", l.command(e.Refused))
	default:
		l.question = &question{refused: e.Refused}
		l.ask()
	}
}

// command is the command that runs dev again and allows changes.
func (l *loop) command(refused []*diff.Refusal) string {
	text := "sternpost dev"
	for _, r := range refused {
		if r.Allow != "" {
			text += " --allow " + ShellQuoted(r.Allow)
		} else {
			text += " --backfill " + ShellQuoted(r.Backfill+" = …")
		}
	}
	return text + l.dirArgument()
}

// dirArgument is the project's folder as an argument, unless it is this one.
func (l *loop) dirArgument() string {
	if l.options.Dir == "." {
		return ""
	}
	return " " + ShellQuoted(l.options.Dir)
}

// ShellQuoted returns a text as one word of a shell.
func ShellQuoted(text string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,=", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// isSettled tells whether a column gets its values from the one that it was renamed from.
func (q *question) isSettled(r *diff.Refusal) bool {
	return slices.ContainsFunc(q.renames, func(rename diff.Rename) bool {
		return rename.Column != "" && r.Backfill == rename.Table+"."+rename.Column
	})
}

// choice is a possible answer to a question.
type choice struct {
	key  string
	text string
	take func(q *question)
}

// choices are the ways to treat a refused change, except leaving it.
func choices(r *diff.Refusal) []choice {
	var list []choice
	if r.Allow != "" {
		list = append(list, choice{"d", dropText(r), func(q *question) { q.allow = append(q.allow, r.Allow) }})
	}
	number := 0
	for _, rename := range r.Renames {
		if rename.Place == "" {
			continue // nobody knows where to write it
		}
		number++
		list = append(list, choice{strconv.Itoa(number), "treat it as a rename: write " + rename.String(), func(q *question) {
			q.renames = append(q.renames, rename)
		}})
	}
	if r.Backfill != "" {
		list = append(list, choice{"= EXPRESSION", "give the rows the value of an SQL expression, for example = 'none'", nil})
	}
	return list
}

// dropText says the effect of allowing a change.
func dropText(r *diff.Refusal) string {
	switch kind, _, _ := strings.Cut(r.Allow, ":"); kind {
	case "type":
		return "convert the values, and lose those that do not fit"
	case "enum":
		return "remove the value from these rows"
	case "sequence":
		return "leave these values as they are"
	case "history":
		return "delete it within minutes"
	}
	switch {
	case r.Rows <= 0:
		return "drop it"
	case r.Column == "":
		return fmt.Sprintf("drop it, and lose its rows: %d", r.Rows)
	}
	return fmt.Sprintf("drop it, and lose its values: %d", r.Rows)
}

// ask asks about the current change.
func (l *loop) ask() {
	r := l.question.refused[l.question.at]
	l.say("\n%s %s", r.Object, r.Change)
	for _, c := range choices(r) {
		l.say("  [%s] %s", c.key, c.text)
	}
	l.say("  [k] keep the old release for now")
	fmt.Fprint(l.options.Out, "> ")
}

// answer takes a typed line, and goes on when all is answered.
func (l *loop) answer(ctx context.Context, line string) *turnOutcome {
	q := l.question
	if q == nil {
		return nil
	}
	line = strings.TrimSpace(line)
	r := q.refused[q.at]
	expression, isValue := strings.CutPrefix(line, "=")
	switch {
	case line == "k":
		l.question = nil
		l.say("nothing was changed; dev asks again after the next change of a file")
		return nil
	case isValue && r.Backfill != "" && strings.TrimSpace(expression) != "":
		table, column, _ := strings.Cut(r.Backfill, ".")
		q.backfills = append(q.backfills, diff.Backfill{Table: table, Column: column, Value: strings.TrimSpace(expression)})
	default:
		list := choices(r)
		at := slices.IndexFunc(list, func(c choice) bool { return c.key == line && c.take != nil })
		if at < 0 {
			l.ask()
			return nil
		}
		list[at].take(q)
	}
	for q.at++; q.at < len(q.refused); q.at++ {
		if !q.isSettled(q.refused[q.at]) {
			l.ask()
			return nil
		}
	}
	l.question = nil
	for _, rename := range q.renames {
		if err := writeRename(l.options.Dir, rename); err != nil {
			l.say("%v; write this by hand: %s", err, rename)
			return nil
		}
		l.say("wrote %s", rename)
	}
	l.options.Allow = append(l.options.Allow, q.allow...)
	l.options.Backfills = append(l.options.Backfills, q.backfills...)
	outcome := l.turn(ctx)
	if l.question == nil { // what was not used now is not meant for later
		l.options.Allow, l.options.Backfills = nil, nil
	}
	return outcome
}

// hasAnswers tells whether something may be lost or gets a value this time.
func (l *loop) hasAnswers() bool { return len(l.options.Allow)+len(l.options.Backfills) > 0 }

// forget drops an allowance once it has been used, so that the next such change is
// asked about again.
func (l *loop) forget(plan *diff.Plan) {
	l.options.Allow = slices.DeleteFunc(slices.Clone(l.options.Allow), func(name string) bool {
		return !slices.Contains(plan.Unused, name)
	})
	l.options.Backfills = slices.DeleteFunc(slices.Clone(l.options.Backfills), func(b diff.Backfill) bool {
		return !slices.Contains(plan.Unused, b.String())
	})
}

// tellLost reports the data that a change removed.
func (l *loop) tellLost(plan *diff.Plan) {
	for _, s := range plan.Steps {
		switch c := s.Change.(type) {
		case diff.DropTable:
			l.say("dropped table app.%s%s", c.Table.Name, lost(s, "row"))
		case diff.DropColumn:
			switch column := "column app." + c.Table.Name + "." + c.Column.Name; {
			case !c.Column.IsComputed():
				l.say("dropped %s%s", column, lost(s, "value"))
			case c.Column.Origin.Field == "": // it is not a field, but serves some
			case plan.Adds(c.Table.Name, c.Column.Name):
				l.say("%s is computed anew", column)
			default:
				l.say("dropped %s, which was computed", column)
			}
		case diff.DropExpression:
			l.say("column app.%s.%s keeps its values, and is now an ordinary field", c.Table.Name, c.Column.Name)
		case diff.RenameTable:
			l.say("renamed table app.%s to %s", c.Old.Name, c.New.Name)
		case diff.RenameColumn:
			l.say("renamed column app.%s.%s to %s", c.Table.Name, c.Old, c.Column.Name)
		case diff.AlterType:
			l.say("changed the type of column app.%s.%s from %s to %s", c.Table.Name, c.New.Name, c.Old.Type, c.New.Type)
		}
	}
}

func lost(s *diff.Step, what string) string {
	switch {
	case s.Rows <= 0:
		return ", which held nothing"
	case s.Rows == 1:
		return ", with 1 " + what
	}
	return fmt.Sprintf(", with %d %ss", s.Rows, what)
}

// tellDrift reports manual changes in the database, once.
func (l *loop) tellDrift(ctx context.Context, conn *pgx.Conn, db *pg.Database) {
	drift, err := install.ReadDrift(ctx, conn, db)
	if err != nil {
		return // the installation says what is the matter
	}
	var text strings.Builder
	for _, d := range drift {
		text.WriteString("\n  " + d.String())
	}
	if l.drift == text.String() {
		return
	}
	if l.drift = text.String(); len(drift) > 0 {
		l.say("the database was changed by hand since the last release:%s", text.String())
	}
}
