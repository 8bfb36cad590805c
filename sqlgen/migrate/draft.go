package migrate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// draft is a file before it has a number.
type draft struct {
	alone bool     // whether it runs outside of a transaction
	head  []string // what is lost, rewritten and locked
	plan  []string // its changes to tables, for people who read or apply it
	body  []string // paragraphs

	part   string // the one that it is in; empty before the first
	reason string // of the last statement
}

// The parts of a file. What depends on tables comes off before they change; what is made again differs, or came off.
const (
	partOff    = "What depends on the tables below, and comes off until they are changed"
	partTables = "Changes of tables"
	partCode   = "Functions and policies, of which only those are made that differ or came off"
)

// partOf returns the part of a file that a statement belongs to, or empty for the one that it comes in: triggers come off
// and are made again beside the columns that they keep.
func partOf(s *diff.Step) string {
	if s == nil {
		return partCode
	}
	switch s.Change.(type) {
	case diff.DropTrigger, diff.DropKeepers, diff.DropTester, diff.CreateTrigger, diff.CreateKeepers, diff.CreateTester:
		return ""
	case diff.DropPolicy, diff.DropView, diff.DropFunction, diff.ClearCode:
		return partOff
	case diff.CreateView, diff.CreatePolicy, diff.SetGrants, diff.CreateFunction, diff.RunCode:
		return partCode
	}
	return partTables
}

// lockTimeoutSQL bounds how long a migration waits for a lock, since every transaction that queues behind it waits as
// well. The person who applies it may have set another limit.
const lockTimeoutSQL = `do $$
begin
  if current_setting('lock_timeout') = '0' then
    set local lock_timeout = '5s';
  end if;
end;
$$;`

// draftsOf writes a plan as one file, or as two: steps that would keep others waiting until all rows are read follow
// the release, outside of a transaction.
func draftsOf(plan *diff.Plan, platform, release string) []*draft {
	first := &draft{head: headOf(plan, false), body: []string{lockTimeoutSQL}}
	if platform != "" {
		first.body = append(first.body, "-- The platform of this version of Sternpost\n\n"+platform)
	}
	lock := emit.Lock(plan.Locks)
	later := &draft{alone: true, head: headOf(plan, true), body: []string{shortWaits}}
	var current *diff.Step
	for _, s := range emit.Plan(plan) {
		begins := s.Step != nil && s.Step != current
		current = s.Step
		if lock != "" && !isCount(s) {
			first.body = append(first.body, "-- All that changes below, at once\n"+emit.FileText(emit.Statement{Text: lock}))
			lock = ""
		}
		if s.Step == nil || !s.Step.Later {
			first.add(s, begins, emit.FileText(s))
			continue
		}
		later.add(s, begins, resumable(s))
	}
	first.body = append(first.body, "-- Release\n"+release)
	if len(later.body) == 1 {
		return []*draft{first}
	}
	later.body = append(later.body, "-- What the release wants is complete.\nselect platform.keep_catalog();")
	return []*draft{first, later}
}

// isCount tells whether a statement counts rows, before anything is locked.
func isCount(s emit.Statement) bool {
	if s.Step == nil {
		return false
	}
	_, is := s.Step.Change.(diff.CountRows)
	return is
}

// add adds a statement in its part: a change of a table under a comment on its step, and those that depend on tables, for
// one reason, in one paragraph.
func (d *draft) add(s emit.Statement, begins bool, text string) {
	own, was := partOf(s.Step), d.reason
	part := cmp.Or(own, d.part, partTables)
	if part != d.part && !d.alone {
		d.body = append(d.body, "-- "+part)
		d.part, was = part, ""
	}
	d.reason = ""
	switch note := noteOf(s.Step); {
	case own == "" || own == partOff:
		d.reason = s.Step.Reason
		if d.reason == was {
			d.body[len(d.body)-1] += "\n" + text
			return
		}
		text = "-- " + plainLine(s.Step.Reason) + "\n" + text
	case own == partTables && begins && note != "":
		d.plan = append(d.plan, summaryOf(s), "  "+note)
		text = "-- " + note + "\n" + text
	}
	d.body = append(d.body, text)
}

// noteOf returns the reason and the hazards of a step. Steps that replace objects without rows need no note.
func noteOf(s *diff.Step) string {
	if s == nil || (s.Lock == diff.NoLock && len(s.Hazards) == 0) {
		return ""
	}
	note := s.Reason
	if s.Lock != diff.NoLock {
		note += "; lock " + string(s.Lock)
	}
	if len(s.Hazards) > 0 {
		words := make([]string, len(s.Hazards))
		for i, h := range s.Hazards {
			words[i] = string(h)
		}
		note += "; " + strings.Join(words, ", ")
	}
	return plainLine(note)
}

// summaryOf describes in one line the step that a statement begins.
func summaryOf(s emit.Statement) string {
	if c, ok := s.Step.Change.(diff.UpdateRows); ok { // it begins with the trigger
		return plainLine("update " + pg.Qualified(c.Table.Schema, c.Table.Name) + " set " + pg.Ident(c.Column.Name) + " = " + c.Value)
	}
	for line := range strings.Lines(s.Text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return plainLine(line)
		}
	}
	return ""
}

// plainLine makes a comment of a text, without marks that tern reads. A backslash at the end of the line would hide the
// end from it.
func plainLine(text string) string {
	text = plain(strings.Join(strings.Fields(text), " "))
	if strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text
}

// plain spaces marks that tern reads even in comments.
func plain(text string) string {
	for !pg.IsPlainText(text) {
		text = apart.Replace(text)
	}
	return text
}

var apart = strings.NewReplacer("{{", "{ {", "----", "-- --", "\r", " ")

// resumable writes a statement of a file without transaction so that it can run again, whether it did all, some or
// nothing the time before.
func resumable(s emit.Statement) string {
	if s.Alone {
		return concurrent(s)
	}
	text := strings.TrimSuffix(strings.TrimSpace(s.Text), ";")
	condition := ""
	switch c := s.Step.Change.(type) {
	case diff.Validate:
		condition = fmt.Sprintf("exists (select from pg_constraint where conrelid = '%s'::regclass and conname = %s and not convalidated)", regclass(c.Table), pg.Quote(c.Name))
	case diff.DropConstraint:
		condition = fmt.Sprintf("exists (select from pg_constraint where conrelid = '%s'::regclass and conname = %s)", regclass(c.Table), pg.Quote(c.Name))
	case diff.AddConstraint:
		condition = fmt.Sprintf("not exists (select from pg_constraint where conrelid = '%s'::regclass and conname = %s)", regclass(c.Table), pg.Quote(c.Constraint.Name))
	case diff.DropIndex:
		return strings.Replace(s.Text, "drop index ", "drop index if exists ", 1)
	case diff.SetNotNull, diff.TestRows:
		return s.Text // it does nothing the second time
	default:
		panic(fmt.Sprintf("migrate: a step %T cannot run outside of a transaction", c))
	}
	return "do $$\nbegin\n  if " + condition + " then\n    " + text + ";\n  end if;\nend;\n$$;"
}

// regclass writes the name of a table inside of a literal.
func regclass(t *pg.Table) string {
	return strings.ReplaceAll(pg.Qualified(t.Schema, t.Name), "'", "''")
}

// concurrent writes the making of an index. It drops the remains of a stopped attempt first. Postgres waits for the
// transactions of others meanwhile, and none waits for it, so it may take its time.
func concurrent(s emit.Statement) string {
	var name string
	switch c := s.Step.Change.(type) {
	case diff.CreateIndex:
		name = c.Index.Name
	case diff.CreateUnique:
		name = c.Constraint.Name
	default:
		panic(fmt.Sprintf("migrate: a step %T cannot be concurrent", c))
	}
	index := pg.Qualified("app", name)
	return fmt.Sprintf(`do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass(%s) and not indisvalid) then
    drop index %s;
  end if;
end;
$$;
set lock_timeout = '0';
%s
%s`, pg.Quote(index), index, strings.Replace(s.Text, " index concurrently ", " index concurrently if not exists ", 1), shortWaits)
}

// shortWaits is lockTimeoutSQL for a file without transaction.
const shortWaits = `reset lock_timeout;
do $$
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '5s', false);
  end if;
end;
$$;`

// file makes a file of the draft.
func (d *draft) file(number int, name, from, to string, part, parts int) *File {
	release := fmt.Sprintf("-- Release: from %s to %s", from, to)
	if parts > 1 {
		name += fmt.Sprintf("_%d", part)
		release += fmt.Sprintf(", part %d of %d", part, parts)
	}
	header := []string{"-- Code generated by sternpost migrate new."}
	if d.alone {
		header = append(header, "-- It runs outside of a transaction, and goes on where it was when it is applied again.")
	} else {
		header = append(header, "-- Statements of your own may be above the release. Once it has been applied anywhere, leave it as it is.")
	}
	body := slices.Clone(d.body)
	if d.alone {
		body = append([]string{"---- tern: disable-tx ----"}, body...)
	}
	text := strings.Join(body, "\n\n") + "\n"
	header = append(header, release)
	for _, line := range d.head {
		header = append(header, "-- "+line)
	}
	if len(d.plan) > 0 {
		header = append(header, planLine)
		for _, line := range d.plan {
			header = append(header, "--   "+line)
		}
	}
	header = append(header, "-- Written: "+digestOf(text))
	return parseFile(number, fmt.Sprintf("%03d_%s.sql", number, name), strings.Join(header, "\n")+"\n\n"+text)
}

// planLine begins the list of a file's changes to tables.
const planLine = "-- Plan:"

// Head returns what the file loses, rewrites and locks, from its header.
func (f *File) Head() string {
	var b strings.Builder
	for _, line := range headLine.FindAllString(headerOf(f.Text), -1) {
		b.WriteString("  " + strings.TrimPrefix(line, "-- ") + "\n")
	}
	return b.String()
}

var headLine = regexp.MustCompile(`(?m)^-- (?:Loses|Rewrites|Locks): .*$`)

// Plan returns the file's changes to tables, step by step, from its header.
func (f *File) Plan() string {
	_, plan, found := strings.Cut(headerOf(f.Text), planLine+"\n")
	if !found {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(plan) {
		if !strings.HasPrefix(line, "--   ") {
			break
		}
		b.WriteString("  " + strings.TrimPrefix(line, "--   "))
	}
	return b.String()
}
